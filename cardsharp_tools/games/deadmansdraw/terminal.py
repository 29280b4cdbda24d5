"""Screen of Dead Man's Draw for a person at a terminal."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from cardsharp.analysis.replay import parse_record
from cardsharp.games.deadmansdraw.actions import Action, ActionType, EffectType
from cardsharp.games.deadmansdraw.events import Event, MatchEnded, TurnEnded
from cardsharp.games.deadmansdraw.history.log_records import position_body
from cardsharp.games.deadmansdraw.history.replay import StoredPosition
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, PastMove
from cardsharp.games.deadmansdraw.rules import terminate
from cardsharp.games.deadmansdraw.simulation import SimulatedDeadMansDrawMatch
from cardsharp_tools.games.deadmansdraw.turn_text import events_text, position_text
from cardsharp_tools.terminal.screen import Choice, RenderedMove, Screen

_ANSWER_VERBS = {
    EffectType.HOOK: "hook",
    EffectType.SWORD: "steal",
    EffectType.CANNON: "shoot",
    EffectType.MAP: "dig up",
    EffectType.ORACLE: "take",
}


class DeadMansDrawTerminal(Screen[SimulatedDeadMansDrawMatch, DeadMansDrawPosition, Action]):
    """Terminal screen: the two banks, the play area, and the possible cards."""

    rules = Path(__file__).with_name("rules.txt").read_text("utf-8").rstrip()
    chapter = "turn"
    quit_warning = ", and lose"

    def __init__(self, names: Sequence[str], you: int) -> None:
        super().__init__(names, you)
        self._turn_events: list[Event] = []

    def state_if_resigned(self, state: SimulatedDeadMansDrawMatch) -> SimulatedDeadMansDrawMatch:
        """Return the match as lost by decision."""
        table, events = terminate(state.state, 1 - self.you, None)
        return state.with_move(table, PastMove(state.history[-1].turn, None, events))

    def status_line(self, position: DeadMansDrawPosition) -> str:
        """Return the score, the number of the turn, and the size of the draw pile."""
        card_count = len(position.unseen)
        your_score, other_score = (position.banks[seat].score for seat in (self.you, 1 - self.you))
        return (
            f"{your_score} : {other_score}, turn {position.turn}, {card_count} "
            f"card{'s'[: card_count != 1]} to draw"
        )

    def position_view(self, position: DeadMansDrawPosition) -> Iterable[RenderableType]:
        """Return the turn, the banks by suit, and the risk of a draw."""
        yield Text(self.status_line(position), style="dim")
        yield position_text(parse_record(StoredPosition, position_body(position)), "your")

    def choices(self, position: DeadMansDrawPosition) -> Sequence[Choice[Action]]:
        """Return draw and stop, or the answers to an effect."""
        actions = position.legal_actions()
        return [Choice(str(n), _format_action(a, position), a) for n, a in enumerate(actions, 1)]

    def render_screen_move(
        self,
        previous_state: SimulatedDeadMansDrawMatch,
        _action: Action,
        next_state: SimulatedDeadMansDrawMatch,
    ) -> RenderedMove:
        """Return the display of a move: yours at once, the opponent's turn as a line at its end."""
        move = next_state.history[-1]
        self._turn_events += move.events
        is_turn_end = any(isinstance(event, TurnEnded | MatchEnded) for event in move.events)
        is_your_move = move.player == self.you
        lines = []
        if is_your_move or is_turn_end:
            events = move.events if is_your_move else tuple(self._turn_events)
            name = self.names[move.player or 0]
            ending = (
                _format_turn_end(previous_state, next_state, move.player or 0)
                if is_turn_end
                else ""
            )
            text = events_text(events) or Text("stops")
            lines.append(Text.assemble((f"{name}: ", "bold"), text, ending))
        if is_turn_end:
            self._turn_events = []
        return RenderedMove(lines, ends_chapter=is_turn_end and not is_your_move)


def _format_turn_end(
    previous_state: SimulatedDeadMansDrawMatch, next_state: SimulatedDeadMansDrawMatch, player: int
) -> str:
    began = (
        previous_state.state
        if previous_state.state.is_between_turns
        else previous_state.state.turn_start
    )
    gain = next_state.state.banks[player].score - began.banks[player].score
    busted = any(
        isinstance(e, TurnEnded) and not e.is_banked for e in next_state.history[-1].events
    )
    return f" -> {'busts' if busted else 'banks'}, {gain:+d} points"


def _format_action(action: Action, position: DeadMansDrawPosition) -> str:
    """Return an action as text, with its value if that is certain."""
    if action.type is ActionType.DRAW:
        return "draw"
    if action.response is None:
        banked = position.own_bank.with_cards(
            position.play_area
        )  # without the bonus of Chest and Key
        return f"end the turn and bank {banked.score - position.own_bank.score} points"
    card = action.response.card
    if card is None:
        cards = position.pending.cards if position.pending else ()
        return f"leave {' '.join(map(str, cards))}"
    lies = any(card.suit == placed.suit for placed in position.play_area)
    bust = " and bust" if lies and action.response.effect_type != EffectType.CANNON else ""
    return f"{_ANSWER_VERBS.get(EffectType(action.response.effect_type), 'answer')} {card}{bust}"

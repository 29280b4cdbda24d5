"""Screen of Dead Man's Draw for a person at a terminal."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from cardsharp.analysis.replay import parse_record
from cardsharp.core.sentences import count_text
from cardsharp.games.deadmansdraw.actions import END_TURN, Action
from cardsharp.games.deadmansdraw.cards import Suit
from cardsharp.games.deadmansdraw.events import Event, MatchEnded, TurnEnded
from cardsharp.games.deadmansdraw.history.log_records import position_body
from cardsharp.games.deadmansdraw.history.replay import StoredPosition
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition, PastMove
from cardsharp.games.deadmansdraw.rules import terminate
from cardsharp.games.deadmansdraw.sentences import action_name
from cardsharp.games.deadmansdraw.simulation import SimulatedDeadMansDrawMatch
from cardsharp.games.deadmansdraw.strategies.position_features import (
    answer_would_bust,
    suits_in_play,
)
from cardsharp_tools.games.deadmansdraw.turn_text import position_text, turn_sentence
from cardsharp_tools.terminal.screen import Choice, RenderedMove, Screen


class DeadMansDrawTerminal(Screen[SimulatedDeadMansDrawMatch, DeadMansDrawPosition, Action]):
    """Terminal screen: the two banks, the play area, and the possible cards."""

    rules = Path(__file__).with_name("rules.txt").read_text("utf-8").rstrip()
    chapter = "turn"
    quit_warning = ", and lose"
    value_meaning = "The values are chances to win the match."

    def __init__(self, names: Sequence[str], you: int) -> None:
        super().__init__(names, you)
        self._turn_events: list[Event] = []

    def state_if_resigned(self, state: SimulatedDeadMansDrawMatch) -> SimulatedDeadMansDrawMatch:
        """Return the match as lost by decision."""
        table, events = terminate(state.state, 1 - self.you, None)
        return state.with_move(table, PastMove(state.history[-1].turn, None, events))

    def status_line(self, position: DeadMansDrawPosition) -> str:
        """Return the score, the number of the turn, and the size of the draw pile."""
        cards = count_text(len(position.unseen), "card")
        your_score, other_score = (position.banks[seat].score for seat in (self.you, 1 - self.you))
        return f"{your_score} : {other_score}, turn {position.turn}, {cards} to draw"

    def position_view(self, position: DeadMansDrawPosition) -> Iterable[RenderableType]:
        """Return the turn, the banks by suit, and the risk of a draw."""
        yield Text(self.status_line(position), style="dim")
        yield position_text(parse_record(StoredPosition, position_body(position)), "your")

    def choices(self, position: DeadMansDrawPosition) -> Sequence[Choice[Action]]:
        """Return draw and stop, or the answers to an effect."""
        return [
            Choice(str(number), _format_action(action, position), action, _action_aliases(action))
            for number, action in enumerate(position.legal_actions(), 1)
        ]

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
            player = move.player or 0
            gain = _score_gain(previous_state, next_state, player) if is_turn_end else None
            lines.append(turn_sentence(self.name_in_sentence(player), events, gain))
        if is_turn_end:
            self._turn_events = []
        return RenderedMove(lines, ends_chapter=is_turn_end and not is_your_move)


def _score_gain(
    previous_state: SimulatedDeadMansDrawMatch, next_state: SimulatedDeadMansDrawMatch, player: int
) -> int:
    """Return the change of a player's score in the turn that has ended."""
    began = (
        previous_state.state
        if previous_state.state.is_between_turns
        else previous_state.state.turn_start
    )
    return next_state.state.banks[player].score - began.banks[player].score


def _format_action(action: Action, position: DeadMansDrawPosition) -> str:
    """Return an action as text, with its value if that is certain."""
    if action == END_TURN:
        banked = position.own_bank.with_cards(position.play_area)
        points = count_text(banked.score - position.own_bank.score, "point")
        has_bonus = {Suit.CHEST, Suit.KEY} <= suits_in_play(position)
        return f"bank {points}{' and the bonus' if has_bonus else ''}"
    name = action_name(action, position.pending.cards if position.pending else ())
    would_bust = action.card is not None and answer_would_bust(position, action.card)
    return f"{name} and bust" if would_bust else name


def _action_aliases(action: Action) -> str:
    """Return other words by which a person may type an action."""
    if action == END_TURN:
        return "stop end the turn"
    return "" if action.card is None else str(action.card)

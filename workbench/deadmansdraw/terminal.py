"""Dead Man's Draw as a person at a terminal sees it."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import RenderableType
from rich.text import Text

from cardsharp.deadmansdraw.actions import Action, EffectType, Verb
from cardsharp.deadmansdraw.events import Event, MatchEnded, TurnEnded
from cardsharp.deadmansdraw.logbook import position_body
from cardsharp.deadmansdraw.position import PastMove, Position
from cardsharp.deadmansdraw.replay import StoredPosition
from cardsharp.deadmansdraw.rules import terminate
from cardsharp.deadmansdraw.simulation import Match
from cardsharp.replay import parse
from workbench.deadmansdraw.drawing import happenings, position_drawn
from workbench.show.screen import Choice, Screen, ScreenMove

_ANSWERS = {
    EffectType.HOOK: "hook",
    EffectType.SWORD: "steal",
    EffectType.CANNON: "shoot",
    EffectType.MAP: "dig up",
    EffectType.ORACLE: "take",
}


class Terminal(Screen[Match, Position, Action]):
    """The two banks, the play area, and what may come."""

    rules = Path(__file__).with_name("rules.txt").read_text("utf-8").rstrip()
    chapter = "turn"
    leaving = ", and lose"

    def __init__(self, names: Sequence[str], you: int) -> None:
        super().__init__(names, you)
        self._turn: list[Event] = []

    def given_up(self, state: Match) -> Match:
        """The match ended by decision, for the opponent."""
        table, events = terminate(state.state, 1 - self.you, None)
        return state.moved(table, PastMove(state.history[-1].turn, None, events))

    def standing(self, position: Position) -> str:
        """The score, which turn it is, and how many cards there are to draw."""
        left = len(position.unseen)
        ours, theirs = (position.banks[seat].score for seat in (self.you, 1 - self.you))
        return f"{ours} : {theirs}, turn {position.turn}, {left} card{'s'[: left != 1]} to draw"

    def table(self, position: Position) -> Iterable[RenderableType]:
        """Turn, banks by suit, what a draw risks."""
        yield Text(self.standing(position), style="dim")
        yield position_drawn(parse(StoredPosition, position_body(position)), "your")

    def choices(self, position: Position) -> Sequence[Choice[Action]]:
        """Draw and end the turn, or the answers to an effect."""
        actions = position.legal_actions()
        return [Choice(str(n), _name(a, position), a) for n, a in enumerate(actions, 1)]

    def told(self, before: Match, _action: Action, after: Match) -> ScreenMove:
        """What you drew, at once; the opponent's turn when it has ended, in one line."""
        move = after.history[-1]
        self._turn += move.events
        ended = any(isinstance(event, TurnEnded | MatchEnded) for event in move.events)
        mine = move.player == self.you
        lines = []
        if mine or ended:
            events = move.events if mine else tuple(self._turn)
            name = self.names[move.player or 0]
            ending = _end(before, after, move.player or 0) if ended else ""
            said = happenings(events) or Text("stops")
            lines.append(Text.assemble((f"{name}: ", "bold"), said, ending))
        if ended:
            self._turn = []
        return ScreenMove(lines, closes=ended and not mine)


def _end(before: Match, after: Match, player: int) -> str:
    began = before.state if before.state.between_turns else before.state.turn_start
    gain = after.state.banks[player].score - began.banks[player].score
    busted = any(isinstance(e, TurnEnded) and not e.successful for e in after.history[-1].events)
    return f" -> {'busts' if busted else 'banks'}, {gain:+d} points"


def _name(action: Action, position: Position) -> str:
    """An action in words, with what it is worth where that is certain."""
    if action.verb is Verb.DRAW:
        return "draw"
    if action.response is None:
        banked = position.own.with_cards(position.play_area)  # without the bonus of Chest and Key
        return f"end the turn and bank {banked.score - position.own.score} points"
    card = action.response.card
    if card is None:
        cards = position.pending.cards if position.pending else ()
        return f"leave {' '.join(map(str, cards))}"
    lies = any(card.suit == one.suit for one in position.play_area)
    bust = " and bust" if lies and action.response.effect_type != EffectType.CANNON else ""
    return f"{_ANSWERS.get(EffectType(action.response.effect_type), 'answer')} {card}{bust}"

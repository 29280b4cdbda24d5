"""Euchre as a person at a terminal sees it."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import RenderableType

from cardsharp.euchre.actions import Action, Bid, Discard, Play, Question
from cardsharp.euchre.cards import RANK_NAMES, SUIT_LETTERS, SUIT_NAMES, SUIT_SYMBOLS, Card, rank_of
from cardsharp.euchre.decisions import score_before
from cardsharp.euchre.position import Position, seen_by
from cardsharp.euchre.rules import score
from cardsharp.euchre.simulation import CHAIRS, Dealt, Match
from cardsharp.euchre.table import DEALER, Table, turn
from workbench.show.screen import Choice, ChoiceGroup, Screen, ScreenMove, in_columns

_CHAIRS = ("you", "left", "partner", "right")
_RANKS = ("nine", "ten", "jack", "queen", "king", "ace")

_ASKED = {
    Question.BID: "Your bid:",
    Question.DISCARD: "Lay aside:",
    Question.DEFEND: "Defend:",
    Question.PLAY: "Your card:",
}


class Terminal(Screen[Match, Position, Action]):
    """The score, what was bid, the trick on the table, and the hand."""

    rules = Path(__file__).with_name("rules.txt").read_text("utf-8").rstrip()
    chapter = "deal"
    leaving = ", and lose"

    @classmethod
    def introduction(cls) -> list[str]:
        """All rules: what they list must be known before the first card."""
        return cls.rules.splitlines()

    def __init__(self, names: Sequence[str], you: int) -> None:
        chairs = range(len(names))
        super().__init__([_CHAIRS[(chair - you) % CHAIRS] for chair in chairs], you)
        self._points: tuple[int, int] | None = (0, 0)
        self._deals: int | None = 1

    def resume(self, header: Mapping[str, object]) -> None:
        """The score before the deal, where it is told."""
        self._deals, before = None, score_before(header)
        self._points = None if before is None else self._own_first(before)

    def given_up(self, state: Match) -> Match | None:
        """The deals that are over."""
        return Match(state.past[-1], state.past[:-1], state.points) if state.past else None

    def standing(self, position: Position) -> str:
        """Which deal it is, the score, and who dealt."""
        deal = "" if self._deals is None else f"Deal {self._deals}; "
        score = "" if self._points is None else "score: you {}, they {}; ".format(*self._points)
        told = f"{deal}{score}{_name(DEALER, position.seat)} dealt"
        return told[0].upper() + told[1:]

    def table(self, position: Position) -> Iterator[RenderableType]:
        """The deal, the bids, the tricks, the hand."""
        table, me = position.table, position.seat
        yield f"{self.standing(position)}; {shown(table.turn_card)} was turned up."
        call, trump = table.call, table.trump
        if call is not None and trump is not None:
            alone = ", alone" if call.alone else ""
            yield f"Trumps are {SUIT_NAMES[trump]}, called by {_name(call.seat, me)}{alone}."
        elif table.bids:
            yield f"{len(table.bids)} passed."
        if table.tricks:
            won = table.tricks_won[:: 1 if me % 2 == 0 else -1]
            yield f"Tricks: you {won[0]}, they {won[1]}."
        if table.trick:
            cards = ", ".join(f"{_name(seat, me)} {shown(card)}" for seat, card in table.trick)
            yield f"On the table: {cards}"
        yield f"Your hand: {hand(position)}"

    def choices(self, position: Position) -> Sequence[Choice[Action]]:
        """The legal answers, by number."""
        return [
            Choice(str(number), described(action, position.table), action, other_words(action))
            for number, action in enumerate(position.choices, 1)
        ]

    def listed(self, position: Position, width: int, *, every: bool) -> Iterable[str]:
        """What is asked, and the answers in a line."""
        del every
        first = f"{_ASKED[position.question]:12}"
        return in_columns([str(choice) for choice in self.choices(position)], width, first)

    def groups(self, position: Position) -> Sequence[ChoiceGroup[Action]]:
        """What is asked, with the hand's other cards where a card is to be chosen."""
        choices = self.choices(position)
        asked = _ASKED[position.question]
        if position.question not in {Question.PLAY, Question.DISCARD}:
            return [ChoiceGroup(asked, choices)]
        kind = Play if position.question is Question.PLAY else Discard
        allowed = {one.action: one for one in choices}
        offered = (one.action.card for one in choices if isinstance(one.action, kind))
        hand = {*position.hand, *offered}
        cards = [kind(card) for card in sorted(hand, key=lambda card: (card & 3, -card))]
        every = [allowed.get(one) or Choice(shown(one.card), shown(one.card), one) for one in cards]
        return [ChoiceGroup(asked, every, {one.key for one in every if one.action not in allowed})]

    def told(self, before: Match, action: Action, after: Match) -> ScreenMove:
        """What was bid or played, who took the trick, how the deal ended."""
        now = turn(before.now.deal.table)
        ended = after.deals[len(before.past)]
        lines = [] if now is None else [*self._said(before.now, ended, now.seat, action)]
        if after.now is before.now or (len(after.past) == len(before.past) and not after.is_over):
            return ScreenMove(lines)
        self._deals = None if self._deals is None else self._deals + 1
        self._points = self._own_first(after.points)
        shown = seen_by(ended.deal, ended.seat(self.you))
        return ScreenMove([*lines, *self._ending(ended)], closes=True, shown=shown)

    def _said(self, before: Dealt, dealt: Dealt, seat: int, action: Action) -> Iterator[str]:
        name, table = self._at(dealt, seat), dealt.deal.table
        if isinstance(action, Discard) and name != _CHAIRS[0]:
            yield f"{name}: lays a card aside"
            return
        yield f"{name}: {described(action, before.deal.table)}"
        call = table.call
        if isinstance(action, Bid) and call is not None and call.picks_up:
            yield f"-- {shown(table.turn_card)} goes to {self._at(dealt, DEALER)}"
        if isinstance(action, Play) and not table.trick:
            yield f"-- trick for {self._at(dealt, table.winners[-1])}"

    def _ending(self, dealt: Dealt) -> Iterator[str]:
        result, trump = score(dealt.deal.table), dealt.deal.table.trump
        if result.caller is None or trump is None:
            yield "-- Everybody passed."
            return
        end = "euchred" if result.euchred else "made"
        side = "you" if result.points[(self.you - dealt.first) % 2] else "they"
        yield (
            f"-- {self._at(dealt, result.caller)} called {SUIT_NAMES[trump]}: {end} with "
            f"{result.tricks} tricks, {side} +{max(result.points)}."
        )
        yield "-- The score: you {}, they {}.".format(*self._points or ())

    def _own_first(self, points: tuple[int, int]) -> tuple[int, int]:
        return points if self.you % 2 == 0 else (points[1], points[0])

    def _at(self, dealt: Dealt, seat: int) -> str:
        return self.names[dealt.chair(seat)]


def _name(seat: int, me: int) -> str:
    return _CHAIRS[(seat - me) % CHAIRS]


def shown(card: Card) -> str:
    """A card with its suit's symbol, e.g. J♥."""
    return RANK_NAMES[card >> 2] + SUIT_SYMBOLS[card & 3]


def hand(position: Position) -> str:
    """The cards of a hand by suit, high ones first."""
    cards = sorted(position.hand, key=lambda card: (card & 3, -card))
    return "  ".join(map(shown, cards))


def described(action: Action, table: Table) -> str:
    """A choice in words."""
    return shown(action.card) if isinstance(action, Discard | Play) else table.spoken(action)


def other_words(action: Action) -> str:
    """What else it may be called: a card jh or jack of hearts, a bid by its suit."""
    if not isinstance(action, Discard | Play):
        return str(action)
    rank, suit = rank_of(action.card), action.card & 3
    short = f"{RANK_NAMES[rank]}{SUIT_LETTERS[suit]}"
    return f"{short} {RANK_NAMES[rank]} {_RANKS[rank]} of {SUIT_NAMES[suit]}"

"""Blef as a person at a terminal sees it: here, or at a service."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from textwrap import wrap

from rich.console import RenderableType

from cardsharp.blef.actions import BETS, CHECK, name_of
from cardsharp.blef.cards import COLOURS, VALUES, Hand
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.rules import Round
from cardsharp.blef.simulation import Match
from cardsharp.blef.strategies.greedy import own_odds
from workbench.show.screen import Choice, ChoiceGroup, Screen, ScreenMove, matching

_KINDS: tuple[tuple[str, int], ...] = (
    ("High card", 6),
    ("Pair", 6),
    ("Two pair", 15),
    ("Straight", 3),
    ("Three", 6),
    ("Full house", 30),
    ("Flush", 4),
    ("Four", 6),
    ("Straight flush", 12),
)
"""The kinds of bets by seniority, and how many there are of each."""

_SUITS = "♣♦♥♠"
_INDENT = 15
_LAST_BETS = 6


class BlefScreen(Screen[Match, Position, int]):
    """The hand, the last bets, and what may be said by kinds."""

    rules = Path(__file__).with_name("rules.txt").read_text("utf-8").rstrip()
    leaving = ", and lose"

    def standing(self, position: Position) -> str:
        """With how many cards one is out."""
        return f"out with {position.max_cards + 1}"

    def table(self, position: Position) -> Iterable[RenderableType]:
        """How many cards everybody has, the last bets, the hand."""
        counts = enumerate(position.n_cards)
        cards = ", ".join(f"{self.names[seat]} {number}" for seat, number in counts if number)
        yield f"Round {position.number}; cards: {cards}; {self.standing(position)}."
        said = [f"{self.names[seat]} {name_of(bet)}" for seat, bet in position.history]
        more = "... " if len(said) > _LAST_BETS else ""
        yield f"Bets: {more}{'; '.join(said[-_LAST_BETS:])}" if said else "Nobody has bet yet."
        hidden = "1 card" if position.hidden == 1 else f"{position.hidden} cards"
        yield f"Your hand: {shown(position.hand)}   ({hidden} hidden)"

    def choices(self, position: Position) -> Sequence[Choice[int]]:
        """Every higher bet, and the check."""
        return [Choice(str(one), name_of(one), one) for one in position.legal_actions()]

    def listed(self, position: Position, width: int, *, every: bool) -> Iterable[str]:
        """The bets by kind, a line or two for each; those that can hold, or all of them."""
        left_out = False
        for group in self.groups(position):
            legal = [one for one in group.choices if one.key not in group.barred]
            if every or not group.remote:
                items = [f"{one.key} {one.short}".strip() for one in legal]
                yield from _of_a_kind(group.title, items, width)
            else:
                left_out |= bool(legal)
        if left_out:
            cards = sum(position.n_cards)
            yield f"Other bets cannot hold with {cards} cards in play; ? lists them too."

    def groups(self, position: Position) -> Sequence[ChoiceGroup[int]]:
        """All bets by kind, and the check; remote are those that need more cards than there are."""
        legal, cards = position.legal_actions(), sum(position.n_cards)
        odds, last = own_odds(position), position.last_bet
        likely = [*map(_likely, odds), _likely(1 - (0.0 if last is None else odds[last]))]
        starts = accumulate((number for _, number in _KINDS), initial=0)
        kinds = [
            (kind, range(first, first + number))
            for first, (kind, number) in zip(starts, _KINDS, strict=False)
        ]
        return [
            ChoiceGroup(
                kind,
                [Choice(str(bet), name_of(bet), bet, "", _short(bet), likely[bet]) for bet in bets],
                {str(bet) for bet in bets if bet not in legal},
                any(bet != CHECK and BETS[bet].size > cards for bet in bets),
            )
            for kind, bets in [*kinds, ("Check", range(CHECK, CHECK + 1))]
        ]

    def misread(self, line: str, _position: Position) -> str:
        """Why that cannot be said now."""
        meant = matching(line, [Choice(str(one), name_of(one), one) for one in range(CHECK + 1)])
        if [one.action for one in meant] == [CHECK]:
            return "There is nothing to check yet; bet something."
        if len(meant) == 1:
            return f"{meant[0].name} is not allowed now; it must be higher than the last bet."
        return "That is none of the bets; type a number of the list, or ? to see them all."

    def told(self, before: Match, action: int, after: Match) -> ScreenMove:
        """What was said; after a check everybody's cards, and who lost."""
        seat = before.live.turn or 0
        if len(after.closed) == len(before.closed):
            return ScreenMove([f"{capital(self.names[seat])}: {name_of(action)}"])
        closed = after.closed[-1]
        lines = [*self.outcome(closed, after.live.n_cards)]
        return ScreenMove(lines, closes=True, shown=position_of(closed, self.you))

    def outcome(self, closed: Round, n_cards: Sequence[int]) -> Iterator[str]:
        """How a round ended, with everybody's cards; `n_cards` are those of the next one."""
        names, loser = self.names, closed.history[-1].seat
        checked = closed.history[-2].seat
        bettor, bet = closed.history[-3]
        verb = "did not hold" if loser == bettor else "held"
        yield f"{capital(names[checked])}: Check"
        yield f"-- {capital(names[bettor])} bet {BETS[bet].name}: it {verb}."
        for seat in (seat for seat, hand in enumerate(closed.hands) if hand):
            yield f"   {names[seat]}: {shown(closed.hands[seat])}"
        yield f"-- {capital(names[loser])} lost the round."
        if not n_cards[loser]:
            yield f"-- {capital(names[loser])} {'are' if loser == self.you else 'is'} out."


def shown(hand: Hand) -> str:
    """Cards in short, such as A♠ 10♥."""
    return " ".join(f"{VALUES[card.value]}{_SUITS[card.colour]}" for card in hand)


def capital(text: str) -> str:
    """A name at the beginning of a sentence."""
    return text[:1].upper() + text[1:]


def _of_a_kind(kind: str, items: Sequence[str], width: int) -> Iterator[str]:
    """The bets of a kind, under each other from the second line on."""
    # A bet is not broken at its own blank.
    text = "  ".join(item.replace(" ", "\N{NO-BREAK SPACE}") for item in items)
    for row, line in enumerate(wrap(text, width - _INDENT, break_on_hyphens=False)):
        yield f"{'' if row else kind:{_INDENT}}{line}".replace("\N{NO-BREAK SPACE}", " ")


def _likely(chance: float) -> str:
    if chance in {0.0, 1.0}:
        return "certain" if chance else "cannot be"
    return f"{min(99, max(1, round(100 * chance)))} %"


def _short(bet: int) -> str:
    """A bet without its kind, such as aces, J+9 or K-9♥; nothing for the check."""
    if bet == CHECK:
        return ""
    found = BETS[bet]
    if found.cards:
        values = sorted({card.value for card in found.cards})
        [colour] = {card.colour for card in found.cards}
        return f"{VALUES[values[0]]}-{VALUES[values[-1]]}{_SUITS[colour]}"
    if found.colours:
        return COLOURS[found.colours[0][0]]
    values = [value for value, _ in found.values]
    if len(values) > 2:  # noqa: PLR2004 - a straight
        return f"{VALUES[values[0]]}-{VALUES[values[-1]]}"
    return "+".join(VALUES[value] for value in values)

"""Screen of Blef for a person at a terminal, for local games and for games at a service."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path
from textwrap import wrap

from rich.console import RenderableType

from cardsharp.core.sentences import count_text
from cardsharp.games.blef.actions import BETS, CHECK, action_name
from cardsharp.games.blef.cards import RANKS, SUITS, Hand
from cardsharp.games.blef.position import BlefPosition, position_of
from cardsharp.games.blef.rules import Round, RoundMove
from cardsharp.games.blef.sentences import (
    bet_result_sentence,
    bet_text,
    move_sentence,
    round_loss_sentence,
)
from cardsharp.games.blef.simulation import SimulatedBlefMatch
from cardsharp.games.blef.strategies.greedy import hand_bet_probabilities
from cardsharp_tools.terminal.screen import (
    Choice,
    ChoiceGroup,
    RenderedMove,
    Screen,
    matching_choices,
)

_BET_KINDS: tuple[tuple[str, int], ...] = (
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
"""Kinds of bets by seniority, with the number of bets of each."""

_SUIT_SYMBOLS = "♣♦♥♠"
_KIND_COLUMN_WIDTH = 15
_MAX_RECENT_BETS = 6


class BlefScreen(Screen[SimulatedBlefMatch, BlefPosition, int]):
    """View of a Blef match: the hand, the last bets, and the possible bets by kind."""

    rules = Path(__file__).with_name("rules.txt").read_text("utf-8").rstrip()
    quit_warning = ", and lose"
    value_meaning = (
        "The values are chances not to lose the round, or how often a good player acts so."
    )

    def status_line(self, position: BlefPosition) -> str:
        """Return the status line: the number of cards at which a player is out."""
        return f"out with {count_text(position.max_cards + 1, 'card')}"

    def position_view(self, position: BlefPosition) -> Iterable[RenderableType]:
        """Yield the public information and the hand: numbers of cards, last bets, hand."""
        counts = enumerate(position.card_counts)
        cards = ", ".join(
            f"{self.name_in_sentence(seat)} {card_count}"
            for seat, card_count in counts
            if card_count
        )
        yield f"Round {position.round_number}; cards: {cards}; {self.status_line(position)}."
        bets = [f"{self.name_in_sentence(seat)} {bet_text(bet)}" for seat, bet in position.history]
        more = "… " if len(bets) > _MAX_RECENT_BETS else ""
        yield (
            f"Bets: {more}{'; '.join(bets[-_MAX_RECENT_BETS:])}." if bets else "Nobody has bet yet."
        )
        hidden = count_text(position.hidden_card_count, "card")
        yield f"Your hand: {hand_text(position.hand)}   ({hidden} hidden)"

    def choices(self, position: BlefPosition) -> Sequence[Choice[int]]:
        """Return every higher bet, and the check."""
        return [Choice(str(bet), action_name(bet), bet) for bet in position.legal_actions()]

    def choice_lines(
        self, position: BlefPosition, width: int, *, include_all: bool
    ) -> Iterable[str]:
        """Yield the bets by kind in a line or two each: the plausible ones, or all."""
        has_omitted = False
        for group in self.choice_groups(position):
            legal = [choice for choice in group.choices if choice.key not in group.disabled]
            if include_all or not group.implausible:
                items = [f"{choice.key} {choice.short}".strip() for choice in legal]
                yield from _format_bet_group(group.title, items, width)
            else:
                has_omitted |= bool(legal)
        if has_omitted:
            cards = sum(position.card_counts)
            yield f"Other bets cannot hold with {cards} cards in play; ? lists them too."

    def choice_groups(self, position: BlefPosition) -> Sequence[ChoiceGroup[int]]:
        """Return all bets by kind, and the check; implausible bets need more cards than there are.

        A bet that needs more cards than are in play is marked as implausible.
        """
        legal, cards = position.legal_actions(), sum(position.card_counts)
        odds, last_bet = hand_bet_probabilities(position), position.last_bet
        likely = [
            *map(_format_probability, odds),
            _format_probability(1 - (0.0 if last_bet is None else odds[last_bet])),
        ]
        starts = accumulate((bet_count for _, bet_count in _BET_KINDS), initial=0)
        kinds = [
            (kind, range(first_bet, first_bet + bet_count))
            for first_bet, (kind, bet_count) in zip(starts, _BET_KINDS, strict=False)
        ]
        return [
            ChoiceGroup(
                kind,
                [
                    Choice(str(bet), action_name(bet), bet, "", _format_short_bet(bet), likely[bet])
                    for bet in bets
                ],
                {str(bet) for bet in bets if bet not in legal},
                any(bet != CHECK and BETS[bet].size > cards for bet in bets),
            )
            for kind, bets in [*kinds, ("Check", range(CHECK, CHECK + 1))]
        ]

    def unknown_input_text(self, text: str, _position: BlefPosition) -> str:
        """Return an explanation why this text is not a legal action."""
        matching_bets = matching_choices(
            text, [Choice(str(bet), action_name(bet), bet) for bet in range(CHECK + 1)]
        )
        if [choice.action for choice in matching_bets] == [CHECK]:
            return "There is nothing to check yet; bet something."
        if len(matching_bets) == 1:
            return (
                f"{matching_bets[0].name} is not allowed now; it must be higher than the last bet."
            )
        return "That is not one of the bets. Type a number of the list, or ? to see all bets."

    def render_screen_move(
        self, previous_state: SimulatedBlefMatch, action: int, next_state: SimulatedBlefMatch
    ) -> RenderedMove:
        """Return the text of an action; after a check also all cards and the loser."""
        if len(next_state.closed_rounds) == len(previous_state.closed_rounds):
            moved = RoundMove(previous_state.current_round.turn or 0, action)
            history = (*previous_state.current_round.history, moved)
            return RenderedMove([move_sentence(history, self.name_in_sentence)])
        closed = next_state.closed_rounds[-1]
        lines = [*self.round_outcome_lines(closed, next_state.current_round.n_cards)]
        return RenderedMove(lines, ends_chapter=True, final_view=position_of(closed, self.you))

    def round_outcome_lines(self, closed: Round, n_cards: Sequence[int]) -> Iterator[str]:
        """Yield a round's result with all cards; `n_cards` are the next round's card counts."""
        yield move_sentence(closed.history[:-1], self.name_in_sentence)
        yield bet_result_sentence(closed)
        for seat in (seat for seat, hand in enumerate(closed.hands) if hand):
            yield f"   {self.names[seat]}: {hand_text(closed.hands[seat])}"
        loser = closed.history[-1].seat
        yield round_loss_sentence(closed, n_cards[loser], self.name_in_sentence)


def hand_text(hand: Hand) -> str:
    """Return cards in short form, such as A♠ 10♥."""
    return " ".join(f"{RANKS[card.value]}{_SUIT_SYMBOLS[card.suit]}" for card in hand)


def _format_bet_group(kind: str, items: Sequence[str], width: int) -> Iterator[str]:
    """Yield the lines that list the bets of a kind; those after the first are indented."""
    # A line must not be broken at a space inside a bet.
    text = "  ".join(item.replace(" ", "\N{NO-BREAK SPACE}") for item in items)
    for row, line in enumerate(wrap(text, width - _KIND_COLUMN_WIDTH, break_on_hyphens=False)):
        yield f"{'' if row else kind:{_KIND_COLUMN_WIDTH}}{line}".replace("\N{NO-BREAK SPACE}", " ")


def _format_probability(probability: float) -> str:
    if probability in {0.0, 1.0}:
        return "certain" if probability else "cannot be"
    return f"{min(99, max(1, round(100 * probability)))} %"


def _format_short_bet(bet: int) -> str:
    """Return a bet without its kind, such as aces, J+9 or K-9♥; "" for the check."""
    if bet == CHECK:
        return ""
    definition = BETS[bet]
    if definition.cards:
        values = sorted({card.value for card in definition.cards})
        [colour] = {card.suit for card in definition.cards}
        return f"{RANKS[values[0]]}-{RANKS[values[-1]]}{_SUIT_SYMBOLS[colour]}"
    if definition.suit_counts:
        return SUITS[definition.suit_counts[0][0]]
    values = [value for value, _ in definition.rank_counts]
    if len(values) > 2:  # noqa: PLR2004 - a straight
        return f"{RANKS[values[0]]}-{RANKS[values[-1]]}"
    return "+".join(RANKS[value] for value in values)

"""Screen of Euchre for a person at a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import RenderableType

from cardsharp.games.euchre.actions import Action, Bid, DecisionType, Discard, Play
from cardsharp.games.euchre.cards import (
    RANK_NAMES,
    SUIT_LETTERS,
    SUIT_NAMES,
    SUIT_SYMBOLS,
    Card,
    rank_of,
)
from cardsharp.games.euchre.history.decisions import initial_score
from cardsharp.games.euchre.position import EuchrePosition, position_for
from cardsharp.games.euchre.public_state import DEALER, PublicState, pending_decision
from cardsharp.games.euchre.rules import score
from cardsharp.games.euchre.simulation import PLAYER_COUNT, SeatedDeal, SimulatedEuchreMatch
from cardsharp_tools.terminal.screen import (
    Choice,
    ChoiceGroup,
    RenderedMove,
    Screen,
    format_columns,
)

_RELATIVE_SEAT_NAMES = ("you", "left", "partner", "right")
_RANK_NAMES = ("nine", "ten", "jack", "queen", "king", "ace")

_PROMPTS = {
    DecisionType.BID: "Your bid:",
    DecisionType.DISCARD: "Lay aside:",
    DecisionType.DEFEND: "Defend:",
    DecisionType.PLAY: "Your card:",
}


class EuchreTerminal(Screen[SimulatedEuchreMatch, EuchrePosition, Action]):
    """Terminal screen: the score, the bids, the current trick, and the hand."""

    rules = Path(__file__).with_name("rules.txt").read_text("utf-8").rstrip()
    chapter = "deal"
    quit_warning = ", and lose"

    @classmethod
    def rules_introduction(cls) -> list[str]:
        """Return all rules: a person must know them before the first card."""
        return cls.rules.splitlines()

    def __init__(self, names: Sequence[str], you: int) -> None:
        seats = range(len(names))
        super().__init__([_RELATIVE_SEAT_NAMES[(seat - you) % PLAYER_COUNT] for seat in seats], you)
        self._viewer_first_points: tuple[int, int] | None = (0, 0)
        self._deal_count: int | None = 1

    def restore_score_from_header(self, header: Mapping[str, object]) -> None:
        """Restore the score at the start of the deal, if the header has it."""
        self._deal_count, points = None, initial_score(header)
        self._viewer_first_points = None if points is None else self._put_viewer_first(points)

    def state_if_resigned(self, state: SimulatedEuchreMatch) -> SimulatedEuchreMatch | None:
        """Return the final state if the person leaves now: the match with only its finished deals.

        Returns None if no deal is finished.
        """
        return (
            SimulatedEuchreMatch(state.finished[-1], state.finished[:-1], state.points)
            if state.finished
            else None
        )

    def status_line(self, position: EuchrePosition) -> str:
        """Return the number of the deal, the score, and the dealer."""
        deal = "" if self._deal_count is None else f"Deal {self._deal_count}; "
        score = (
            ""
            if self._viewer_first_points is None
            else "score: you {}, they {}; ".format(*self._viewer_first_points)
        )
        text = f"{deal}{score}{_to_seat_name(DEALER, position.seat)} dealt"
        return text[0].upper() + text[1:]

    def position_view(self, position: EuchrePosition) -> Iterator[RenderableType]:
        """Yield the deal, the bids, the tricks and the hand."""
        table, me = position.public_state, position.seat
        yield f"{self.status_line(position)}; {card_text(table.turn_card)} was turned up."
        call, trump = table.trump_call, table.trump
        if call is not None and trump is not None:
            alone = ", alone" if call.goes_alone else ""
            yield (
                f"Trumps are {SUIT_NAMES[trump]}, called by "
                f"{_to_seat_name(call.caller_seat, me)}{alone}."
            )
        elif table.bids:
            yield f"{len(table.bids)} passed."
        if table.tricks:
            won = table.tricks_won[:: 1 if me % 2 == 0 else -1]
            yield f"Tricks: you {won[0]}, they {won[1]}."
        if table.current_trick:
            cards = ", ".join(
                f"{_to_seat_name(seat, me)} {card_text(card)}" for seat, card in table.current_trick
            )
            yield f"On the table: {cards}"
        yield f"Your hand: {hand_text(position)}"

    def choices(self, position: EuchrePosition) -> Sequence[Choice[Action]]:
        """Return the legal actions with their numbers."""
        return [
            Choice(
                str(choice_number),
                action_text(action, position.public_state),
                action,
                action_aliases(action),
            )
            for choice_number, action in enumerate(position.legal_actions, 1)
        ]

    def choice_lines(
        self, position: EuchrePosition, width: int, *, include_all: bool
    ) -> Iterable[str]:
        """Yield the prompt and the possible answers in a line."""
        del include_all
        prompt = f"{_PROMPTS[position.decision_type]:12}"
        return format_columns([str(choice) for choice in self.choices(position)], width, prompt)

    def choice_groups(self, position: EuchrePosition) -> Sequence[ChoiceGroup[Action]]:
        """Return the prompt's choices; if a card is to be chosen, also the hand's illegal cards."""
        choices = self.choices(position)
        prompt = _PROMPTS[position.decision_type]
        if position.decision_type not in {DecisionType.PLAY, DecisionType.DISCARD}:
            return [ChoiceGroup(prompt, choices)]
        kind = Play if position.decision_type is DecisionType.PLAY else Discard
        allowed = {choice.action: choice for choice in choices}
        offered = (choice.action.card for choice in choices if isinstance(choice.action, kind))
        hand = {*position.hand, *offered}
        cards = [kind(card) for card in sorted(hand, key=lambda card: (card & 3, -card))]
        every = [
            allowed.get(action) or Choice(card_text(action.card), card_text(action.card), action)
            for action in cards
        ]
        return [
            ChoiceGroup(
                prompt, every, {choice.key for choice in every if choice.action not in allowed}
            )
        ]

    def render_screen_move(
        self, previous_state: SimulatedEuchreMatch, action: Action, next_state: SimulatedEuchreMatch
    ) -> RenderedMove:
        """Return the text of an action, the winner of the trick and the result of the deal."""
        pending = pending_decision(previous_state.current.deal.public_state)
        finished_deal = next_state.all_deals[len(previous_state.finished)]
        lines = (
            []
            if pending is None
            else [*self._format_action(previous_state.current, finished_deal, pending.seat, action)]
        )
        if next_state.current is previous_state.current or (
            len(next_state.finished) == len(previous_state.finished) and not next_state.is_over
        ):
            return RenderedMove(lines)
        self._deal_count = None if self._deal_count is None else self._deal_count + 1
        self._viewer_first_points = self._put_viewer_first(next_state.points)
        final_position = position_for(finished_deal.deal, finished_deal.seat_of(self.you))
        return RenderedMove(
            [*lines, *self._format_deal_result(finished_deal)],
            ends_chapter=True,
            final_view=final_position,
        )

    def _format_action(
        self, previous_deal: SeatedDeal, seated_deal: SeatedDeal, seat: int, action: Action
    ) -> Iterator[str]:
        name, table = self._find_player_name(seated_deal, seat), seated_deal.deal.public_state
        if isinstance(action, Discard) and name != _RELATIVE_SEAT_NAMES[0]:
            yield f"{name}: discards a card"
            return
        yield f"{name}: {action_text(action, previous_deal.deal.public_state)}"
        call = table.trump_call
        if isinstance(action, Bid) and call is not None and call.is_order_up:
            yield (
                f"-- {card_text(table.turn_card)} goes to "
                f"{self._find_player_name(seated_deal, DEALER)}"
            )
        if isinstance(action, Play) and not table.current_trick:
            yield f"-- trick for {self._find_player_name(seated_deal, table.trick_winners[-1])}"

    def _format_deal_result(self, last_deal: SeatedDeal) -> Iterator[str]:
        result, trump = score(last_deal.deal.public_state), last_deal.deal.public_state.trump
        if result.caller_side is None or trump is None:
            yield "-- Everybody passed."
            return
        caller, end = self._find_player_name(last_deal, result.caller_side), "made"
        if result.is_euchred:
            end = "euchred"
        tricks = "1 trick" if result.tricks == 1 else f"{result.tricks} tricks"
        points = "1 point" if max(result.points) == 1 else f"{max(result.points)} points"
        scorer = "You" if result.points[(self.you - last_deal.first_player) % 2] else "They"
        yield f"-- {caller} called {SUIT_NAMES[trump]}: {tricks}, {end}. {scorer} score {points}."
        yield "-- The score: you {}, they {}.".format(*self._viewer_first_points or ())

    def _put_viewer_first(self, points: tuple[int, int]) -> tuple[int, int]:
        return points if self.you % 2 == 0 else (points[1], points[0])

    def _find_player_name(self, seated_deal: SeatedDeal, seat: int) -> str:
        return self.names[seated_deal.player_at(seat)]


def _to_seat_name(seat: int, viewer_seat: int) -> str:
    return _RELATIVE_SEAT_NAMES[(seat - viewer_seat) % PLAYER_COUNT]


def card_text(card: Card) -> str:
    """Return a card with its suit's symbol, e.g. J♥."""
    return RANK_NAMES[card >> 2] + SUIT_SYMBOLS[card & 3]


def hand_text(position: EuchrePosition) -> str:
    """Return the cards of a hand by suit, high ones first."""
    cards = sorted(position.hand, key=lambda card: (card & 3, -card))
    return "  ".join(map(card_text, cards))


def action_text(action: Action, table: PublicState) -> str:
    """Return an action in words."""
    return card_text(action.card) if isinstance(action, Discard | Play) else table.describe(action)


def action_aliases(action: Action) -> str:
    """Return other texts for an action: a card as jh or jack of hearts, a bid by its suit."""
    if not isinstance(action, Discard | Play):
        return str(action)
    rank, suit = rank_of(action.card), action.card & 3
    short = f"{RANK_NAMES[rank]}{SUIT_LETTERS[suit]}"
    return f"{short} {RANK_NAMES[rank]} {_RANK_NAMES[rank]} of {SUIT_NAMES[suit]}"

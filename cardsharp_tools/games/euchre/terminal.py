"""Screen of Euchre for a person at a terminal."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import RenderableType

from cardsharp.core.sentences import YOU, capitalise, count_text, to_sentence
from cardsharp.games.euchre.actions import Action, Bid, DecisionType, Discard, Play
from cardsharp.games.euchre.cards import (
    RANK_NAMES,
    SUIT_LETTERS,
    SUIT_NAMES,
    SUIT_SYMBOLS,
    rank_of,
)
from cardsharp.games.euchre.history.decisions import initial_score
from cardsharp.games.euchre.position import EuchrePosition, position_for
from cardsharp.games.euchre.public_state import DEALER, PublicState, pending_decision
from cardsharp.games.euchre.rules import score
from cardsharp.games.euchre.sentences import (
    action_sentence,
    bids_text,
    deal_result_sentence,
    score_sentence,
    short_card_text,
    suit_text,
)
from cardsharp.games.euchre.simulation import PLAYER_COUNT, SeatedDeal, SimulatedEuchreMatch
from cardsharp_tools.terminal.screen import (
    YOU_AS_NAME,
    Choice,
    ChoiceGroup,
    RenderedMove,
    Screen,
    format_columns,
)

_RELATIVE_SEAT_NAMES = (YOU_AS_NAME, "Left", "Partner", "Right")
_RANK_NAMES = ("nine", "ten", "jack", "queen", "king", "ace")

_MAX_LONG_CHOICES = 4  # bids up to which each has its whole name on its button

_PROMPTS = {
    DecisionType.BID: "Your bid:",
    DecisionType.DISCARD: "Discard:",
    DecisionType.DEFEND: "Defend:",
    DecisionType.PLAY: "Your card:",
}


class EuchreTerminal(Screen[SimulatedEuchreMatch, EuchrePosition, Action]):
    """Terminal screen: the score, the bids, the current trick, and the hand."""

    rules = Path(__file__).with_name("rules.txt").read_text("utf-8").rstrip()
    chapter = "deal"
    quit_warning = ", and lose"
    value_meaning = (
        "The values are the points that the deal brings on average, less those of the other side."
    )

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
        return capitalise(f"{deal}{score}{_to_seat_name(DEALER, position.seat)} dealt")

    def position_view(self, position: EuchrePosition) -> Iterator[RenderableType]:
        """Yield the deal, the bids, the tricks and the hand."""
        table, me = position.public_state, position.seat
        yield f"{self.status_line(position)}; {short_card_text(table.turn_card)} was turned up."
        call, trump = table.trump_call, table.trump
        if call is not None and trump is not None:
            alone = ", alone" if call.goes_alone else ""
            yield (
                f"Trumps are {suit_text(trump)}, called by "
                f"{_to_seat_name(call.caller_seat, me)}{alone}."
            )
        elif table.bids:
            yield to_sentence(bids_text(table, lambda seat: _to_seat_name(seat, me)))
        if table.tricks:
            won = table.tricks_won[:: 1 if me % 2 == 0 else -1]
            yield f"You have {count_text(won[0], 'trick')}, they have {won[1]}."
        if table.current_trick:
            cards = ", ".join(
                f"{_to_seat_name(seat, me)} {short_card_text(card)}"
                for seat, card in table.current_trick
            )
            yield f"On the table: {cards}."
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
            return [
                ChoiceGroup(
                    prompt,
                    [choice._replace(short=_format_short_bid(choice.action)) for choice in choices]
                    if len(choices) > _MAX_LONG_CHOICES
                    else choices,
                )
            ]
        kind = Play if position.decision_type is DecisionType.PLAY else Discard
        allowed = {choice.action: choice for choice in choices}
        offered = (choice.action.card for choice in choices if isinstance(choice.action, kind))
        hand = {*position.hand, *offered}
        cards = [kind(card) for card in sorted(hand, key=lambda card: (card & 3, -card))]
        every = [
            allowed.get(action)
            or Choice(short_card_text(action.card), short_card_text(action.card), action)
            for action in cards
        ]
        return [
            ChoiceGroup(
                prompt, every, {choice.key for choice in every if choice.action not in allowed}
            )
        ]

    def decision_label(self, position: EuchrePosition, action: Action) -> str:
        """Return a decision with the number of its trick."""
        label = action_text(action, position.public_state)
        if isinstance(action, Discard):
            return f"discard {label}"
        if isinstance(action, Play):
            return f"trick {len(position.public_state.complete_tricks) + 1}, {label}"
        return label

    def reasons_title(self, position: EuchrePosition) -> str:
        """Return the line above the reasons of a deal: the deal, its score, dealer and trumps."""
        trump = position.public_state.trump
        trumps = "" if trump is None else f"; trumps were {suit_text(trump)}"
        return f"Why the others played so ({self.status_line(position)}{trumps}):"

    def render_screen_move(
        self, previous_state: SimulatedEuchreMatch, action: Action, next_state: SimulatedEuchreMatch
    ) -> RenderedMove:
        """Return the text of an action, the winner of the trick and the result of the deal."""
        previous_deal = previous_state.current
        pending = pending_decision(previous_deal.deal.public_state)
        finished_deal = next_state.all_deals[len(previous_state.finished)]
        lines = (
            []
            if pending is None
            else [
                action_sentence(
                    previous_deal.deal.public_state,
                    action,
                    finished_deal.deal.public_state,
                    pending.seat,
                    lambda seat: self._name_in_sentence(finished_deal, seat),
                )
            ]
        )
        if next_state.current is previous_state.current or (
            len(next_state.finished) == len(previous_state.finished) and not next_state.is_over
        ):
            return RenderedMove(lines)
        if self._deal_count is not None and not next_state.is_over:
            self._deal_count += 1
        self._viewer_first_points = self._put_viewer_first(next_state.points)
        final_position = position_for(finished_deal.deal, finished_deal.seat_of(self.you))
        return RenderedMove(
            [*lines, *self._format_deal_result(finished_deal)],
            ends_chapter=True,
            final_view=final_position,
        )

    def _format_deal_result(self, last_deal: SeatedDeal) -> Iterator[str]:
        table = last_deal.deal.public_state
        result, call = score(table), table.trump_call
        viewer_scores = result.points[(self.you - last_deal.first_player) % 2] > 0
        caller = "" if call is None else self._name_in_sentence(last_deal, call.caller_seat)
        yield deal_result_sentence(result, call, caller, YOU if viewer_scores else "they")
        if call is not None and self._viewer_first_points is not None:
            yield score_sentence(self._viewer_first_points)

    def _put_viewer_first(self, points: tuple[int, int]) -> tuple[int, int]:
        return points if self.you % 2 == 0 else (points[1], points[0])

    def _name_in_sentence(self, seated_deal: SeatedDeal, seat: int) -> str:
        return self.name_in_sentence(seated_deal.player_at(seat))


def _to_seat_name(seat: int, viewer_seat: int) -> str:
    name = _RELATIVE_SEAT_NAMES[(seat - viewer_seat) % PLAYER_COUNT]
    return YOU if seat == viewer_seat else name


def hand_text(position: EuchrePosition) -> str:
    """Return the cards of a hand by suit, high ones first."""
    cards = sorted(position.hand, key=lambda card: (card & 3, -card))
    return "  ".join(map(short_card_text, cards))


def action_text(action: Action, table: PublicState) -> str:
    """Return an action in words."""
    return (
        short_card_text(action.card)
        if isinstance(action, Discard | Play)
        else table.describe(action)
    )


def _format_short_bid(action: Action) -> str:
    """Return the name of a bid among many: a suit, or its symbol if the bidder goes alone."""
    if not isinstance(action, Bid) or action.suit is None:
        return ""
    symbol, name = SUIT_SYMBOLS[action.suit], SUIT_NAMES[action.suit].capitalize()
    return f"{symbol} alone" if action.goes_alone else f"{symbol} {name}"


def action_aliases(action: Action) -> str:
    """Return other texts for an action: a card as jh or jack of hearts, a bid by its suit."""
    if not isinstance(action, Discard | Play):
        return str(action)
    rank, suit = rank_of(action.card), action.card & 3
    short = f"{RANK_NAMES[rank]}{SUIT_LETTERS[suit]}"
    return f"{short} {RANK_NAMES[rank]} {_RANK_NAMES[rank]} of {SUIT_NAMES[suit]}"

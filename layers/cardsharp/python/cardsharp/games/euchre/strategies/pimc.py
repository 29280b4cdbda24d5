"""`pimc`: evaluates the choices over many worlds, each played to its end.

It is a perfect information Monte Carlo search. Worlds are sampled from what the seat knows, each
choice is tried in each world, and the choice with the highest mean points is taken. A choice's
value in a world is the mean of two estimates with opposite errors. In one, all seats play by rules
of thumb and see only their own cards (`playout`). In the other, all play perfectly with open cards
(`double_dummy`). After each batch the choices that are surely worse drop out, so that most worlds
are spent on close decisions.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cardsharp.games.euchre.actions import (
    PASS,
    Action,
    Bid,
    DecisionType,
    Defend,
    Discard,
    Play,
)
from cardsharp.games.euchre.cards import Suit
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.public_state import SEATS, TRICKS, TrumpCall
from cardsharp.games.euchre.strategies import (
    ElapsedSeconds,
    EuchreDecision,
    EuchreOption,
    strategy,
    zero_elapsed_seconds,
)
from cardsharp.games.euchre.strategies.bidding import card_mask, value_hand
from cardsharp.games.euchre.strategies.double_dummy import DoubleDummySolver
from cardsharp.games.euchre.strategies.explanations import explain_choice
from cardsharp.games.euchre.strategies.playout import (
    play_order,
    playout_points,
    replay_card_play_states,
)
from cardsharp.games.euchre.strategies.portable_rng import PortableRng, mix_seed
from cardsharp.games.euchre.strategies.rule_based import RuleBased
from cardsharp.games.euchre.strategies.trump_layout import trump_layout
from cardsharp.games.euchre.strategies.worlds import (
    DRAWS_PER_SAMPLE,
    EuchreWorld,
    WorldSampler,
    call_value,
    pass_value,
)

EvaluateChoices = Callable[[EuchreWorld, Sequence[int]], list[int]]
"""Values of choices in a world, less the other side's, in units of 1 / `POINT_SCALE` points."""

POINT_SCALE = 40  # units of a point: values are whole numbers, which sum up exactly
CALL_BIAS_CORRECTION = 3
"""Units subtracted from the value of a call, whose estimate is too high: 0.075 points.

A call is chosen when its estimate is high, and so more often when the estimate errs upwards. Over
8,000 duplicated deals, 0.05 and 0.1 points gained 0.006 and 0.004 points a deal; -0.05 lost as
much.
"""

FIRST_OPEN_HAND_TRICK = 1  # first trick, from 0, in which cards are evaluated with open hands, too
MIN_CALL_VALUE = 900  # value in thousandths of tricks below which a call is not evaluated
MAX_GAP_TO_BEST = 1000  # maximum distance to the best suit's value for an evaluation
MIN_ALONE_VALUE = 2800  # value from which playing alone is evaluated
_CARDS_PER_DEAL = len(SEATS) * TRICKS
_SAMPLING_WORK = 10  # work of sampling one layout, in played cards
_SEARCH_WORK_FACTOR = 6  # factor of the work if open hands are searched, too


ELIMINATION_SIGMAS = 3  # standard errors behind the leader from which a choice is dropped


class ChoiceRace:
    """Race of choices, with the values of each in every world in which it was tried.

    Of equal choices, the first one leads.
    """

    def __init__(self, choices: int) -> None:
        self.running = list(range(choices))
        self.worlds = 0
        self.totals = [0] * choices
        self.tried = [0] * choices
        self._values_by_choice: list[list[int]] = [[] for _ in range(choices)]

    def add_world(self, values: Sequence[int], weight: int) -> None:
        """Add a world sampled `weight` times, with a value for each running choice."""
        self.worlds += weight
        for choice, worth in zip(self.running, values, strict=True):
            self.totals[choice] += weight * worth
            self.tried[choice] += weight
            self._values_by_choice[choice] += [worth] * weight

    @property
    def leader(self) -> int:
        """Best running choice so far."""
        return max(self.running, key=lambda choice: (self.totals[choice], -choice))

    def mean_value(self, choice: int) -> float:
        """Return the mean value of a choice over the worlds in which it was tried."""
        return self.totals[choice] / max(1, self.tried[choice])

    def eliminate_and_check_undecided(self) -> bool:
        """Drop choices that are surely worse; return True if any other may still be better.

        A choice that has the leader's value in every world is not better.
        """
        leader, open_still = self.leader, False
        for choice in [candidate for candidate in self.running if candidate != leader]:
            # All choices were tried in the same worlds. The differences within a world vary much
            # less than the values themselves, so this paired test decides with far fewer worlds.
            pairs = zip(self._values_by_choice[leader], self._values_by_choice[choice], strict=True)
            gaps = [best - challenger for best, challenger in pairs]
            lead, squares = sum(gaps), sum(gap * gap for gap in gaps)
            # lead / n > SURE * sqrt((squares / n - (lead / n) ** 2) / n), in whole numbers
            if lead and self.worlds * lead**2 > ELIMINATION_SIGMAS**2 * (
                self.worlds * squares - lead**2
            ):
                self.running.remove(choice)
            elif squares:
                open_still = True
        return open_still


@dataclass(frozen=True, slots=True)
class SearchBudget:
    """Limits of the search for one decision.

    At most `max_worlds` worlds are sampled, in batches. No new batch begins once the work, in
    cards played, has reached `max_work`, which is the same on any machine. `max_seconds` of the
    stopwatch is the last resort on a machine that is far too slow; the decision then says that
    it was cut short.
    """

    max_worlds: int = 512
    batch_size: int = 64
    max_work: int = 64_000
    max_seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class _EvaluationTask:
    """Actions to evaluate, preferred ones first, with the evaluation and its `work` for each."""

    actions: tuple[Action, ...]
    evaluate: EvaluateChoices
    work: int = _CARDS_PER_DEAL


@strategy("pimc")
class Pimc:
    """Evaluates each choice over many possible layouts of the hidden cards.

    The same position always gets the same answer, unless the stopwatch cuts the search short.
    """

    def __init__(
        self, stopwatch: ElapsedSeconds = zero_elapsed_seconds, budget: SearchBudget | None = None
    ) -> None:
        self._stopwatch, self._budget = stopwatch, budget or SearchBudget()

    def decide(
        self, position: EuchrePosition, extra_actions: Sequence[Action] = ()
    ) -> EuchreDecision:
        """Return the choice with the most expected points; evaluate `extra_actions` in any case."""
        if len(position.legal_actions) == 1:
            return EuchreDecision(position.legal_actions[0], "No other action is allowed.")
        find = _prepare_plays if position.decision_type is DecisionType.PLAY else _prepare_contracts
        choices = find(position, extra_actions)
        if len(choices.actions) == 1:
            only = choices.actions[0]
            return EuchreDecision(only, explain_choice(position, only))
        race, cut = self._evaluate_choices(position, choices)
        if not race.worlds:
            fallback = RuleBased().decide(position)
            return EuchreDecision(
                fallback.action,
                f"No deal fits what has been seen, so a rule decides. {fallback.reason}",
            )
        options = tuple(
            EuchreOption(
                action,
                race.mean_value(choice_index) / POINT_SCALE,
                _describe_elimination(race, choice_index),
            )
            for choice_index, action in enumerate(choices.actions)
        )
        best = choices.actions[race.leader]
        reason = explain_choice(position, best)
        return EuchreDecision(best, reason, options, race.worlds, cut)

    def _evaluate_choices(
        self, position: EuchrePosition, choices: _EvaluationTask
    ) -> tuple[ChoiceRace, bool]:
        began, effort, work = self._stopwatch(), self._budget, 0
        race = ChoiceRace(len(choices.actions))
        sampler = WorldSampler(position, PortableRng(position_seed(position)))
        while race.worlds < effort.max_worlds and work < effort.max_work:
            # Work is counted in played cards and not in seconds, so that a position has the same
            # answer on every machine. The stopwatch below is only the last resort.
            for world, times in sampler.sample(effort.batch_size):
                race.add_world(choices.evaluate(world, race.running), times)
                if self._stopwatch() - began > effort.max_seconds:
                    return race, True
            work += effort.batch_size * (
                DRAWS_PER_SAMPLE * _SAMPLING_WORK + len(race.running) * choices.work
            )
            if not race.worlds or not race.eliminate_and_check_undecided():
                break
        return race, False


def position_seed(position: EuchrePosition) -> int:
    """Return a seed for the generator that depends on the position alone."""
    table = position.public_state
    discard = -1 if position.discard is None else position.discard
    seed_values = [
        list(DecisionType).index(position.decision_type) + 4 * position.seat,
        card_mask(position.hand),
        discard,
    ]
    seed_values += [table.turn_card, len(table.defense_answers)]
    seed_values += [-1 if bid.suit is None else 2 * bid.suit + bid.goes_alone for bid in table.bids]
    seed_values += [4 * card + seat for trick in table.tricks for seat, card in trick]
    return mix_seed(seed_values)


def _describe_elimination(race: ChoiceRace, choice_index: int) -> str:
    return (
        ""
        if choice_index in race.running
        else f"dropped after {race.tried[choice_index]} possible deals"
    )


def _prepare_contracts(
    position: EuchrePosition, extra_actions: Sequence[Action]
) -> _EvaluationTask:
    """Return the evaluation of contracts at a decision that comes earlier than the first card.

    All seats play by the rules in it.
    """
    table, sign = position.public_state, -1 if position.seat % 2 else 1
    bid_index, turn_card = len(table.bids), table.turn_card
    actions = tuple(dict.fromkeys(_list_contract_actions(position, extra_actions)))

    def worth(world: EuchreWorld, action: Action) -> int:
        if isinstance(action, Bid):
            if action.suit is None:
                return sign * POINT_SCALE * pass_value(world, turn_card, bid_index)
            call = TrumpCall(bid_index, action.suit, action.goes_alone)
            return sign * POINT_SCALE * call_value(world, turn_card, call) - CALL_BIAS_CORRECTION
        lone = position.seat if action == Defend(goes_alone=True) else None
        laid = action.card if isinstance(action, Discard) else None
        return (
            sign * POINT_SCALE * call_value(world, turn_card, table.require_trump_call, lone, laid)
        )

    return _EvaluationTask(
        actions, lambda world, running: [worth(world, actions[index]) for index in running]
    )


def _list_contract_actions(
    position: EuchrePosition, extra_actions: Sequence[Action]
) -> Sequence[Action]:
    """Return the actions to evaluate at a decision that comes earlier than the first card.

    The rule-based action comes first.
    """
    match position.decision_type:
        case DecisionType.BID:
            extra_bids = (action for action in extra_actions if isinstance(action, Bid))
            return PASS, *_select_plausible_calls(position), *extra_bids
        case DecisionType.DISCARD:
            return RuleBased().decide(position).action, *position.legal_actions
    return position.legal_actions


def _select_plausible_calls(position: EuchrePosition) -> list[Bid]:
    """Return the calls that are worth an evaluation.

    Their value is near that of the best suit; calls to go alone need a strong hand, too.
    """
    hand_value = value_hand(
        card_mask(position.hand), len(position.public_state.bids), position.public_state.turn_card
    )
    min_value = max(
        MIN_CALL_VALUE, hand_value.value_by_suit[hand_value.best_suit] - MAX_GAP_TO_BEST
    )
    return [
        Bid(suit, alone)
        for suit, worth in sorted(hand_value.value_by_suit.items())
        for alone in (False, True)
        if worth >= min_value and (worth >= MIN_ALONE_VALUE or not alone)
    ]


def _prepare_plays(position: EuchrePosition, extra_actions: Sequence[Action]) -> _EvaluationTask:
    call, table = position.public_state.require_trump_call, position.public_state
    seating, cards = play_order(call, table.lone_defender), trump_layout(call.suit)
    cards_played = (cards.bit[card] for trick in table.tricks for _, card in trick)
    *_, stage = replay_card_play_states(cards_played, seating)
    extra_bits = [cards.bit[action.card] for action in extra_actions if isinstance(action, Play)]
    bits = list(dict.fromkeys((*_select_distinct_cards(position, call.suit), *extra_bits)))
    afterwards = [stage.with_card(bit, seating) for bit in bits]
    sign = 1 if seating.on_caller_side[position.seat] else -1
    trick = cards.to_mask(card for _, card in table.current_trick)
    is_open = len(table.complete_tricks) >= FIRST_OPEN_HAND_TRICK

    def weigh(world: EuchreWorld, running: Sequence[int]) -> list[int]:
        hands = [cards.mask_from_card_set(hand) for hand in world.hands]
        hidden = world.not_dealt_masks_by_seat(call, table.turn_card)
        search = DoubleDummySolver(seating, hands) if is_open else None
        hand, worths = hands[position.seat], []
        for index in running:
            hands[position.seat] = hand ^ bits[index]
            worth = playout_points(seating, hands, hidden, afterwards[index])
            worth += (
                worth
                if search is None
                else search.solve_point_difference(afterwards[index], trick | bits[index])
            )
            worths.append(sign * worth * (POINT_SCALE // 2))
        return worths

    remaining = _CARDS_PER_DEAL - sum(map(len, table.tricks))
    work = remaining * _SEARCH_WORK_FACTOR if is_open else remaining
    return _EvaluationTask(tuple(Play(cards.number[bit]) for bit in bits), weigh, work)


def _select_distinct_cards(position: EuchrePosition, trump: Suit) -> list[int]:
    """Return the legal cards that differ.

    Of equivalent neighbours in a suit only the lowest is included. The rule-based choice
    comes first and represents its neighbours.
    """
    cards = trump_layout(trump)
    ruled = RuleBased().decide(position).action
    ruled_bit = cards.bit[ruled.card] if isinstance(ruled, Play) else 0
    legal = cards.to_mask(
        action.card for action in position.legal_actions if isinstance(action, Play)
    )
    table = position.public_state
    present = {*position.hand, *position.unseen_cards, *(card for _, card in table.current_trick)}
    if table.require_trump_call.is_order_up:
        absent_cards = {*position.seat_cards} - {*position.hand}
        absent_cards |= {card for trick in table.complete_tricks for _, card in trick}
        present |= {table.turn_card} - absent_cards
    blocks = cards.equivalent_groups(legal, cards.to_mask(present))
    return [ruled_bit, *(block[-1] for block in blocks if ruled_bit not in block)]

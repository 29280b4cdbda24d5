"""`pimc`: weighs the choices over many worlds, each played to its end.

Monte Carlo over what the seat cannot see: worlds are drawn from what it knows, each choice is
tried in each world, and the choice with the highest mean of points is taken. What a choice is
worth in a world is the mean of two views that err to opposite sides: all play on by the rules of
thumb, seeing only what they see (`playout`); all play perfectly, seeing everything (`solver`).
Batch after batch the choices that are surely worse drop out, so that most worlds are spent where
it is close.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play, Question
from cardsharp.euchre.cards import Suit
from cardsharp.euchre.position import Position
from cardsharp.euchre.strategies import Decision, Option, Stopwatch, standing, strategy
from cardsharp.euchre.strategies.bidding import appraise, card_set
from cardsharp.euchre.strategies.dice import Dice, mixed
from cardsharp.euchre.strategies.layout import layout
from cardsharp.euchre.strategies.playout import played_out, seated, stages
from cardsharp.euchre.strategies.solver import Search
from cardsharp.euchre.strategies.sound import Rules
from cardsharp.euchre.strategies.worlds import DRAWS, Sampler, World, worth_of_call, worth_of_pass
from cardsharp.euchre.table import SEATS, TRICKS, Call

Weigh = Callable[[World, Sequence[int]], list[int]]  # gains in a world, in `POINT`s, less others'
POINT = 40  # a point of the deal, in the whole numbers that races count in
CAUTION = 3
"""What is taken from a call, for it was chosen where its estimate errs upwards: 0.075 points.

Over 8,000 duplicated deals 0.05 and 0.1 gained 0.006 and 0.004 points a deal; -0.05 lost as much.
"""

OPEN = 1  # the first trick, from 0, in which a card is weighed with open cards too
HOPELESS = 900  # thousandths of tricks below which a call is not looked at
NEAR = 1000  # how far behind the best suit another may be to be looked at
BOLD = 2800  # from where playing alone is looked at
_DEAL = len(SEATS) * TRICKS
_DRAW = 10  # work of drawing one layout, in cards played
_SEARCH = 6  # how many times the work is, where open cards are looked at too


SURE = 3  # standard errors that a choice must lie behind the leader to be given up


class Race:
    """Choices by number, and what each was worth in every world in which it was tried.

    The first of equal choices leads.
    """

    def __init__(self, choices: int) -> None:
        self.running = list(range(choices))
        self.worlds = 0
        self.totals = [0] * choices
        self.tried = [0] * choices
        self._worths: list[list[int]] = [[] for _ in range(choices)]

    def add(self, worths: Sequence[int], times: int) -> None:
        """Count a world that was drawn so many times; a worth for each choice in the race."""
        self.worlds += times
        for choice, worth in zip(self.running, worths, strict=True):
            self.totals[choice] += times * worth
            self.tried[choice] += times
            self._worths[choice] += [worth] * times

    @property
    def leader(self) -> int:
        """The best of those in the race so far."""
        return max(self.running, key=lambda choice: (self.totals[choice], -choice))

    def mean(self, choice: int) -> float:
        """What a choice was worth on average, in the worlds in which it was tried."""
        return self.totals[choice] / max(1, self.tried[choice])

    def thin_out(self) -> bool:
        """Give up the choices that are surely worse; whether any is left that may be better.

        One that was worth the same as the leader in every world is no better.
        """
        leader, open_still = self.leader, False
        for choice in [one for one in self.running if one != leader]:
            pairs = zip(self._worths[leader], self._worths[choice], strict=True)
            gaps = [best - other for best, other in pairs]
            lead, squares = sum(gaps), sum(gap * gap for gap in gaps)
            # lead / n > SURE * sqrt((squares / n - (lead / n) ** 2) / n), in whole numbers
            if lead and self.worlds * lead**2 > SURE**2 * (self.worlds * squares - lead**2):
                self.running.remove(choice)
            elif squares:
                open_still = True
        return open_still


@dataclass(frozen=True, slots=True)
class Effort:
    """How much a decision is thought about.

    At most so many worlds, in batches; and no new batch once the work, in cards played, has
    reached its limit: the same on any machine. `seconds` of the stopwatch are the last resort,
    for a machine that is far too slow; an answer that it cut short says so.
    """

    worlds: int = 512
    batch: int = 64
    work: int = 64_000
    seconds: float = 1.0


@dataclass(frozen=True, slots=True)
class _Choices:
    """What is weighed, in the order of preference among equals, how, and the `work` for each."""

    actions: tuple[Action, ...]
    weigh: Weigh
    work: int = _DEAL


@strategy("pimc")
class Pimc:
    """The engine; the same position gets the same answer, unless the stopwatch cuts it short."""

    def __init__(self, stopwatch: Stopwatch = standing, effort: Effort | None = None) -> None:
        self._stopwatch, self._effort = stopwatch, effort or Effort()

    def decide(self, position: Position, also: Sequence[Action] = ()) -> Decision:
        """The choice with the most expected points; `also` are weighed, however poor they look."""
        if len(position.choices) == 1:
            return Decision(position.choices[0], "The only choice.")
        find = _plays if position.question is Question.PLAY else _contracts
        choices = find(position, also)
        if len(choices.actions) == 1:
            return Decision(choices.actions[0], "The only choice worth a thought.")
        race, cut = self._run(position, choices)
        if not race.worlds:
            fallback = Rules().decide(position)
            return Decision(fallback.action, f"No world fits the view. {fallback.reason}")
        options = tuple(
            Option(action, race.mean(number) / POINT, _note(race, number))
            for number, action in enumerate(choices.actions)
        )
        reason = f"Most points over {race.worlds} worlds."
        return Decision(choices.actions[race.leader], reason, options, race.worlds, cut)

    def _run(self, position: Position, choices: _Choices) -> tuple[Race, bool]:
        began, effort, work = self._stopwatch(), self._effort, 0
        race = Race(len(choices.actions))
        sampler = Sampler(position, Dice(seed_of(position)))
        while race.worlds < effort.worlds and work < effort.work:
            for world, times in sampler.worlds(effort.batch):
                race.add(choices.weigh(world, race.running), times)
                if self._stopwatch() - began > effort.seconds:
                    return race, True
            work += effort.batch * (DRAWS * _DRAW + len(race.running) * choices.work)
            if not race.worlds or not race.thin_out():
                break
        return race, False


def seed_of(position: Position) -> int:
    """A number made from the position alone, for the dice."""
    table = position.table
    discard = -1 if position.discard is None else position.discard
    numbers = [
        list(Question).index(position.question) + 4 * position.seat,
        card_set(position.hand),
        discard,
    ]
    numbers += [table.turn_card, len(table.defences)]
    numbers += [-1 if bid.suit is None else 2 * bid.suit + bid.alone for bid in table.bids]
    numbers += [4 * card + seat for trick in table.tricks for seat, card in trick]
    return mixed(numbers)


def _note(race: Race, number: int) -> str:
    return "" if number in race.running else f"dropped after {race.tried[number]} possible deals"


def _contracts(position: Position, also: Sequence[Action]) -> _Choices:
    """Before the first card: what contracts come to that all play by the rules."""
    table, sign = position.table, -1 if position.seat % 2 else 1
    number, turn_card = len(table.bids), table.turn_card
    actions = tuple(dict.fromkeys(_before_play(position, also)))

    def worth(world: World, action: Action) -> int:
        if isinstance(action, Bid):
            if action.suit is None:
                return sign * POINT * worth_of_pass(world, turn_card, number)
            call = Call(number, action.suit, action.alone)
            return sign * POINT * worth_of_call(world, turn_card, call) - CAUTION
        lone = position.seat if action == Defend(alone=True) else None
        laid = action.card if isinstance(action, Discard) else None
        return sign * POINT * worth_of_call(world, turn_card, table.called, lone, laid)

    return _Choices(actions, lambda world, running: [worth(world, actions[one]) for one in running])


def _before_play(position: Position, also: Sequence[Action]) -> Sequence[Action]:
    """What is weighed there; what the rules discard is preferred."""
    match position.question:
        case Question.BID:
            called = (one for one in also if isinstance(one, Bid))
            return PASS, *_calls_worth_a_thought(position), *called
        case Question.DISCARD:
            return Rules().decide(position).action, *position.choices
    return position.choices


def _calls_worth_a_thought(position: Position) -> list[Bid]:
    """The calls that are not hopeless: near the best suit, and alone with a strong hand only."""
    seen = appraise(card_set(position.hand), len(position.table.bids), position.table.turn_card)
    wanted = max(HOPELESS, seen.worth[seen.best] - NEAR)
    return [
        Bid(suit, alone)
        for suit, worth in sorted(seen.worth.items())
        for alone in (False, True)
        if worth >= wanted and (worth >= BOLD or not alone)
    ]


def _plays(position: Position, also: Sequence[Action]) -> _Choices:
    call, table = position.table.called, position.table
    seating, cards = seated(call, table.lone_defender), layout(call.suit)
    told = (cards.bit[card] for trick in table.tricks for _, card in trick)
    *_, stage = stages(told, seating)
    wanted = [cards.bit[one.card] for one in also if isinstance(one, Play)]
    bits = list(dict.fromkeys((*_different(position, call.suit), *wanted)))
    afterwards = [stage.after(bit, seating) for bit in bits]
    sign = 1 if seating.ours[position.seat] else -1
    trick = cards.mask(card for _, card in table.trick)
    is_open = len(table.complete_tricks) >= OPEN

    def weigh(world: World, running: Sequence[int]) -> list[int]:
        hands = [cards.of(hand) for hand in world.hands]
        hidden = world.hidden(call, table.turn_card)
        search = Search(seating, hands) if is_open else None
        own, worths = hands[position.seat], []
        for one in running:
            hands[position.seat] = own ^ bits[one]
            worth = played_out(seating, hands, hidden, afterwards[one])
            worth += worth if search is None else search.points(afterwards[one], trick | bits[one])
            worths.append(sign * worth * (POINT // 2))
        return worths

    left = _DEAL - sum(map(len, table.tricks))
    work = left * _SEARCH if is_open else left
    return _Choices(tuple(Play(cards.number[bit]) for bit in bits), weigh, work)


def _different(position: Position, trump: Suit) -> list[int]:
    """The legal cards, of neighbours in a suit only the lowest; the rules' own choice first.

    Of its neighbours that one stands for all.
    """
    cards = layout(trump)
    ruled = Rules().decide(position).action
    first = cards.bit[ruled.card] if isinstance(ruled, Play) else 0
    legal = cards.mask(one.card for one in position.choices if isinstance(one, Play))
    table = position.table
    present = {*position.hand, *position.unseen, *(card for _, card in table.trick)}
    if table.called.picks_up:
        gone = {*position.dealt} - {*position.hand}
        gone |= {card for trick in table.complete_tricks for _, card in trick}
        present |= {table.turn_card} - gone
    blocks = cards.blocks(legal, cards.mask(present))
    return [first, *(block[-1] for block in blocks if first not in block)]

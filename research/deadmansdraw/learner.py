"""`cardsharp research learner`: what `adaptive` gains on strangers, and what others gain on it.

Eight opponents that nobody has met, and who pretends; twins of `native/style.c` and
`native/mimic.c`.
"""

from collections.abc import Iterator
from ctypes import Structure, byref
from dataclasses import dataclass
from math import sqrt
from random import Random
from statistics import fmean, pstdev
from typing import Annotated, Literal, NamedTuple

from cyclopts import Parameter, validators

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.deadmansdraw.cards import SUIT_ORDER, Card, Suit, deck_order
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.simulation import deal, fair_chance, match_from
from cardsharp.deadmansdraw.strategies import Decision, PastMatch, Strategy, build
from cardsharp.deadmansdraw.strategies.adaptive import learned_models
from cardsharp.deadmansdraw.strategies.adaptive_belief import parse_entries
from cardsharp.deadmansdraw.strategies.adaptive_seen import decisions_of
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.choices import busting, busts, choices, rise
from cardsharp.deadmansdraw.strategies.search.model import Model
from cardsharp.deadmansdraw.strategies.search.weights import shipped
from cardsharp.ratings import NORMAL_95
from research.compiling import declare, members
from research.deadmansdraw.engine import ADAPTIVE, Engine, Twin, needed, share
from research.deadmansdraw.specialist import Specialists
from workbench.deadmansdraw.learning import LEAST, Learned, Learning, Met
from workbench.lab.options import Positive, Seed
from workbench.show.options import CommandOptions, Json
from workbench.show.output import print_json, results


class Style(NamedTuple):
    """A player by a rule: it stops once any bound is reached; 0 stands for none.

    The bounds are cards that lie there, points to gain, and the per cent of unseen cards that bust;
    they are `behind` steps further off where the opponent leads. Of its answers it likes the
    dearest, the cheapest, the first suit's or the last's best.
    """

    cards: int
    points: int
    risk: int
    behind: int
    taste: int
    oracle: int

    def decide(self, position: Position) -> Decision:
        """The action of the style."""
        return Decision(self._action(position), "It is its style.")

    def _action(self, position: Position) -> Action:
        pending = position.pending
        if pending is None or pending.effect_type is EffectType.KRAKEN:
            may = END_TURN in position.legal_actions() and position.play_area
            return END_TURN if may and self._stops(position) else DRAW
        if pending.effect_type is EffectType.ORACLE:
            takes = self.oracle and not busts(position, pending.cards[0])
            return respond(EffectType.ORACLE, pending.cards[0] if takes else None)
        cards = sorted(choices(position), key=deck_order)
        best = max(cards, key=lambda card: self._liking(card) - 100 * busts(position, card))
        return respond(pending.effect_type, best)

    def _stops(self, position: Position) -> bool:
        area = position.play_area
        more = self.behind * (position.own.score < position.other.score)
        risk = 100 * busting(position) // max(1, len(position.unseen))
        bounds = (
            (self.cards, len(area), more),
            (self.points, rise(position.own, area), 2 * more),
            (self.risk, risk, 5 * more),
        )
        return any(bound and reached >= bound + later for bound, reached, later in bounds)

    def _liking(self, card: Card) -> int:
        place = SUIT_ORDER.index(Suit(card.suit))
        return (card.value, -card.value, -place, place)[self.taste]


STRANGERS = {
    "counter": Style(3, 0, 0, 0, 0, 1),
    "saver": Style(0, 6, 0, 0, 2, 0),
    "gambler": Style(0, 0, 45, 0, 0, 1),
    "greedy": Style(0, 14, 0, 1, 0, 0),
    "timid": Style(2, 5, 0, 0, 1, 0),
    "chaser": Style(3, 0, 0, 1, 3, 1),
    "careful": Style(0, 0, 25, 1, 3, 1),
    "mixed": Style(5, 9, 35, 0, 1, 1),
}  # the last four were held out: nothing was chosen by what came out against them


class _Style(Structure):
    """`Style` of style.c."""

    _fields_ = members("iiiiii", " ".join(Style._fields))


def stranger(engine: Engine, style: Style) -> Twin:
    """The compiled player of a style."""
    return Twin(declare(engine.library.style_new, "P", "P")(byref(_Style(*style))))


def pretender(engine: Engine, first: str, then: str, turns: int) -> Twin:
    """Who plays as `first` for so many turns of a match, and as `then` from then on."""
    make = declare(engine.library.mimic_new, "PPi", "P")
    return Twin(make(engine.twin(first).policy, engine.twin(then).policy, turns))


_ENOUGH = validators.Number(gte=LEAST)
_PRETENDED = ("champion", "draw-3", "example-node")
_TURNS = 8
_SERIES = 3  # pairs of matches through which an opponent is remembered
Row = tuple[str, str, list[float]]


@dataclass(frozen=True, kw_only=True)
class LearnerOptions(CommandOptions):
    """What is measured, and how much is played."""

    way: Literal["learned", "ideal", "reply"] = "learned"
    """What 20 matches bring; with the opponent known; a best reply to who has learned."""
    only: tuple[str, ...] = ()
    """Only these strangers, or those pretended to be."""
    met: Annotated[int, Parameter(validator=_ENOUGH, help="Matches learned from.")] = 20
    training: Annotated[int, Parameter(validator=Positive, help="Matches of it.")] = 20_000
    pairs: Annotated[int, Parameter(validator=Positive, help="Decks measured on.")] = 3000
    seed: Seed = 1
    as_json: Json = False


def learner(*, options: LearnerOptions = LearnerOptions()) -> None:
    """Tell how many points more than captain `adaptive` makes; of a best reply, more than 50."""
    found = []
    for name, stage, gains in Measured(needed(), options).rows():
        gain, margin = 100 * fmean(gains), 100 * NORMAL_95 * pstdev(gains) / sqrt(len(gains))
        found.append({"against": name, "stage": stage, "gain": gain, "margin": margin})
        if not options.as_json:
            results().print(f"{name}: {gain:+.2f} ± {margin:.2f} points; {stage}", soft_wrap=True)
    if options.as_json:
        print_json(found)


class Measured:
    """The players, and what they make."""

    def __init__(self, engine: Engine, options: LearnerOptions) -> None:
        self.engine, self.options = engine, options
        self.captain, self.adaptive = engine.twin(WEIGHTS), engine.twin(ADAPTIVE)
        self.special = Specialists(engine, options.seed, options.training)

    def rows(self) -> Iterator[Row]:
        """Against whom, what became of the candidate, and the shares above even or captain's."""
        ways = {"learned": self._learned, "ideal": self._ideal, "reply": self._reply}
        for name in self.options.only or (*STRANGERS, *_PRETENDED):
            yield from ways[self.options.way](name)

    def player(self, name: str) -> Twin:
        """A stranger, or a strategy of ours."""
        style = STRANGERS.get(name)
        return self.engine.twin(name) if style is None else stranger(self.engine, style)

    def _learned(self, name: str) -> Iterator[Row]:
        other = self.player(name)
        if name in STRANGERS:
            player, stage = self.learned(name)
            yield name, stage, self.above(player, other, past=other)
            return
        pretends = pretender(self.engine, name, WEIGHTS, _TURNS)
        yield f"{name}, after {_TURNS} turns captain", "", self.above(self.adaptive, pretends)
        again = self.above(self.adaptive, self.captain, other)
        yield f"{name}, in the next matches captain", "", again

    def _ideal(self, name: str) -> Iterator[Row]:
        """Who was trained on the opponent itself, and pays for nothing."""
        other = self.player(name)
        special = self.engine.captain(Model(self.special.against(other, name), shipped()))
        yield name, "trained on it", self.above(special, other)

    def _reply(self, name: str) -> Iterator[Row]:
        """Known as somebody each time anew, and trained on who thinks so."""
        knowing, stage = self.learned(name) if name in STRANGERS else (self.adaptive, "")
        belief, seed = knowing.belief(), self.options.seed
        known = (knowing, self.player(name))
        self.engine.play(known, seed + 1, range(_SERIES), beliefs=[belief, None])
        numbers = self.special.against(knowing, f"who knows {name}", belief)
        players, found = (knowing, self.engine.captain(Model(numbers, shipped()))), list[float]()
        for number in range(self.options.pairs):
            fresh = None if belief is None else type(belief).from_buffer_copy(belief)
            [pair] = self.engine.play(
                players, seed, range(number, number + 1), beliefs=[fresh, None]
            )
            found.append(share(pair) - 0.5)
        yield f"a best reply, known as {name}", stage, found

    def learned(self, name: str) -> tuple[Twin, str]:
        """Who has met a stranger so many times, and what became of the candidate."""
        learned, seed = Learned(), self.options.seed
        learning = Learning(learned, self.special.make, self.special.gains, lambda *_told: None)
        matches = [met(STRANGERS[name], seed + one) for one in range(self.options.met)]
        learning.opponent(name, name, matches)
        trial, text = learned.trials[name], learned.model_dump_json()
        knowing = self.engine.adaptive(parse_entries(text), learned_models(text))
        return knowing, f"{trial.stage}; {trial.why}"

    def above(self, player: Twin, other: Twin, past: Twin | None = None) -> list[float]:
        """The player's share less the captain's on the same decks, once `past` was met."""
        found, seed = list[float](), self.options.seed
        for first in range(0, self.options.pairs, _SERIES):
            numbers, beliefs = range(first, first + _SERIES), [player.belief(), None]
            if past is not None:
                self.engine.play((player, past), seed + 1, numbers, beliefs=beliefs)
            ours = self.engine.play((player, other), seed, numbers, beliefs=beliefs)
            theirs = self.engine.play((self.captain, other), seed, numbers)
            for mine, yours in zip(ours, theirs, strict=True):
                found.append(share(mine) - share(yours))
        return found


def met(player: Strategy, seed: int) -> Met:
    """A match of a player against the captain, as it shows the player."""
    dice = Random(seed)
    match, chance = match_from(deal(dice)), fair_chance(dice)
    players = (build(WEIGHTS, dice), player)
    while match.state.active is not None:
        match = match.after(players[match.state.active].decide(match.position).action, chance)
    return Met(str(seed), tuple(decisions_of(PastMatch(1, match.history))))

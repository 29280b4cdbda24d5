"""Lessons in plain Python: what `native/train.c` is in C, bit for bit, but far slower."""

from dataclasses import dataclass, replace
from random import Random

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.captain import Weighing, turn_of
from cardsharp.deadmansdraw.strategies.search.leaves import Limits, hope_of
from cardsharp.deadmansdraw.strategies.search.model import SIZES, Model
from cardsharp.deadmansdraw.strategies.search.sets import NO_CARD, NUMBER, SUIT_OF
from cardsharp.deadmansdraw.strategies.search.tree import Search
from cardsharp.deadmansdraw.strategies.search.turn import Table, Turn
from cardsharp.errors import ConfigError
from workbench.lab.dice import Purpose, dice
from workbench.lab.selfplay import Match, deal, fair_chance
from workbench.lab.training.knowledge import Knowledge
from workbench.lab.training.learning import learn
from workbench.lab.training.samples import Sample
from workbench.lab.training.settings import Settings

LEARNING = Limits(second_draws=-1, samples=4, root_samples=4, endgame=0, whole_turns=0)
"""How far is searched while learning; `LEARNING` of train.c."""


class PlainLessons:
    """Plays batches one match after the other."""

    def __init__(self, settings: Settings) -> None:
        if settings.opponent is not None:
            raise ConfigError("Training against an opponent needs the compiled engine (cc).")
        self.settings = settings

    def batch(self, knowledge: Knowledge, number: int) -> None:
        """Play a batch and learn from it."""
        weights, size = knowledge.weights(), self.settings.batch
        played = [
            Lesson(Model(weights), self.settings, number * size + place).play()
            for place in range(size)
        ]
        rate = self.settings.rate(number)
        for samples in played:
            learn(knowledge, weights, samples, rate)


@dataclass(slots=True)
class _Begun:
    """A turn's beginning: its sample's place, and whose turn it was."""

    place: int
    player: int


class Lesson:
    """One match against oneself."""

    def __init__(self, model: Model, settings: Settings, number: int) -> None:
        seed = settings.seed
        self.settings = settings
        self.search = Search(model, LEARNING)
        self.match = Match(
            deal(dice(seed, number, Purpose.DECK)), fair_chance(dice(seed, number, Purpose.CHANCE))
        )
        self.explore: Random = dice(seed, number, Purpose.FIRST)
        self.samples: list[Sample] = []
        self.turns: list[_Begun] = []

    def play(self) -> list[Sample]:
        """The samples of the match, in the order of its decisions."""
        while self.match.state.active is not None:
            self.match.play(self._action(self.match.position()))
        self._look_back()
        return self.samples

    def _action(self, position: Position) -> Action:
        actions = position.legal_actions()
        if position.pending is not None:
            if actions == (DRAW,):
                return DRAW
            options = Weighing(position, self.search).options()
            return max(options, key=lambda option: option.value).action
        if position.play_area:
            return self._draw_or_stop(position)
        self._sample_turn(position)
        return DRAW

    def _draw_or_stop(self, position: Position) -> Action:
        turn = turn_of(position)
        on = self.search.draw(turn)
        stop = self.search.stop(turn, LEARNING.root_samples)
        if position.known_top is None:
            self._sample_drawing_on(turn, on)
        if on > stop or self.explore.random() < self.settings.exploration:
            return DRAW
        return END_TURN

    def _sample_turn(self, position: Position) -> None:
        turn = turn_of(position)
        known = NO_CARD if position.known_top is None else SUIT_OF[NUMBER[position.known_top]]
        begun = Table(turn.other, turn.own, turn.pile, turn.discard)
        keys = tuple(Turn(begun).stop)
        sample = Sample(keys=keys, left=turn.left, target=self.search.draw(turn), known=known)
        self.turns.append(_Begun(len(self.samples), position.me))
        self.samples.append(sample)

    def _sample_drawing_on(self, turn: Turn, target: float) -> None:
        on = self.search.drawing_on(turn)
        if on.risk >= 1.0:
            return
        self.samples.append(
            Sample(
                keys=tuple(turn.stop),
                left=turn.left,
                target=target,
                is_turn=False,
                size=min(turn.lying, SIZES["size"] - 1),
                risk=int(16.0 * on.risk),
                hope=hope_of(on.stopped.log_odds),
                bust=on.bust,
                bust_chance=on.risk,
                stop_sum=on.stopped.log_odds,
            )
        )

    def _look_back(self) -> None:
        """Mix into each turn's target what came of it: the later targets, at last the outcome."""
        scores, trust = self.match.state.scores, self.settings.trust
        # the engine names the player whose turn would be next
        mover = 1 - self.match.state.player
        lead = scores[mover] - scores[1 - mover]
        chance = 1.0 if lead > 0 else 0.0 if lead else 0.5
        for begun in reversed(self.turns):
            if begun.player != mover:
                chance = 1.0 - chance
            mover = begun.player
            sample = self.samples[begun.place]
            chance = (1.0 - trust) * sample.target + trust * chance
            self.samples[begun.place] = replace(sample, target=chance)

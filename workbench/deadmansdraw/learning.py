"""Opponents learned from a match log: made from matches, tested on later ones, taken back again.

A candidate is an opponent's habits and tastes with weights trained against them. Whether it is
promoted, matches say that it was not made from: by them the opponent must give away more than an
equal does, and decide as was thought rather than as anybody might. Both are bets that nobody who
gives no more, or decides as a stranger, wins `ODDS` to one more often than once in `ODDS` (Ville's
inequality), however often one looks. Then a sequential test plays the weights against the
opponent as its later matches show it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import exp, log
from typing import Literal

from pydantic import BaseModel

from cardsharp.cloud.listing import newest_matches
from cardsharp.cloud.ports import MatchReader, MatchRecord, Status
from cardsharp.deadmansdraw.actions import END_TURN, EffectType
from cardsharp.deadmansdraw.briefing import past_match
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.strategies import adaptive_belief as beliefs
from cardsharp.deadmansdraw.strategies.adaptive import loss_of
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen, decisions_of
from cardsharp.deadmansdraw.strategies.choices import lying
from cardsharp.replay import header_of
from workbench.lab.sprt import ERROR

LEAST = 12  # matches that a candidate is made from
ODDS = 1 / ERROR  # a bet that has won so much is taken as proof
EQUAL = 0.1  # what an equal seems to give away by a short search, at most; captain 0.07
_SWAY = 4.0  # so much one match speaks against a candidate at most, for everybody errs
_POWERS = (1, 2, 3)  # a taste may be for suit and order at once: the product is too dull, or not

_STAKE = 0.5 / EQUAL
_ENOUGH = 2_000


Stage = Literal["candidate", "promoted", "rejected", "rolled back"]


class Trial(BaseModel, extra="forbid"):
    """A candidate: how far it came, why, and the last match that it was made from or judged by."""

    entry: beliefs.Entry
    since: str
    stage: Stage = "candidate"
    why: str = ""

    @property
    def is_over(self) -> bool:
        """Whether another is to be made."""
        return self.stage in {"rejected", "rolled back"}


class Learned(BaseModel, extra="forbid"):
    """The file that `adaptive` plays by: promoted opponents, weights by name, trials by player."""

    version: Literal[1] = 1
    opponents: list[beliefs.Entry] = []
    weights: dict[str, dict[str, object]] = {}
    trials: dict[str, Trial] = {}


@dataclass(frozen=True, slots=True)
class Met:
    """A finished match as it shows an opponent: its id and the opponent's decisions."""

    match_id: str
    seen: Sequence[Seen]

    def given(self) -> float:
        """What the opponent has given away, as a chance to win."""
        return min(1.0, sum(loss_of(one.position, one.action) for one in self.seen))


Make = Callable[[beliefs.Entry], dict[str, object]]  # trains weights against an opponent
Gains = Callable[[dict[str, object], beliefs.Entry], tuple[bool, str]]  # and as measured


def opponents(log: MatchReader) -> dict[str, tuple[str, list[Met]]]:
    """By player's id, or the strategy of ours that it was: its name and matches, oldest first."""
    found = defaultdict[str, list[Met]](list)
    names = dict[str, str]()
    for record in reversed(newest_matches(log, GAME, Status.FINISHED, limit=_ENOUGH)):
        for key, name, met in _met(log, record):
            names[key] = name
            found[key].append(met)
    once = Counter(names.values())
    called = {key: name if once[name] == 1 else key for key, name in names.items()}
    return {key: (called[key], matches) for key, matches in found.items()}


def _met(log: MatchReader, record: MatchRecord) -> Iterator[tuple[str, str, Met]]:
    header = header_of(record)
    others = [seat for seat in range(len(header.players)) if seat not in header.seats]
    if len(others) != 1:
        return
    player = header.players[others[0]]
    for match in past_match(log, record, player):
        key = header.opponent or player
        yield key, header.called(others[0]), Met(record.match_id, tuple(decisions_of(match)))


@dataclass(slots=True)
class Learning:
    """One pass over the log; `say` hears a plain line for all that changes, and why."""

    learned: Learned
    make: Make
    gains: Gains
    say: Callable[[str, str, str], None]

    def opponent(self, key: str, name: str, matches: Sequence[Met]) -> None:
        """Go on with an opponent as far as its matches reach."""
        while True:
            trial = self.learned.trials.get(key)
            if trial is None or trial.is_over:
                fresh = _after(matches, None if trial is None else trial.since)
                if len(fresh) < LEAST:
                    self.say(name, "waits", f"{len(fresh)} of {LEAST} fresh matches")
                    return
                seen = [one for match in fresh[:LEAST] for one in match.seen]
                trial = Trial(entry=fitted(name, seen), since=fresh[LEAST - 1].match_id)
                self.learned.trials[key] = trial
                self.learned.weights[trial.entry.weights] = self.make(trial.entry)
                self.say(name, "candidate", f"made from {LEAST} matches")
            self._go_on(trial, name, _after(matches, trial.since))
            if not trial.is_over:
                return

    def _go_on(self, trial: Trial, name: str, later: Sequence[Met]) -> None:
        """Test a candidate, or what was promoted."""
        bets = Bets(trial.entry)
        for place, met in enumerate(later, 1):
            bets.take(met)
            if trial.stage == "candidate" and bets.won:
                shown = fitted(name, [one for met in later[:place] for one in met.seen])
                gained, measured = self.gains(self.learned.weights[trial.entry.weights], shown)
                trial.stage = "promoted" if gained else "rejected"
                trial.why = f"{bets.said()}; {measured}"
            elif trial.stage == "promoted" and bets.lost:
                trial.stage, trial.why = "rolled back", "its last matches speak against it"
            else:
                continue
            self.say(name, trial.stage, trial.why)
            if trial.is_over:
                trial.since = met.match_id
                del self.learned.weights[trial.entry.weights]
                break
        if trial.stage == "candidate":
            self.say(name, "candidate", f"{len(later)} later matches, {bets.said()}")
        promoted = (one.entry for one in self.learned.trials.values() if one.stage == "promoted")
        self.learned.opponents = list(promoted)


class Bets:
    """What later matches say of a candidate: logarithms of what each bet has become.

    `given` is on its giving more away than an equal, `likely` on its deciding as was thought, not
    as a stranger, and `_doubt` on the contrary since that was likeliest.
    """

    def __init__(self, entry: beliefs.Entry) -> None:
        known = beliefs.known_opponents()
        stranger = next(one for one in known if one.stops is None is one.answers)
        self.given = self.likely = self._doubt = 0.0
        self._belief = beliefs.Belief((stranger, entry))

    def take(self, met: Met) -> None:
        """Take in the next match."""
        self._belief.see_all(met.seen)
        stranger, entry = (one.likelihood for one in self._belief.evidence)
        fallen = min(self.likely - (entry - stranger), log(_SWAY))
        self._doubt = max(0.0, self._doubt + fallen)
        self.likely = entry - stranger
        self.given += log(1 + _STAKE * (met.given() - EQUAL))

    @property
    def won(self) -> bool:
        """Whether both bets are won."""
        return min(self.given, self.likely) >= log(ODDS)

    @property
    def lost(self) -> bool:
        """Whether the last matches speak against what was thought."""
        return self._doubt >= log(ODDS)

    def said(self) -> str:
        """How the bets stand."""
        given, likely = _odds(self.given), _odds(self.likely)
        return f"gives more than an equal {given}, decides as thought {likely}"


def _odds(ratio: float) -> str:
    return f"{exp(min(ratio, log(9999))):.3g} to 1"


def _after(matches: Sequence[Met], match_id: str | None) -> Sequence[Met]:
    """The matches after that one, all where it has gone from the log."""
    ids = [met.match_id for met in matches]
    return matches[ids.index(match_id) + 1 :] if match_id in ids else matches


# --- habits and tastes ---------------------------------------------------------------------------


def fitted(name: str, seen: Sequence[Seen]) -> beliefs.Entry:
    """How somebody decides who has decided so: by the likeliest measure and sharpness of taste."""
    weights = f"{name} (learned)"
    entries = tuple(
        beliefs.Entry(weights, weights, _habits(seen, by), _tastes(seen, power), by)
        for by, power in product(beliefs.MEASURES, _POWERS)
    )
    belief = beliefs.Belief(entries)
    belief.see_all(seen)
    return max(zip(belief.evidence, entries, strict=True), key=lambda one: one[0].likelihood)[1]


def _habits(seen: Sequence[Seen], by: str) -> beliefs.Habits:
    """The chances to stop; what was never seen counts as even."""
    counts = [[[0, 0], [0, 0]] for _ in range(beliefs.MOST_LYING)]
    for one in seen:
        if one.position.pending is None:
            place = counts[beliefs.class_of(one.position, by)][beliefs.has_gain(one.position)]
            place[one.action == END_TURN] += 1
    shares = [tuple(_share(stops, goes + stops) for goes, stops in row) for row in counts]
    return tuple((without, with_gain) for without, with_gain in shares)


def _tastes(seen: Sequence[Seen], power: int) -> beliefs.Tastes:
    """How often each kind was chosen where it could be; of an Oracle, what was done with it."""
    could, did = defaultdict[tuple[str, str], int](int), defaultdict[tuple[str, str], int](int)
    for one in seen:
        pending, response = one.position.pending, one.action.response
        if pending is None:
            continue
        card = None if response is None else response.card
        effect = pending.effect_type.value
        if pending.effect_type is EffectType.ORACLE:
            kind = "bust" if pending.cards[0].suit in lying(one.position) else "safe"
            could[effect, kind] += 1
            did[effect, kind] += card is not None
            could[effect, "end"] += card is None
            did[effect, "end"] += one.action == END_TURN
            continue
        for offered, kinds in beliefs.kinds_of(one.position).items():
            for kind in kinds:
                could[effect, kind] += 1
                did[effect, kind] += offered == card
    tastes: beliefs.Tastes = {}
    for (effect, kind), number in could.items():
        sharp = 1 if effect == EffectType.ORACLE else power
        tastes.setdefault(effect, {})[str(kind)] = _share(did[effect, kind], number) ** sharp
    return tastes


def _share(part: int, whole: int) -> float:
    return round((part + 0.5) / (whole + 1), 4)

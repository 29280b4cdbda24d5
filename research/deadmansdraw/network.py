"""`cardsharp research network`: what captain has beside its tables, learned as a reply to them."""

import json
from array import array
from ctypes import Structure, byref, c_double, c_float, c_int16, c_int64, c_uint64, c_void_p, sizeof
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter, validators

from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.leaves import SHORT, SearchLimits
from cardsharp.deadmansdraw.strategies.search.model import Model
from cardsharp.deadmansdraw.strategies.search.network import NUMBERS, Network
from cardsharp.deadmansdraw.strategies.search.sets import SUITS
from cardsharp.deadmansdraw.strategies.search.weights import dump_weights, model
from cardsharp.errors import ConfigError
from research.deadmansdraw.engine import Engine, needed
from research.deadmansdraw.exact import Effort, Solver
from research.deadmansdraw.rounding import rounded
from workbench.lab.options import Seed
from workbench.show.output import results
from workbench.show.progress import Bar

_POSITIVE = validators.Number(gte=1)
_MOST_EXAMPLES = 1600
"""Of one match, as in reply.c."""
_KEPT = 8
"""Batches that are learned from each time."""


class _Reply(Structure):
    """`Reply` of reply.c."""

    _names = ("learner", "opponent", "judge", "exact")
    _fields_ = (*((name, c_void_p) for name in _names), ("trust", c_double))


class Example(Structure):
    """`Example` of network.h, and what was `Seen` of it."""

    _names = ("part", "left", "lead", "lying", "known")
    _fields_ = (
        ("keys", c_int16 * SUITS),
        *((name, c_int16) for name in _names),
        *((name, c_float) for name in ("odds", "target", "weight")),
    )


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class NetworkOptions:
    """A course: equal ones give equal networks, whether or not they were stopped on the way."""

    matches: Annotated[int, Parameter(validator=_POSITIVE, help="Against the tables.")] = 36_000
    batch: Annotated[int, Parameter(validator=_POSITIVE, help="Matches of one network.")] = 3000
    pace: Annotated[float, Parameter(help="The first step size; the last is 1/15.")] = 0.003
    trust: Annotated[float, Parameter(help="How much later turns count in a target.")] = 0.3
    seed: Seed = 1


def network(
    out: Path,
    /,
    *,
    into: Annotated[Path | None, Parameter(help="The weight file that is made of it.")] = None,
    options: NetworkOptions = NetworkOptions(),
) -> None:
    """Train a network beside captain's tables against them; OUT is kept after each batch.

    Raises:
        ConfigError: there is no compiler, or the file is of another course.
    """
    course = NetworkCourse(needed(), options)
    course.restore(out)
    with Bar(options.matches, "matches", done=course.done) as bar:
        while course.done < options.matches:
            said, before = course.batch()
            course.save(out)
            bar.advance(options.batch)
            told = f"{course.done} matches: mean squared error {said:.5f}, captain's {before:.5f}"
            results().print(told)
    if into is not None:
        provenance: dict[str, object] = {"settings": asdict(options)}
        into.write_text(dump_weights(read_network(out), provenance) + "\n", "utf-8")


class NetworkCourse:
    """A training under way: the network, what its descent keeps, and the last examples."""

    def __init__(self, engine: Engine, options: NetworkOptions) -> None:
        self.engine, self.options = engine, options
        library = engine.library
        library.network_learn.argtypes = (*[c_void_p] * 2, c_int64, c_double, c_void_p)
        library.reply_examples.argtypes = (c_void_p, *[c_uint64] * 2, c_int64, c_void_p)
        library.reply_examples.restype = c_int64
        self.descent = array("f", bytes(library.descent_size()))
        self.memory, self.done = list[bytes](), 0
        library.descent_begin(c_void_p(self.descent.buffer_info()[0]), c_uint64(options.seed))

    def batch(self) -> "array[float]":
        """Play a batch and learn from the last ones; the mean squared errors, captain's last."""
        self.memory = [*self.memory[1 - _KEPT :], self._played()]
        found, errors = b"".join(self.memory), array("d", (0.0, 0.0))
        number, rate = (
            len(found) // sizeof(Example),
            self.options.pace / 15 ** (self.done / self.options.matches),
        )
        learn, place = self.engine.library.network_learn, self.descent.buffer_info()[0]
        learn(place, found, number, rate, errors.buffer_info()[0])
        self.done += self.options.batch
        return errors

    def _played(self) -> bytes:
        """The examples of a batch, as C has them."""
        engine, batch = self.engine, self.options.batch
        examples = (Example * (_MOST_EXAMPLES * batch))()
        limits = SearchLimits(endgame=0)
        tables = Model(model(WEIGHTS).numbers)
        players = (
            engine.captain(tables, limits, self.descent),
            engine.captain(tables, limits),
            engine.captain(tables, SHORT),
        )
        policies = (player.policy for player in players)
        solver = Solver(engine, Effort(bits=17, nodes=1500, picks=8, groups=True))
        reply = byref(_Reply(*policies, solver.address, self.options.trust))
        found = engine.library.reply_examples(reply, self.options.seed, self.done, batch, examples)
        return bytes(memoryview(examples)[:found])

    def save(self, path: Path) -> None:
        """Write all of it; what was there before stays until this is whole."""
        if self.done >= self.options.matches:
            self.memory = []
        sizes, unfinished = [*map(len, self.memory)], path.with_suffix(".part")
        head = {"course": asdict(self.options), "done": self.done, "sizes": sizes}
        parts = (json.dumps(head).encode(), b"\n", self.descent.tobytes(), *self.memory)
        unfinished.write_bytes(b"".join(parts))
        unfinished.replace(path)

    def restore(self, path: Path) -> None:
        """Go on from a file, where it is there."""
        if not path.exists():
            return
        with path.open("rb") as file:
            head = json.loads(file.readline())
            if head["course"] != asdict(self.options):
                raise ConfigError(f"{path} is of another course: {head['course']}. Name another.")
            self.descent = array("f", file.read(len(self.descent) * self.descent.itemsize))
            self.memory = [file.read(size) for size in head["sizes"]]
        self.done = head["done"]


def read_network(path: Path) -> Network:
    """The network that a course keeps; what no example has moved is 0.

    Raises:
        ConfigError: it is no file of a course, or of networks of another size.
    """
    with path.open("rb") as file:
        file.readline()
        kept = array("f", file.read(needed().library.descent_size()))
    if len(kept) < 4 * NUMBERS:
        raise ConfigError(f"{path} keeps no course of such networks. Train one anew.")
    learned, squares = kept[:NUMBERS], kept[3 * NUMBERS : 4 * NUMBERS]
    return rounded(one if moved else 0.0 for one, moved in zip(learned, squares, strict=True))

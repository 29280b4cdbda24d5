"""`cardsharp research network`: what captain has beside its tables, learned as a reply to them."""

import ctypes
from array import array
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from cardsharp.deadmansdraw.strategies.captain import WEIGHTS
from cardsharp.deadmansdraw.strategies.search.leaves import SHORT, SearchLimits
from cardsharp.deadmansdraw.strategies.search.model import Model
from cardsharp.deadmansdraw.strategies.search.network import NUMBERS, Network
from cardsharp.deadmansdraw.strategies.search.sets import SUITS
from cardsharp.deadmansdraw.strategies.search.weights import dump_weights, model
from cardsharp.errors import ConfigError
from research.compiling import declare, members
from research.deadmansdraw.engine import Engine, needed, rounded
from research.deadmansdraw.exact import Solver
from research.deadmansdraw.kept import restored, save
from workbench.lab.options import Positive, Seed
from workbench.show.options import CommandOptions
from workbench.show.output import results
from workbench.show.progress import Bar

_MOST_EXAMPLES = 1600  # of one match, as in reply.c
_KEPT = 8  # batches that are learned from each time


class _Reply(ctypes.Structure):
    """`Reply` of reply.c."""

    _fields_ = members("PPPPd", "learner opponent judge exact trust")


class Example(ctypes.Structure):
    """`Example` of network.h, and what was `Seen` of it."""

    _fields_ = members(
        ".hhhhhfff", "keys part left lead lying known odds target weight", ctypes.c_int16 * SUITS
    )


@dataclass(frozen=True, kw_only=True)
class NetworkOptions(CommandOptions):
    """A course: equal ones give equal networks, whether or not they were stopped on the way."""

    matches: Annotated[int, Parameter(validator=Positive, help="Against the tables.")] = 36_000
    batch: Annotated[int, Parameter(validator=Positive, help="Matches of one network.")] = 3000
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
    """Train a network beside captain's tables against them; OUT is kept after each batch."""
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
        declare(library.network_learn, "PPqdP")
        declare(library.reply_examples, "PQQqP", "q")
        declare(library.descent_begin, "PQ")
        self.descent = array("f", bytes(library.descent_size()))
        self.memory, self.done = list[bytes](), 0
        library.descent_begin(self.descent.buffer_info()[0], options.seed)

    def batch(self) -> "array[float]":
        """Play a batch and learn from the last ones; the mean squared errors, captain's last."""
        self.memory = [*self.memory[1 - _KEPT :], self._played()]
        found, errors = b"".join(self.memory), array("d", (0.0, 0.0))
        rate = self.options.pace / 15 ** (self.done / self.options.matches)
        learn, place = self.engine.library.network_learn, self.descent.buffer_info()[0]
        learn(place, found, len(found) // ctypes.sizeof(Example), rate, errors.buffer_info()[0])
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
        solver = Solver(engine, bits=17, nodes=1500, picks=8, groups=True)
        reply = ctypes.byref(_Reply(*policies, solver.address, self.options.trust))
        found = engine.library.reply_examples(reply, self.options.seed, self.done, batch, examples)
        return bytes(memoryview(examples)[:found])

    def save(self, path: Path) -> None:
        """Write all of it."""
        if self.done >= self.options.matches:
            self.memory = []
        sizes = [*map(len, self.memory)]
        head = {"course": asdict(self.options), "done": self.done, "sizes": sizes}
        save(path, head, (self.descent.tobytes(), *self.memory))

    def restore(self, path: Path) -> None:
        """Go on from a file, where it is there."""
        head, file = restored(path, "course", asdict(self.options))
        if head:
            self.descent = array("f", file.read(len(self.descent) * self.descent.itemsize))
            self.memory = [file.read(size) for size in head["sizes"]]
            self.done = head["done"]


def read_network(path: Path) -> Network:
    """The network that a course keeps, 0 where no example moved it; raises `ConfigError`."""
    with path.open("rb") as file:
        file.readline()
        kept = array("f", file.read(needed().library.descent_size()))
    if len(kept) < 4 * NUMBERS:
        raise ConfigError(f"{path} keeps no course of such networks. Train one anew.")
    learned, squares = kept[:NUMBERS], kept[3 * NUMBERS : 4 * NUMBERS]
    return rounded(one if moved else 0.0 for one, moved in zip(learned, squares, strict=True))

"""Compiled search of another processor, which runs in an emulator."""

import shutil
import subprocess
from array import array
from pathlib import Path
from struct import Struct

from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel

DRIVER = Path(__file__).with_name("search_driver.c")
EMULATOR = "qemu-aarch64-static"  # of Debian's package qemu-user-static
LIBC = Path("/usr/aarch64-linux-gnu")  # of Debian's package libc6-arm64-cross
_BEGIN_ENDGAME, _ASK_ENDGAME, _ASK_SEARCH = range(3)  # as in search_driver.c
_QUESTION = Struct("2q24s72s")  # `Question` of search_driver.c
_ANSWER = Struct("dq61d")  # `Answer` of search_driver.c


def missing_package() -> str | None:
    """Return the name of a package of Debian that the emulation needs; None if all are there."""
    if shutil.which(EMULATOR) is None:
        return "qemu-user-static"
    return None if LIBC.exists() else "libc6-arm64-cross"


def build_driver(python: Path, folder: Path) -> Path:
    """Compile the driver for aarch64 by the `ziglang` of an interpreter; return its path."""
    driver = folder / "search_driver"
    target = ("-target", "aarch64-linux-gnu.2.34")
    command = [python, "-m", "ziglang", "cc", *target, "-O1", DRIVER, "-o", driver, "-ldl"]
    subprocess.run(command, check=True, capture_output=True)  # noqa: S603 - our own source
    return driver


class EmulatedLibrary:
    """Library of aarch64 with the functions that `compiled_search` calls, for one model.

    The addresses that its functions take and return are ignored: the process has one search and
    one endgame.
    """

    def __init__(self, driver: Path, library: Path, model: ValueModel) -> None:
        assert model.network is not None
        weights = []
        for name, numbers in (("model", model.numbers), ("network", model.network.numbers)):
            weights.append(driver.with_name(name))
            weights[-1].write_bytes(numbers.tobytes())
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            [EMULATOR, "-L", LIBC, driver, library, *weights],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        self._nodes = 0
        self.question_count = 0  # number of questions that the emulated library answered

    def _ask(
        self, kind: int, query: bytes = b"", limits: bytes = b"", max_nodes: int = 0
    ) -> tuple[float, ...]:
        streams = self._process.stdin, self._process.stdout
        assert streams[0] is not None
        assert streams[1] is not None
        self.question_count += 1
        streams[0].write(_QUESTION.pack(kind, max_nodes, limits, query))
        streams[0].flush()
        value, self._nodes, *values = _ANSWER.unpack(streams[1].read(_ANSWER.size))
        return value, *values

    def close(self) -> None:
        """End the process."""
        self._process.communicate()

    def layer_of_whole(self, _weights: int) -> int:
        """Return an address that is not 0."""
        return 1

    def layer_free(self, _layer: int) -> None:
        """Do nothing."""

    def search_beside(self, _model: int, _layer: int) -> int:
        """Return an address that is not 0."""
        return 1

    def search_beside_free(self, _search: int) -> None:
        """Do nothing."""

    def search_answer(
        self, _search: int, limits: bytes, query: bytes, values: "array[float]"
    ) -> float:
        """Return the answer to a query, and store the values of the cards."""
        value, *values[:] = self._ask(_ASK_SEARCH, query, limits)
        return value

    def exact_rough(self, _max_nodes: int) -> int:
        """Return an address that is not 0."""
        return 1

    def exact_begin(self, _endgame: int, max_nodes: int) -> None:
        """Begin an endgame."""
        self._ask(_BEGIN_ENDGAME, max_nodes=max_nodes)

    def exact_answer(self, _endgame: int, query: bytes) -> float:
        """Return the answer to a query in the endgame."""
        return self._ask(_ASK_ENDGAME, query)[0]

    def exact_nodes(self, _endgame: int) -> int:
        """Return the number of nodes of the endgame so far."""
        return self._nodes

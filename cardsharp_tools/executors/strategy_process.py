"""Parent side of a strategy file, which runs in a process of its own.

If the file crashes, exits, hangs or runs out of memory, only one decision fails. The error names
the line, and the next decision is made by a new process. The other side is
`cardsharp_tools.executors.strategy_worker`.
"""

import pickle
import re
import shlex
import signal
import sys
import threading
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from random import Random, SystemRandom
from typing import Annotated, Any

from pydantic import BaseModel, PlainValidator, ValidationError

from cardsharp.errors import ConfigError, StrategyError
from cardsharp.play.game import Game
from cardsharp.play.guarded_call import InvalidDecision, describe_late_decision
from cardsharp.play.strategy import Decision
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors import hang_monitor
from cardsharp_tools.executors.line_process import LineProcess
from cardsharp_tools.executors.move_history import (
    Moves,
    move_history,
    shared_move_count,
    without_first_moves,
)
from cardsharp_tools.executors.path_quoting import unquote_path
from cardsharp_tools.executors.private_random import PrivateRandom, private_rng
from cardsharp_tools.executors.strategy_hints import record_decision
from cardsharp_tools.executors.strategy_import import ImportedStrategy, unique_strategy_name
from cardsharp_tools.executors.subprocess_strategy import (
    PrintableText,
    SubprocessStrategy,
    message_if_slow,
)

_STACK_PATTERN = re.compile(
    r"Fatal (?:Python|sandbox) error|Current thread 0x|Thread 0x|Stack \(most recent"
)
"""Pattern of the line at which the report of a process on its own end begins."""


def _read_path(value: object) -> Path:
    """Return a path, or that of a quoted text; pydantic refuses paths that are no text."""
    if isinstance(value, Path):
        return value
    if isinstance(value, str):
        return unquote_path(value)
    raise ValueError("neither a path nor a text")


class StrategyFileReport(BaseModel):
    """Report of a strategy file's process: the registered name, or why it cannot be used."""

    name: str = ""
    files: tuple[Annotated[Path, PlainValidator(_read_path)], ...] = ()
    rejection: PrintableText = ""


class _WorkerAnswer(BaseModel, hide_input_in_errors=True):
    """Decision or error of the worker; an action is its index among those that the game offers."""

    action: int = 0
    reason: PrintableText = ""
    options: tuple[tuple[int, float | None, PrintableText], ...] = ()
    unit: str = ""
    fault: PrintableText | None = None
    trace: PrintableText = ""
    hints: tuple[PrintableText, ...] = ()
    seconds: float = 0.0


class _StrategyFileProcess(LineProcess):
    """Process of a strategy file, which writes its stack before it is killed."""

    def __init__(self, command: str) -> None:
        super().__init__(command)
        self._folder, self.place = str(Path(self.command[-1]).parent), ""
        self._kill_lock = threading.Lock()
        self.hello: StrategyFileReport | None = None

    def read_import_report(self) -> StrategyFileReport:
        """Return the report on the imported file; raise `InvalidDecision` if there is none."""
        if self.hello is None:
            self.hello = StrategyFileReport.model_validate_json(self.request(b""))
        return self.hello

    def kill(self) -> None:
        """Kill the process after it has written its stack.

        The lock makes sure that only one signal is sent, because a second one would end the
        process before its stack is complete.
        """
        with self._kill_lock, suppress(ProcessLookupError):
            if self.is_alive:
                self.process.send_signal(hang_monitor.STACK_DUMP_SIGNAL)
                self.wait_for_exit(1)
        super().kill()

    def describe_failure(self, partial_answer: bytes) -> tuple[str, str]:
        """Return why there is no answer, with the file's line, and what was printed before."""
        self.wait_for_exit(1)
        stderr = self.read_stderr()
        if self.exceeded_timeout is not None:
            reason = describe_late_decision(self.exceeded_timeout)
        elif partial_answer:
            reason = "its answer has no line break"
        else:
            reason = f"the strategy ended the process ({self._describe_exit(stderr)})"
        self.place, text = hang_monitor.find_user_frame(stderr, {self._folder})
        location = f" ({self.place}: {text})" if self.place else ""
        return f"{reason}{location}", _STACK_PATTERN.split(stderr)[0]

    def _describe_exit(self, stderr: str) -> str:
        """Return a phrase that tells why the process ended."""
        crash, exit_code = hang_monitor.CRASH_PATTERN.search(stderr), self.process.returncode
        if crash:
            return crash[1]
        if exit_code is not None and exit_code < 0:
            return signal.strsignal(-exit_code) or f"signal {-exit_code}"
        return f"exit code {exit_code}"


_player_numbers = count(1)


class StrategyProcess(SubprocessStrategy):
    """A strategy file as a strategy, decided by a process of its own."""

    process_class = _StrategyFileProcess
    process: _StrategyFileProcess

    def __init__(self, command: str, game: Game, rng_or_stopwatch: object, file: str = "") -> None:
        super().__init__(command)
        self._file = file  # name under which habits are reported; "" reports none
        self._translation, self._player_number = game.program_protocol.load(), next(_player_numbers)  # type: ignore[union-attr]
        if isinstance(rng_or_stopwatch, Random):
            rng_or_stopwatch = private_rng(rng_or_stopwatch)
        self._rng_or_stopwatch = (
            None if isinstance(rng_or_stopwatch, SystemRandom) else rng_or_stopwatch
        )  # a SystemRandom has no state that could be sent to the process
        self._sent_moves: Moves | None = None  # that the process knows; None before a request

    def decide(self, position: Any) -> Decision[Any]:  # noqa: ANN401 - any game's
        """Return the strategy's decision.

        Raises `InvalidDecision`, with the place in the file, if it fails or is late.
        """
        self.wait_until_imported()
        try:
            with self.lock_and_restart_on_failure():
                response = _parse_answer(self.request(self._encode_request(position)))
        except InvalidDecision as unfit:
            print(unfit.trace, end="")  # noqa: T201 - kept, as from any strategy
            raise InvalidDecision(str(unfit)) from None
        if self._file:
            record_decision(self._file, response.seconds, response.hints)
        if response.fault is not None:
            raise InvalidDecision(response.fault, response.trace)
        codec, allowed = self._translation, self._translation.actions(position)
        kinds = (codec.option, *codec.option.__subclasses__())
        option = next(
            (option_type for option_type in kinds if option_type.unit == response.unit),
            codec.option,
        )
        options = tuple(option(allowed[at], value, note) for at, value, note in response.options)
        decision: Decision[Any] = codec.decision(allowed[response.action], response.reason, options)
        return decision

    def _encode_request(self, position: object) -> bytes:
        """Return the message that asks for a decision; encode each request once.

        The first one has the random numbers of the player. The others have the number of moves
        that the process knows from the last position, and a position without these moves.
        """
        if self._sent_moves is None:
            message = pickle.dumps((self._player_number, self._rng_or_stopwatch, position))
        else:
            count = shared_move_count(position, self._sent_moves)
            new_part = without_first_moves(position, count)
            message = pickle.dumps((self._player_number, count, new_part))
        self._sent_moves = move_history(position)
        return message

    def wait_until_imported(self) -> None:
        """Wait until the file is imported; raise `InvalidDecision` if that fails or is late.

        The import has a time limit of its own.
        """
        with self.lock_and_restart_on_failure():
            hello = self.process.read_import_report()
            if hello.rejection:
                raise InvalidDecision(hello.rejection)

    def restart(self) -> None:
        """Continue with a new process and a new RNG, because the old RNG's draws are used up."""
        super().restart()
        self._sent_moves = None
        if isinstance(self._rng_or_stopwatch, Random):
            self._rng_or_stopwatch = PrivateRandom(self._rng_or_stopwatch.getrandbits(64))


def _parse_answer(line: bytes) -> _WorkerAnswer:
    try:
        return _WorkerAnswer.model_validate_json(line)
    except ValidationError as error:
        raise InvalidDecision(f"its process sent an answer that is no decision: {error}") from None


def worker_command(path: Path, game: Game) -> list[str]:
    """Return the arguments of the command that runs a strategy file."""
    return [
        sys.executable,
        "-P",
        "-m",
        "cardsharp_tools.executors.strategy_worker",
        game.name,
        str(path),
    ]


@cache
def register_strategy_file(path: Path, game: Game, sandbox_command: str = "") -> ImportedStrategy:
    """Import a file in a process of its own and register its strategy.

    A `sandbox_command` starts that process in a sandbox; the strategy's name is then the file's
    full path. Raises `ConfigError`, with the reason, if the file cannot be used or is not
    imported in time, and `StrategyError` if it ends its process.
    """
    if game.program_protocol is None:
        raise ConfigError(
            f"Strategy files cannot play {game.title} yet: the game defines no protocol for them."
        )
    command = sandbox_command or shlex.join(worker_command(path, game))
    process = _StrategyFileProcess(command)
    try:
        with message_if_slow(f"{path.name}: still being imported ..."):
            hello = process.read_import_report()
    except InvalidDecision as unfit:
        location, reason = (
            process.place or path.name,
            str(unfit).partition(f" ({process.place}:")[0],
        )
        if process.exceeded_timeout is None:
            raise StrategyError(f"{location}: {reason}.") from None
        timeout_text = f"{process.exceeded_timeout.total_seconds():g}"
        raise ConfigError(
            f"{location}: the import did not end within {timeout_text} s. Move slow work "
            "from module level "
            "into decide()."
        ) from None
    if hello.rejection:
        raise ConfigError(hello.rejection)
    name = (
        str(path)
        if sandbox_command
        else unique_strategy_name(hello.name, path, game.strategy_package)
    )
    file = "" if sandbox_command else path.name
    registry_for(game.strategy_package).register_unlisted(
        name, lambda rng_or_stopwatch: StrategyProcess(command, game, rng_or_stopwatch, file)
    )
    SubprocessStrategy.release_process(command, process)
    return ImportedStrategy(name, hello.files)

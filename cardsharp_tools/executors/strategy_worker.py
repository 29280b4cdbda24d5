"""Worker process of one strategy file: it reads pickled positions and answers in JSON.

`python -m cardsharp_tools.executors.strategy_worker GAME FILE`. From its second request on it gets
the new moves of a match only, and knows the others. The parent unpickles nothing, because
unpickling would run code that a strategy chose. So an answer names an action by its index among
those that the game offers. If the code hangs or ends this process, the stack is on stderr.
"""

import faulthandler
import io
import json
import os
import pickle
import sys
from contextlib import redirect_stdout
from pathlib import Path
from random import SystemRandom
from typing import IO, Any, NoReturn

from cardsharp.errors import ConfigError
from cardsharp.play.catalog import get_game
from cardsharp.play.game import Game
from cardsharp.play.guarded_call import MAX_STDOUT_CHARS, InvalidDecision, call_guarded
from cardsharp.play.strategy import Decision
from cardsharp.play.strategy_registry import registry_for
from cardsharp_tools.executors import crash_report, hang_monitor
from cardsharp_tools.executors.move_history import Moves, move_history, with_first_moves
from cardsharp_tools.executors.path_quoting import quote_path
from cardsharp_tools.executors.strategy_habits import GlobalStateMonitor, time_without_cpu_wait
from cardsharp_tools.executors.strategy_import import import_strategy_file

_original_exit = os._exit

MAX_WORK_SECONDS = 900  # limit of an import or a decision if the parent is gone


def main(game: Game, file: Path) -> None:
    """Report what the strategy file registers, then answer questions until stdin is closed."""
    requests, responses = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # output of native code goes to stderr, so that it is not read as an answer
    sys.stdout = _CappedStderrStream()
    faulthandler.enable()
    # faulthandler works in C, so hanging native code cannot stop its timer. The parent normally
    # ends a late process much earlier; the timer is for a worker whose parent is gone.
    faulthandler.dump_traceback_later(MAX_WORK_SECONDS, exit=True)
    # The signal writes the stack; `chain` then lets its default action end the process.
    faulthandler.register(hang_monitor.STACK_DUMP_SIGNAL, chain=True)
    os._exit = _dump_stack_and_exit
    os.register_at_fork(after_in_child=crash_report.disable_crash_reports)
    crash_report.limit_memory()
    this = os.getpid()
    try:
        imported = import_strategy_file(file, game)
    except ConfigError as error:
        _write_response(responses, {"rejection": str(error)})
        return
    crash_report.exit_if_forked(this)
    files = list(map(quote_path, imported.files))
    _write_response(responses, {"name": imported.name, "files": files})
    _answer_requests(game, imported.name, requests, responses)


def _answer_requests(game: Game, name: str, requests: IO[bytes], responses: IO[str]) -> None:
    """Answer each request; build a new strategy if the request is for another player."""
    translation, decider = game.program_protocol.load(), game.decision_runner.load()  # type: ignore[union-attr]
    player, strategy, state, this = 0, None, None, os.getpid()
    moves: Moves = ()
    while True:
        faulthandler.cancel_dump_traceback_later()
        try:
            player_number, rng_or_count, position = pickle.load(requests)  # noqa: S301 - from our parent
        except EOFError:
            return
        faulthandler.dump_traceback_later(MAX_WORK_SECONDS, exit=True)
        if player_number != player or strategy is None:
            rng_or_stopwatch = SystemRandom() if rng_or_count is None else rng_or_count
            player, strategy = (
                player_number,
                registry_for(game.strategy_package).build(name, rng_or_stopwatch),
            )
        else:  # the number of moves that are known from the last position
            position = with_first_moves(position, moves[:rng_or_count])
        moves = move_history(position)
        current_strategy: Any = strategy
        state = state or GlobalStateMonitor(current_strategy)
        state.record_state()
        allowed = list(translation.actions(position))

        def work(
            current_strategy: Any = current_strategy,  # noqa: ANN401 - any game's
            position: Any = position,  # noqa: ANN401 - any game's
            allowed: Any = allowed,  # noqa: ANN401 - any game's
        ) -> Any:  # noqa: ANN401 - any game's
            with redirect_stdout(_CappedStderrStream()):
                return _encode_decision(
                    decider.validate(position, current_strategy.decide(position)), allowed
                )

        began = time_without_cpu_wait()
        result = call_guarded(work, current_strategy, locates=True)
        crash_report.exit_if_forked(this)
        duration_seconds = time_without_cpu_wait() - began
        state.record_changes()
        usage = {"hints": state.hints(), "seconds": duration_seconds}
        _write_response(
            responses,
            {"fault": result.error, "trace": result.traceback, **usage, **(result.result or {})},
        )


def _encode_decision(decision: Decision[Any], allowed: list[Any]) -> dict[str, object]:
    """Return a decision as a JSON object.

    Raise `InvalidDecision` if its action was not offered.
    """
    if decision.action not in allowed:
        raise InvalidDecision(
            f"the strategy chose {decision.action!r:.100}, which is not one of the offered actions"
        )
    options = [
        (
            allowed.index(option.action),
            None if option.value is None else float(option.value),
            option.note,
        )
        for option in decision.options
        if option.action in allowed
    ]
    unit = next((option.unit for option in decision.options), "")
    action_index = allowed.index(decision.action)
    return {"action": action_index, "reason": decision.reason, "options": options, "unit": unit}


def _write_response(responses: IO[str], response: dict[str, object]) -> None:
    # A text may cite a path with bytes that no text has, which the parent's JSON parser refuses.
    text = json.dumps(response, ensure_ascii=False).encode(errors="replace").decode()
    responses.write(text + "\n")
    responses.flush()


class _CappedStderrStream(io.TextIOBase):
    """Stream that passes printed text to stderr at once, so that a crash does not lose it."""

    def __init__(self) -> None:
        self._remaining_chars = MAX_STDOUT_CHARS

    def write(self, text: str) -> int:
        """Write the text to stderr, up to the remaining limit."""
        os.write(2, text[: self._remaining_chars].encode(errors="replace"))
        self._remaining_chars = max(0, self._remaining_chars - len(text))
        return len(text)


def _dump_stack_and_exit(status: int) -> NoReturn:
    """End the process like `os._exit`, but first write the stack."""
    os.write(2, f"{hang_monitor.FATAL_ERROR_PREFIX}os._exit({status})\n".encode())
    faulthandler.dump_traceback()
    _original_exit(crash_report.EXIT_FAILED)


if __name__ == "__main__":
    main(get_game(sys.argv[1]), Path(sys.argv[2]))

"""The process of one strategy file: it reads positions that its parent pickled, answers in JSON.

`python -m workbench.file_process GAME FILE`. The parent unpickles nothing: an action is told by its
place among those that the game offers. Where the code hangs or ends this process, its stack is on
stderr.
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
from cardsharp.game import Game
from cardsharp.games import game
from cardsharp.registry import strategies_of
from cardsharp.strategy import Decision
from cardsharp.trying import MOST_PRINTED, Unfit, tried
from workbench import companion, last_words, strategy_file
from workbench.habits import GlobalState, own_seconds

_end = os._exit

LONGEST = 900  # seconds of an import or a decision, should our parent be gone


def main(of: Game, file: str) -> None:
    """Say what the file is, then decide until nobody asks any more."""
    asked, told = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # whatever native code prints is no answer
    sys.stdout = _Passed()
    faulthandler.enable()
    faulthandler.dump_traceback_later(LONGEST, exit=True)  # native code that hangs stops no clock
    faulthandler.register(companion.ASK, chain=True)  # it tells the stack, and is ended by it
    os._exit = _exit
    os.register_at_fork(after_in_child=last_words.silence)
    last_words.bound_memory()
    strategy_file.host(lambda _file: None)
    this = os.getpid()
    try:
        name = strategy_file.strategy_named(file, of)
    except ConfigError as error:
        _tell(told, {"refused": str(error)})
        return
    last_words.leave_unless(this)
    files = strategy_file.files_of(file, of)
    _tell(told, {"name": name, "files": list(map(str, files))})
    _decide(of, name, asked, told)


def _decide(of: Game, name: str, asked: IO[bytes], told: IO[str]) -> None:
    """Answer each question; a strategy is made anew where another player asks."""
    translation, decider = of.program.load(), of.decider.load()  # type: ignore[union-attr]
    player, strategy, state, this = 0, None, None, os.getpid()
    while True:
        faulthandler.cancel_dump_traceback_later()
        try:
            number, given, position = pickle.load(asked)  # noqa: S301 - from our parent
        except EOFError:
            return
        faulthandler.dump_traceback_later(LONGEST, exit=True)
        if number != player or strategy is None:
            given = SystemRandom() if given is None else given
            player, strategy = number, strategies_of(of.strategies).build(name, given)
        now: Any = strategy
        state = state or GlobalState(now)
        state.begin()
        allowed = list(translation.actions(position))

        def work(now: Any = now, position: Any = position, allowed: Any = allowed) -> Any:  # noqa: ANN401 - any game's
            with redirect_stdout(_Passed()):
                return _in_words(decider.fit(position, now.decide(position)), allowed)

        began = own_seconds()
        found = tried(work, now, locates=True)
        last_words.leave_unless(this)
        seconds = own_seconds() - began
        state.end()
        seen = {"hints": state.hints(), "seconds": seconds}
        _tell(told, {"fault": found.fault, "trace": found.trace, **seen, **(found.result or {})})


def _in_words(decision: Decision[Any], allowed: list[Any]) -> dict[str, object]:
    """A decision as JSON; raises `Unfit` where its action is none of those that are offered."""
    if decision.action not in allowed:
        raise Unfit(f"the strategy chose {decision.action!r:.100}, which is not offered here")
    options = [
        (allowed.index(one.action), None if one.value is None else float(one.value), one.note)
        for one in decision.options
        if one.action in allowed
    ]
    unit = next((one.unit for one in decision.options), "")
    place = allowed.index(decision.action)
    return {"action": place, "reason": decision.reason, "options": options, "unit": unit}


def _tell(told: IO[str], answer: dict[str, object]) -> None:
    told.write(json.dumps(answer) + "\n")
    told.flush()


class _Passed(io.TextIOBase):
    """Passes on at once what is printed, up to a size: a process that dies has said it."""

    def __init__(self) -> None:
        self._room = MOST_PRINTED

    def write(self, text: str) -> int:
        """Write it to stderr as far as there is room."""
        os.write(2, text[: self._room].encode(errors="replace"))
        self._room = max(0, self._room - len(text))
        return len(text)


def _exit(status: int) -> NoReturn:
    """End the process as `os._exit` does, which says nothing; the stack is told first."""
    os.write(2, f"{companion.FATAL}os._exit({status})\n".encode())
    faulthandler.dump_traceback()
    _end(last_words.FAILED)


if __name__ == "__main__":
    main(game(sys.argv[1]), str(Path(sys.argv[2])))

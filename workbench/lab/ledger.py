"""A run's file: one JSON document a line, first what is played, then each pair as it ends.

And the run of a duel while somebody looks, kept in such a file.
"""

import json
from concurrent.futures import Executor
from pathlib import Path
from typing import Literal

from pydantic import BaseModel

from cardsharp.errors import ConfigError
from cardsharp.text_files import read_text
from workbench.lab.duel import Duel, Pair, share_of
from workbench.lab.interval import Interval, interval
from workbench.lab.plan import Plan
from workbench.lab.players import fingerprint
from workbench.lab.runs import Numbered, play_task, run
from workbench.lab.sprt import Sequential
from workbench.show.output import print_error
from workbench.show.progress import Bar
from workbench.strategy_file import is_own


class _Head(BaseModel, frozen=True, extra="forbid"):
    kind: Literal["duel"] = "duel"
    game: str
    first: str
    second: str
    seed: int
    copies: int
    series: int
    fingerprint: str
    less_luck: bool = False


class _Pair(BaseModel, frozen=True, extra="forbid"):
    kind: Literal["pair"] = "pair"
    number: int
    matches: Pair


def kept_in(file: Path, plan: Plan) -> dict[int, Pair]:
    """The pairs in a run's file, which is begun if need be; raises `ConfigError` for another run's.

    A line is written whole or found broken and dropped.
    """
    told = {name: getattr(plan, name) for name in _Head.model_fields if hasattr(plan, name)}
    wanted = _Head(**told, fingerprint=fingerprint(plan))
    if not file.is_file() or not file.stat().st_size:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(wanted.model_dump_json() + "\n", encoding="utf-8")
        return {}
    decoded = read_text(file)
    if decoded.encoding != "utf-8":  # what is added is
        raise ConfigError(f"{file} is in {decoded.encoding.upper()}; save it as UTF-8.")
    whole, _, broken = decoded.text.rpartition("\n")
    if broken:  # the run was stopped in the middle of a line
        file.write_text(f"{whole}\n", encoding="utf-8")
    head, kept = _parsed(file, whole)
    old, new = head.model_dump(), wanted.model_dump()
    unlike = [f"{name} {json.dumps(old[name])}" for name in new if old[name] != new[name]]
    if unlike:
        raise ConfigError(
            f"{file} belongs to another run, or the strategies have changed since: "
            f"{', '.join(unlike)}. Give another file."
        )
    return kept


def difference(one: Path, two: Path) -> tuple[float, Interval, int]:
    """How many points in 100 more the first player of one run made than that of the other.

    With its 95 % interval, and over how many matches of each; deck by deck, so that the luck of the
    deal cancels out. Raises `ConfigError` for other decks or another opponent.
    """
    (head, mine), (other, theirs) = (_parsed(file, read_text(file).text) for file in (one, two))
    if other.model_copy(update={"first": head.first}) != head:
        raise ConfigError(
            f"{one} and {two} differ in more than the first player; nothing to compare."
        )
    shared = sorted(mine.keys() & theirs.keys())
    if not shared:
        raise ConfigError(f"{one} and {two} share no pair; play more.")
    gaps = [share_of(mine[number]) - share_of(theirs[number]) for number in shared]
    matches = len(mine[shared[0]])
    bounds = interval([(1 + gap) / 2 for gap in gaps], matches).scaled(200, -100)
    return 100 * sum(gaps) / len(gaps), bounds, matches * len(gaps)


def _parsed(file: Path, text: str) -> tuple[_Head, dict[int, Pair]]:
    """The head of a duel's file and its pairs; raises `ConfigError` that names a wrong line."""
    if not text.strip():
        raise ConfigError(f"{file} is empty and no file of a duel (--out); give another one.")
    pairs, number = dict[int, Pair](), 1
    first, *rest = text.removesuffix("\n").split("\n")
    try:
        head = _Head.model_validate_json(first)
        for number, line in enumerate(rest, 2):  # noqa: B007 - what the message names
            pair = _Pair.model_validate_json(line)
            pairs[pair.number] = pair.matches
    except ValueError:
        raise ConfigError(
            f"{file}, line {number}, is no line of a duel's file (--out); "
            "give another one, or correct the line."
        ) from None
    return head, pairs


def warn_unsteady(played: Duel) -> None:
    """Say which users' files decide otherwise when the first deal is played again; of two, both."""
    files = dict.fromkeys(filter(is_own, (played.plan.first, played.plan.second)))
    if files and play_task(played.plan, [range(1)])[0][1] != played.pairs[0]:
        for name in files:
            print_error(
                f"{name} decided otherwise when a deal was played again with its dice. Let it draw "
                "all chance from self.rng and decide from the position alone; else no match can "
                "be played again."
            )


def watched(
    plan: Plan, pool: Executor | None, out: Path | None = None, tested: Sequential | None = None
) -> Duel:
    """The duel of a plan, with a bar while somebody looks; kept in the file `out`."""
    kept = {} if out is None else kept_in(out, plan)
    with Bar(plan.pairs, plan.title, len(kept)) as bar:

        def tell(played: list[Numbered]) -> None:
            if out is not None:
                lines = (_Pair(number=at, matches=pair).model_dump_json() for at, pair in played)
                with out.open("a", encoding="utf-8") as file:
                    file.writelines(f"{line}\n" for line in lines)
            bar.advance(len(played))

        return run(plan, pool, kept, tell, tested)

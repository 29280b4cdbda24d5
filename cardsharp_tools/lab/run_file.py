"""File of a run, and duels that are recorded in such a file.

Each line is a JSON document: first the plan, then each pair when it ends.
"""

import json
from concurrent.futures import Executor
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from cardsharp.core.text_files import read_text
from cardsharp.errors import ConfigError
from cardsharp_tools.cli.console import print_error
from cardsharp_tools.lab.confidence_interval import Interval, mean_interval
from cardsharp_tools.lab.duel_result import DuelResult, Pair, first_player_points_share
from cardsharp_tools.lab.plan import DuelPlan
from cardsharp_tools.lab.players import fingerprint
from cardsharp_tools.lab.runner import NumberedPair, play_series_task, run_duel
from cardsharp_tools.lab.sprt import SequentialTest
from cardsharp_tools.terminal.progress import ProgressBar


class _DuelHeader(BaseModel, frozen=True, extra="forbid"):
    kind: Literal["duel"] = "duel"
    game: str
    first: str
    second: str
    seed: int
    copies: int
    series: int
    fingerprint: str
    less_luck: bool = False


class _PairLine(BaseModel, frozen=True, extra="forbid"):
    kind: Literal["pair"] = "pair"
    number: int
    matches: Annotated[Pair, Field(min_length=1)]


def load_pairs_or_create_file(file: Path, plan: DuelPlan) -> dict[int, Pair]:
    """Return the pairs in a run's file, which is created if it does not exist.

    A line that was not written completely is dropped. Raises `ConfigError` for a file of
    another run, and if the file cannot be created.
    """
    expected_head = _DuelHeader(
        game=plan.game,
        first=plan.first.record_text,
        second=plan.second.record_text,
        seed=plan.seed,
        copies=plan.opponent_copies,
        series=plan.series_length,
        fingerprint=fingerprint(plan),
        less_luck=plan.luck_adjusted,
    )
    if not file.is_file() or not file.stat().st_size:
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(expected_head.model_dump_json() + "\n", encoding="utf-8")
        except OSError as error:
            raise ConfigError(
                f"{file} cannot be written: {error.strerror}; give another file."
            ) from None
        return {}
    decoded = read_text(file)
    if decoded.encoding != "utf-8":  # added lines are UTF-8, too
        raise ConfigError(f"{file} is in {decoded.encoding.upper()}; save it as UTF-8.")
    complete, _, broken = decoded.text.rpartition("\n")
    if broken:  # the run was stopped in the middle of a line
        file.write_text(f"{complete}\n", encoding="utf-8")
    head, pairs = _parse_run_file(file, complete)
    recorded_values, expected_values = head.model_dump(), expected_head.model_dump()
    unlike = [
        f"{name} {json.dumps(recorded_values[name])}"
        for name in expected_values
        if recorded_values[name] != expected_values[name]
    ]
    if unlike:
        raise ConfigError(
            f"{file} belongs to another run, or the strategies have changed since: "
            f"{', '.join(unlike)}. Give another file."
        )
    return pairs


def compare_first_players(first_file: Path, second_file: Path) -> tuple[float, Interval, int]:
    """Return the lead of one run's first player over the other run's, in points per 100.

    Also return its 95 % interval and the number of matches compared in each run. The runs are
    compared deck by deck, so that the luck of the deal cancels out. Raises `ConfigError` for
    other decks or another opponent.
    """
    (head, first_pairs), (second_head, second_pairs) = (
        _parse_run_file(file, read_text(file).text) for file in (first_file, second_file)
    )
    if second_head.model_copy(update={"first": head.first}) != head:
        raise ConfigError(
            f"{first_file} and {second_file} differ in more than the first player; "
            "they cannot be compared."
        )
    shared = sorted(first_pairs.keys() & second_pairs.keys())
    if not shared:
        raise ConfigError(f"{first_file} and {second_file} share no pair; play more pairs.")
    gaps = [
        first_player_points_share(first_pairs[pair_number])
        - first_player_points_share(second_pairs[pair_number])
        for pair_number in shared
    ]
    matches = len(first_pairs[shared[0]])
    bounds = mean_interval([(1 + gap) / 2 for gap in gaps], matches).scaled(200, -100)
    return 100 * sum(gaps) / len(gaps), bounds, matches * len(gaps)


def _parse_run_file(file: Path, text: str) -> tuple[_DuelHeader, dict[int, Pair]]:
    """Return the header and the pairs of a duel's file; raise `ConfigError` for an invalid line."""
    if not text.strip():
        raise ConfigError(f"{file} is empty and not a file of a duel (--out); give another one.")
    pairs, line_number = dict[int, Pair](), 1
    head_line, *rest = text.removesuffix("\n").split("\n")
    try:
        head = _DuelHeader.model_validate_json(head_line)
        for line_number, line in enumerate(rest, 2):  # noqa: B007 - the error message names it
            pair = _PairLine.model_validate_json(line)
            pairs[pair.number] = pair.matches
    except ValueError:
        raise ConfigError(
            f"{file}, line {line_number}, is not a line of a duel's file (--out); "
            "give another one, or correct the line."
        ) from None
    return head, pairs


def warn_nondeterministic(duel: DuelResult) -> None:
    """Warn of users' files that decide differently when the first deal is replayed.

    If both players are users' files, the warning names both.
    """
    players = dict.fromkeys((duel.plan.first, duel.plan.second))
    files = [player for player in players if player.is_user_code]
    if files and play_series_task(duel.plan, [range(1)])[0][1] != duel.pairs[0]:
        for name in files:
            print_error(
                f"{name} decided otherwise when a deal was played again with the same random "
                "numbers. Draw all random numbers from self.rng, and decide from the position "
                "alone; otherwise no match can be repeated."
            )


def run_duel_with_progress(
    plan: DuelPlan,
    pool: Executor | None,
    run_file: Path | None = None,
    sprt: SequentialTest | None = None,
) -> DuelResult:
    """Play the duel of a plan, with a progress bar on a terminal, and return the result.

    The pairs are stored in `run_file`, and those in it are not played again.
    """
    recorded_pairs = {} if run_file is None else load_pairs_or_create_file(run_file, plan)
    with ProgressBar(plan.pairs, plan.title, len(recorded_pairs)) as bar:

        def tell(played: list[NumberedPair]) -> None:
            if run_file is not None:
                lines = (
                    _PairLine(number=at, matches=pair).model_dump_json() for at, pair in played
                )
                with run_file.open("a", encoding="utf-8") as file:
                    file.writelines(f"{line}\n" for line in lines)
            bar.advance(len(played))

        return run_duel(plan, pool, recorded_pairs, tell, sprt)

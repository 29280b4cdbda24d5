"""`cardsharp learn-opponents`: train weights against opponents from stored matches."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators
from pydantic import ValidationError

from cardsharp.core.text_files import read_valid_json_text
from cardsharp.errors import ConfigError
from cardsharp_tools.cli.console import print_json, result_console
from cardsharp_tools.cli.options import CommandOptions, Json, MatchSourceName, Store
from cardsharp_tools.games.deadmansdraw.opponent_learning import (
    LearnedOpponentsFile,
    OpponentLearningPass,
    past_matches_by_opponent,
)
from cardsharp_tools.lab.native_engines import find_native_function
from cardsharp_tools.lab.options import Seed
from cardsharp_tools.match_sources.match_logs import data_folder
from cardsharp_tools.match_sources.sources import find_source
from cardsharp_tools.terminal.progress import ProgressBar

_MULTIPLE_OF_100 = validators.Number(gte=100, modulo=100)


@dataclass(frozen=True, kw_only=True)
class LearnOptions(CommandOptions):
    """Options of `learn-opponents`: the file, and limits of the work."""

    out: Path | None = None
    """The file of weights to update. Default: learned.json beside our match log."""
    matches: Annotated[int, Parameter(validator=_MULTIPLE_OF_100)] = 20_000
    """Number of matches per training, a multiple of 100."""
    seed: Seed = 1
    dry_run: bool = False
    """Only print what would change."""
    store: Store = None
    as_json: Json = False


def learn(source: MatchSourceName = None, /, *, options: LearnOptions = LearnOptions()) -> None:
    """Train weights against each opponent, test them, and promote or withdraw them."""
    specialists = _load_weight_trainer(options)
    file = options.out or data_folder() / "learned.json"
    learned, rows = _read_learned_opponents(file), list[dict[str, str]]()

    def say(name: str, stage: str, reason: str) -> None:
        rows.append({"opponent": name, "stage": stage, "why": reason})
        if not options.as_json:
            result_console().print(f"{name}: {stage}; {reason}", soft_wrap=True)

    learning = OpponentLearningPass(
        learned, specialists.train_weight_document, specialists.beats_captain_weights, say
    )
    with (
        find_source(source or options.store).open_reader() as log,
        ProgressBar(1, "reading the log"),
    ):
        met = past_matches_by_opponent(log)
    if not met:
        raise ConfigError(
            "The log has no finished match against an opponent. Play some matches first."
        )
    for key, (name, matches) in met.items():
        learning.continue_opponent_trial(key, name, matches)
        if not options.dry_run:  # the file stays whole where this is stopped
            partial_file = file.with_suffix(".part")
            partial_file.write_text(learned.model_dump_json(), "utf-8")
            partial_file.replace(file)
    if options.as_json:
        print_json({"file": str(file), "opponents": rows})
    elif learned.opponents and not options.dry_run:
        result_console().print(
            f"To play with these weights: cardsharp bot --strategy {file}", soft_wrap=True
        )


def _load_weight_trainer(options: LearnOptions) -> Any:  # noqa: ANN401 - cardsharp_tools.research is not imported
    twins = find_native_function("weight_trainer_against_opponent")
    specialists = None if twins is None else twins(options.seed, options.matches)
    if specialists is None:
        raise ConfigError("Training needs the compiled engine. Install a C compiler (cc).")
    return specialists


def _read_learned_opponents(file: Path) -> LearnedOpponentsFile:
    try:
        return (
            LearnedOpponentsFile.model_validate_json(read_valid_json_text(file))
            if file.exists()
            else LearnedOpponentsFile()
        )
    except ValidationError as error:
        raise ConfigError(
            f"{file} was not written by `learn-opponents`. Name another file with --out."
        ) from error

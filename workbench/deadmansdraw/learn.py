"""`cardsharp learn`: know opponents from the matches that were kept."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, validators
from pydantic import ValidationError

from cardsharp.errors import ConfigError
from cardsharp.text_files import read_json_text
from workbench.deadmansdraw.learning import Learned, Learning, opponents
from workbench.lab.options import Seed
from workbench.show.lookup import data_folder
from workbench.show.options import AnySource, CommandOptions, Json, Store
from workbench.show.output import print_json, results
from workbench.show.progress import Bar
from workbench.twins import twin_function
from workbench.watch.sources import source_of

_HUNDREDS = validators.Number(gte=100, modulo=100)


@dataclass(frozen=True, kw_only=True)
class LearnOptions(CommandOptions):
    """Where it is kept, and how much work it may be."""

    out: Path | None = None
    """The file to go on with; else learned.json beside our own log."""
    matches: Annotated[int, Parameter(validator=_HUNDREDS)] = 20_000
    """Matches of a training, whole hundreds."""
    seed: Seed = 1
    dry_run: bool = False
    """Say what would change, and write nothing."""
    store: Store = None
    as_json: Json = False


def learn(source: AnySource = None, /, *, options: LearnOptions = LearnOptions()) -> None:
    """Make, test, promote and roll back what is known of each opponent; raises `ConfigError`."""
    specialists = _specialists(options)
    file = options.out or data_folder() / "learned.json"
    learned, told = _read(file), list[dict[str, str]]()

    def say(name: str, stage: str, why: str) -> None:
        told.append({"opponent": name, "stage": stage, "why": why})
        if not options.as_json:
            results().print(f"{name}: {stage}; {why}", soft_wrap=True)

    learning = Learning(learned, specialists.make, specialists.gains, say)
    with source_of(source or options.store).reading() as log, Bar(1, "reading the log"):
        met = opponents(log)
    if not met:
        raise ConfigError("The log has no finished match against anybody; play some first.")
    for key, (name, matches) in met.items():
        learning.opponent(key, name, matches)
        if not options.dry_run:  # the file stays whole where this is stopped
            part = file.with_suffix(".part")
            part.write_text(learned.model_dump_json(), "utf-8")
            part.replace(file)
    if options.as_json:
        print_json({"file": str(file), "opponents": told})
    elif learned.opponents and not options.dry_run:
        results().print(f"{file} plays: cardsharp bot --strategy {file}", soft_wrap=True)


def _specialists(options: LearnOptions) -> Any:  # noqa: ANN401 - research is not imported
    twins = twin_function("specialists")
    found = None if twins is None else twins(options.seed, options.matches)
    if found is None:
        raise ConfigError("Learning trains by the compiled engine: install a C compiler (cc).")
    return found


def _read(file: Path) -> Learned:
    try:
        return Learned.model_validate_json(read_json_text(file)) if file.exists() else Learned()
    except ValidationError as error:
        raise ConfigError(f"{file} is no file that `learn` wrote; name another.") from error

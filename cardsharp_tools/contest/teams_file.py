"""Files of teams in CSV with a line of column titles, as spreadsheets and editors save them."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cardsharp.core.text_files import read_text
from cardsharp.errors import ConfigError
from cardsharp_tools.executors.strategy_reference import StrategyReference, parse_strategy

NAME, STRATEGY = "name", "strategy"
EXAMPLE = f"{NAME},{STRATEGY}"

_SEPARATOR_NAMES = {",": "comma", ";": "semicolon", "\t": "tab"}
_SEPARATOR_LINE_PATTERN = re.compile(r"sep=([,;\t])")  # first line that tells Excel the separator


class TeamRow(NamedTuple):
    """A team of a file: its name, the strategy that plays for it, if any, and its line number."""

    name: str
    strategy: StrategyReference | None
    line: int


class TeamsFile(NamedTuple):
    """The teams of a file; `encoding` is the guessed encoding, or None if it was certain."""

    rows: tuple[TeamRow, ...]
    encoding: str | None


class _CsvLine(NamedTuple):
    number: int
    cells: list[str]


def read_teams(file: Path) -> TeamsFile:
    """Return the teams of a CSV file with a column `name` and perhaps one `strategy`.

    Commas, semicolons or tabs separate its cells. Case and spaces in the titles, empty lines and
    other columns are ignored. Raises `ConfigError`, with the line, if a row cannot be read; no row
    is skipped.
    """
    decoded = read_text(file, guess=True)
    lines = decoded.lines
    skipped = next((line_index for line_index, line in enumerate(lines) if line.strip()), None)
    if skipped is None:
        raise ConfigError(
            f"{file} is empty. Write {EXAMPLE} into its first line, and then a line for each team."
        )
    match = _SEPARATOR_LINE_PATTERN.fullmatch(lines[skipped].strip(" "))
    skipped += match is not None
    separator = match[1] if match else _detect_separator("".join(lines[skipped:][:1]))
    header, *rest = _parse_lines(file, lines, skipped, separator)
    rows = tuple(_parse_team_rows(file, header, rest, separator))
    if not rows:
        raise ConfigError(
            f"{file} has a title line but no team. Write a line for each team below line "
            f"{header.number}."
        )
    return TeamsFile(rows, decoded.encoding if decoded.is_guess else None)


def _detect_separator(header: str) -> str:
    """Return the separator that yields a title `name`, else the most frequent separator."""
    return max(
        _SEPARATOR_NAMES,
        key=lambda separator: (
            NAME in _normalize_titles(header.split(separator)),
            header.count(separator),
        ),
    )


def _normalize_titles(cells: list[str]) -> list[str]:
    return [cell.strip().strip('"').strip().casefold() for cell in cells]


def _parse_lines(
    file: Path, lines: list[str], skipped_line_count: int, separator: str
) -> list[_CsvLine]:
    """Return the lines that are not empty, the line of the titles first.

    Each line has its number in the file and its stripped cells.
    """
    reader = csv.reader(
        (f"{line}\n" for line in lines[skipped_line_count:]),
        delimiter=separator,
        skipinitialspace=True,
        strict=True,
    )
    parsed, line_number = list[_CsvLine](), skipped_line_count + 1
    try:
        for cells in reader:
            parsed.append(_CsvLine(line_number, [cell.strip() for cell in cells]))
            line_number = skipped_line_count + reader.line_num + 1
    except csv.Error:
        raise ConfigError(
            f"{file}, line {line_number}, has a quotation mark without a second one. "
            "Write a name that "
            'contains quotation marks as "Ann ""Ace"" Lee", or remove the marks.'
        ) from None
    return [line for line in parsed if any(line.cells)] or [_CsvLine(skipped_line_count + 1, [])]


def _parse_team_rows(
    file: Path, header: _CsvLine, lines: list[_CsvLine], separator: str
) -> Iterator[TeamRow]:
    """Yield the teams of the lines; raise `ConfigError` for a title or line that is invalid."""
    titles, location = _normalize_titles(header.cells), f"{file}, line {header.number},"
    if titles.count(NAME) != 1 or titles.count(STRATEGY) > 1:
        twice = next((title for title in (NAME, STRATEGY) if titles.count(title) > 1), None)
        if twice is not None:
            raise ConfigError(f"{location} has the column `{twice}` twice. Remove one of them.")
        columns = ", ".join(f"`{cell}`" for cell in header.cells if cell) or "nothing"
        raise ConfigError(
            f"{location} needs a column `{NAME}` but has {columns}. Write {EXAMPLE} there."
        )
    column, line_numbers = titles.index(NAME), dict[str, int]()
    for line in lines:
        location = f"{file}, line {line.number},"
        if len(line.cells) > len(titles) and any(line.cells[len(titles) :]):
            raise ConfigError(
                f"{location} has {len(line.cells)} cells, but line {header.number} has "
                f"{len(titles)} "
                f"titles. Put a name that contains a {_SEPARATOR_NAMES[separator]} in "
                "quotation marks: "
                f'"Lee{separator} Ann".'
            )
        cells = dict(zip(titles, line.cells, strict=False))
        name = cells.get(NAME, "")
        if not name:
            raise ConfigError(
                f"{location} has no name in column {column + 1}. Write one, or remove the line."
            )
        if name in line_numbers:
            raise ConfigError(
                f"{location} has the same name as line {line_numbers[name]}: {name}. Give "
                "each team a name "
                "of its own."
            )
        line_numbers[name] = line.number
        text = cells.get(STRATEGY)
        yield TeamRow(name, parse_strategy(text) if text else None, line.number)

"""Long lists in columns, printed page by page: a table of rich takes a millisecond a row."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from cardsharp_tools.cli.console import replace_control_char

_PAGE_ROWS = 500  # rows whose cells decide how wide the columns are
_MIN_FOLDED_WIDTH = 8  # columns of the terminal that a folded text gets at least


class ListColumn(NamedTuple):
    """Column of a list: its title, and how its cells are laid out.

    A cell of the one `is_folded` column takes several lines if the console is too narrow for it.
    """

    title: str
    is_right_aligned: bool = False
    is_folded: bool = False


def print_list(
    console: Console, columns: Sequence[ListColumn], rows: Iterable[Sequence[str]], gap: int
) -> None:
    """Print rows of cells below the titles of their columns, with `gap` spaces between two.

    A later page may widen the columns.
    """
    widths = [cell_len(column.title) for column in columns]
    remaining = iter(rows)
    is_first = True
    while page := [[*map(_printable, row)] for row in islice(remaining, _PAGE_ROWS)]:
        widths = [
            max(width, *map(cell_len, cells))
            for width, cells in zip(widths, zip(*page, strict=True), strict=True)
        ]
        widths = _fit_widths(columns, widths, console.width, gap)
        if is_first:
            titles = [column.title for column in columns]
            for line in _row_lines(console, columns, titles, widths, gap):
                console.print(
                    Text(line, "table.header"), no_wrap=True, overflow="ignore", crop=False
                )
        is_first = False
        lines = (line for row in page for line in _row_lines(console, columns, row, widths, gap))
        console.file.write("".join(f"{line}\n" for line in lines))


def _printable(cell: str) -> str:
    return cell if cell.isprintable() else "".join(map(replace_control_char, cell))


def _fit_widths(
    columns: Sequence[ListColumn], widths: Sequence[int], total: int, gap: int
) -> list[int]:
    """Return the widths; that of the folded column is at most what the other columns leave."""
    other_width = sum(
        width for column, width in zip(columns, widths, strict=True) if not column.is_folded
    )
    available = max(total - other_width - gap * (len(columns) - 1), _MIN_FOLDED_WIDTH)
    return [
        min(width, available) if column.is_folded else width
        for column, width in zip(columns, widths, strict=True)
    ]


def _row_lines(
    console: Console,
    columns: Sequence[ListColumn],
    row: Sequence[str],
    widths: Sequence[int],
    gap: int,
) -> Iterator[str]:
    """Yield the lines of a row: one, or several if a cell is folded."""
    folded = [
        _fold(console, cell, width) if column.is_folded else [cell]
        for column, cell, width in zip(columns, row, widths, strict=True)
    ]
    for line_number in range(max(map(len, folded))):
        cells = (lines[line_number] if line_number < len(lines) else "" for lines in folded)
        yield (
            (" " * gap)
            .join(
                _align(cell, width, is_right_aligned=column.is_right_aligned)
                for column, cell, width in zip(columns, cells, widths, strict=True)
            )
            .rstrip()
        )


def _align(cell: str, width: int, *, is_right_aligned: bool) -> str:
    padding = " " * (width - cell_len(cell))
    return f"{padding}{cell}" if is_right_aligned else f"{cell}{padding}"


def _fold(console: Console, text: str, width: int) -> list[str]:
    """Return the lines of a text that is broken between its words, or within a long one."""
    if cell_len(text) <= width:
        return [text]
    if text.isascii():
        return textwrap.wrap(text, width, break_on_hyphens=False)
    return [line.plain.rstrip() for line in Text(text).wrap(console, width, overflow="fold")]

"""Long lists in columns: the layout is that of a table, and each page takes little time."""

import io

import pytest
from rich.console import Console

from cardsharp_tools.terminal.column_list import ListColumn, print_list

COLUMNS = (
    ListColumn("match"),
    ListColumn("players", is_folded=True),
    ListColumn("score", is_right_aligned=True),
)


def list_text(rows: list[tuple[str, str, str]], width: int = 40) -> str:
    """Return the text of a list on a console of that width."""
    output = io.StringIO()
    print_list(Console(file=output, width=width), COLUMNS, rows, gap=2)
    return output.getvalue()


def test_cells_are_aligned_and_a_long_one_is_folded_between_its_words() -> None:
    rows = [("m1", "Ann v Ben", "7 : 3"), ("m2", "The Long Winded Team v Ann", "12 : 30")]
    assert list_text(rows, 32) == (
        "match  players             score\n"
        "m1     Ann v Ben           7 : 3\n"
        "m2     The Long Winded   12 : 30\n"
        "       Team v Ann\n"
    )


@pytest.mark.parametrize("name", ["七" * 12, "x" * 24])
def test_a_word_that_is_too_long_is_broken_at_the_edge(name: str) -> None:
    """A wide character takes two columns of the terminal."""
    lines = list_text([("m1", name, "1 : 0")], 32).splitlines()
    assert len(lines) == 3
    assert "".join(line[7:].split("1 : 0")[0].strip() for line in lines[1:]) == name


def test_a_name_cannot_control_the_terminal_or_begin_a_line() -> None:
    assert list_text([("m1", "a\x1b[2Jb\nc", "1 : 0")]).count("\n") == 2
    assert "\x1b" not in list_text([("m1", "a\x1b[2Jb", "1 : 0")])


def test_every_page_is_printed_and_a_later_one_may_widen_the_columns() -> None:
    rows = [("m", "a", "1 : 0")] * 1200 + [("a-longer-id", "b", "1 : 0")]
    lines = list_text(rows).splitlines()
    assert len(lines) == 1202
    assert lines[-1] == "a-longer-id  b        1 : 0"


def test_a_list_without_rows_prints_nothing() -> None:
    assert list_text([]) == ""

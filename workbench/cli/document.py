"""Writes the table of commands in docs/cli.md: `python -m workbench.cli.document`."""

from pathlib import Path

from workbench.cli.commands import RESEARCH, ROOMS, all_commands

PAGE = Path(__file__).parents[2] / "docs" / "cli.md"
A_GAME = ("GAME", "A game's own, by its name: `deadmansdraw`, `blef`, `euchre` or yours.")
"""One line for all games, so that mounting another leaves the page true."""

BEGIN, END = "<!-- written by python -m workbench.cli.document -->\n", "<!-- end -->"


def written() -> str:
    """The page, with the table between its marks as the commands are today."""
    before, rest = PAGE.read_text("utf-8").split(BEGIN)
    rows = [(one.name, one.summary) for one in all_commands()]
    rows += [(name, summary) for name, _, summary in (*ROOMS, RESEARCH)]
    rows.append(A_GAME)
    lines = [f"| `cardsharp {name}` | {summary} |" for name, summary in rows]
    table = "\n".join(["| command | |", "|---|---|", *lines])
    return f"{before}{BEGIN}{table}\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(written(), "utf-8")

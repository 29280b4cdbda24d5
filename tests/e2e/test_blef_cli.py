"""`cardsharp blef` as anybody would run it."""

import signal

import requests
from support.cli import Cli, line_with, program

from workbench.show.exits import Exit


def test_its_help_teaches_with_examples(cli: Cli) -> None:
    said = cli("blef", "--help")
    assert said.code == Exit.OK
    for words in ("serve", "versus", "duel", "cardsharp blef versus --bots 3", "--json"):
        assert words in said.out


def test_a_duel_prints_a_share_with_its_interval(cli: Cli) -> None:
    said = cli("blef", "duel", "greedy", "random", "--games", "10", "--seed", "2")
    assert said.code == Exit.OK
    assert "of the points in 10 matches (95 %: " in said.out
    figures = cli("blef", "duel", "greedy", "random", "-n", "10", "--seed", "2", "--json").json()
    low, high = figures["interval"]
    assert low <= figures["won"] <= high
    assert cli("blef", "duel", "greedy", "gready").code == Exit.USAGE


def test_serve_says_where_it_is_and_answers_until_ctrl_c(cli: Cli) -> None:
    del cli
    with program("blef", "serve", "--port", "0") as process:
        url = line_with(process.stdout, "Blef at ").split()[2].rstrip(",")
        assert requests.post(f"{url}/games/create", timeout=10).status_code == 200
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=15)
        assert "Blef is closed" in rest
        assert errors == ""
        assert process.returncode == 0


def test_strategies_are_listed(cli: Cli) -> None:
    assert cli("blef", "strategies", "--json").json() == [
        "bayes",
        "greedy",
        "random",
        "solved",
        "threshold",
    ]

"""The commands of Euchre as a user calls them, and a server that is killed under its clients."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from cardsharp.euchre.actions import Action, Question
from cardsharp.euchre.rules import start, turn
from cardsharp.euchre.state import Deal
from cardsharp.euchre.strategies import build
from workbench.euchre.commands import app
from workbench.euchre.coordinator import StrategyPlayer, play_deal, play_game, shuffled
from workbench.euchre.remote import RemotePlayer
from workbench.euchre.terminal import TerminalPlayer, shown


def command(*arguments: str) -> object:
    return app(list(arguments), exit_on_error=False, result_action="return_value")


class Server:
    """`cardsharp euchre serve` in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._arguments = [
            *(sys.executable, "-m", "workbench.euchre.commands", "serve", "--port", "0"),
            *("--strategy", "rules"),
            *("--store", f"sqlite:{folder}/deals.db", "--log", f"{folder}/euchre.log"),
        ]
        self.log = folder / "euchre.log"
        self.url = self.start()

    def start(self) -> str:
        """Start; the address."""
        self._process = subprocess.Popen(  # noqa: S603 - our own command
            self._arguments, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr is not None
        line = self._process.stderr.readline()
        assert " answers at " in line, line
        self.url = line.partition(" answers at ")[2].split()[0]
        return self.url

    def kill(self) -> None:
        """End without a chance to tidy up."""
        self._process.kill()
        self._process.wait()
        assert self._process.stderr is not None
        self._process.stderr.close()


@contextmanager
def serving(folder: Path) -> Iterator[Server]:
    server = Server(folder)
    try:
        yield server
    finally:
        server.kill()


class Restarting:
    """A remote player whose server is killed and started again before some decisions."""

    def __init__(self, remote: RemotePlayer, server: Server, before: set[int]) -> None:
        self.remote, self.server, self.before = remote, server, before
        self.begin, self.end = remote.begin, remote.end
        self.asked = 0

    def decide(self, deal: Deal, seat: int) -> Action:
        self.asked += 1
        if self.asked in self.before:
            self.server.kill()
            self.remote.base = self.server.start()
        return self.remote.decide(deal, seat)


def test_a_killed_server_goes_on_where_it_was_and_explains_each_decision(tmp_path: Path) -> None:
    """`kill -9` in the bidding and in the card play: the deal is the one without."""
    rules = StrategyPlayer(build("rules"))
    cards = shuffled(Random(4))
    expected, _ = play_deal(cards, (rules, rules, rules, rules))
    with serving(tmp_path) as server, RemotePlayer(server.url) as remote:
        player = Restarting(remote, server, {2, 7})
        assert play_deal(cards, (player, rules, player, rules))[0] == expected
    lines = [json.loads(line) for line in server.log.read_text("utf-8").splitlines()]
    decisions = [line for line in lines if line.get("message") == "decision"]
    assert len(decisions) == player.asked
    assert {line["question"] for line in decisions} >= {"bid", "play"}
    for line in decisions:
        assert line["reason"]
        assert {"seat", "answer", "candidates", "worlds", "decision_ms", "deal_num"} <= set(line)
        assert "fault" not in line


def test_duel_tells_who_won(capsys: pytest.CaptureFixture[str]) -> None:
    command("duel", "rules", "random", "--games", "10")
    assert "rules won 100.0% of 10 games against random" in capsys.readouterr().out
    command("duel", "rules", "random", "--games", "4", "--json")
    report = json.loads(capsys.readouterr().out)
    assert report["games"] == 4
    assert report["sides"][0]["calls"] > 0


def test_duel_plays_a_service_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(tmp_path) as server:
        command("duel", "ours", "random", "--games", "2", "--url", server.url, "--json")
    over_http = json.loads(capsys.readouterr().out)
    command("duel", "rules", "random", "--games", "2", "--json")
    inside = json.loads(capsys.readouterr().out)
    assert {**over_http, "players": []} == {**inside, "players": []}


def test_probe_finds_nothing_in_a_fair_player(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("probe", "--strategy", "rules", "--deals", "2", "--json") == 0
    assert [one["changed"] for one in json.loads(capsys.readouterr().out)] == [0] * 5


def test_the_players_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    command("strategies")
    assert {"pimc", "random", "rules"} <= set(capsys.readouterr().out.split())


def test_a_person_plays_a_whole_game_by_number() -> None:
    """Somebody who always types the last number sees the table and gets to the end."""
    asked: list[str] = []
    told: list[str] = []

    def answer(prompt: str) -> str:
        asked.append(prompt)
        return prompt.rpartition("-")[2].rstrip("] ")

    you = TerminalPlayer(answer, told.append)
    rules = StrategyPlayer(build("rules"))
    game = play_game((you, rules, rules, rules), Random(2), you.result)
    text = "\n".join(told)
    assert {prompt.partition("?")[0] for prompt in asked} >= {"Your bid", "Your card"}
    assert f"The score: you {game.points[0]}, the others {game.points[1]}." in text
    assert text.count("New deal") == game.deals


def test_a_person_who_mistypes_is_asked_again() -> None:
    answers = iter(["", "x", "0", "99", "1"])
    told: list[str] = []
    you = TerminalPlayer(lambda _: next(answers), told.append)
    deal = first_question(you)
    assert turn(deal.table) == (0, Question.BID)
    assert told.count("Please type a number from 1 to 3.") == 4


def first_question(you: TerminalPlayer) -> Deal:
    deal = start(shuffled(Random(1)))
    you.begin(deal, frozenset({0, 2}))
    you.decide(deal, 0)
    return deal


def test_a_person_is_never_shown_what_the_seat_cannot_see() -> None:
    """Before the first card, only the own hand and the turn card are on the screen."""
    told: list[str] = []
    you = TerminalPlayer(lambda _: "1", told.append)
    deal = first_question(you)
    own = {shown(card) for card in (*deal.cards[:5], deal.cards[20])}
    others = {shown(card) for card in deal.cards} - own
    assert not any(card in line for card in others for line in told)

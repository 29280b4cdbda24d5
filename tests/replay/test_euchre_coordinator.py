"""Our player behind HTTP is sent what the real client sent (docs/spec/euchre.md section 4)."""

import json
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs

import requests
from support.euchre_api import Service, direct_player
from support.euchre_random import play_deal
from support.euchre_traffic import Recorded, Truth, truths
from support.euchre_traffic import requests as recorded_requests

from cardsharp.euchre.actions import PASS, Action
from cardsharp.euchre.simulation import Match
from cardsharp.euchre.strategies import Decision
from workbench.euchre.remote import SeatedPlayer

SHARED = ("A ", "B ", "E ")
"""The scenarios with one token for both partners, played by the framework itself."""


class Script:
    """What was decided in a deal, in order: a player that repeats it."""

    def __init__(self, truth: Truth) -> None:
        self.actions = iter(truth.actions)
        self.now: Action = PASS

    def decide(self, _match: Match) -> Action:
        self.now = next(self.actions)
        return self.now

    def ended(self, match: Match) -> None:
        pass


class Scripted:
    """A remote player whose service, of that strategy, answers by the script."""

    def __init__(self, player: SeatedPlayer, script: Script) -> None:
        self.player, self.script = player, script
        self.ended = player.ended

    def decide(self, match: Match) -> Action:
        self.script.decide(match)
        return self.player.decide(match)


def deals() -> Iterator[tuple[Truth, list[Recorded]]]:
    """Each deal of those scenarios with its requests."""
    found: list[Recorded] = []
    for one in recorded_requests():
        if one.path == "/deal" and one.method == "POST":
            found = []
        found.append(one)
        if one.path == "/deal" and one.method == "PATCH":
            cards = json.loads(found[0].body or "{}")["cards"]
            truth = truths()[tuple(cards)]
            if truth.raw["scenario"].startswith(SHARED):
                yield truth, found


def comparable(method: str, target: str, body: str | bytes | None) -> tuple[object, ...]:
    """A request without what is free: the order of keys and of offered cards."""
    path, _, query = target.partition("?")
    values = {name: sorted(given) for name, given in parse_qs(query).items()}
    return method, path, values, json.loads(body) if body else None


def test_every_deal_of_a_shared_token_is_sent_as_the_client_sent_it() -> None:
    count = 0
    for truth, recorded in deals():
        sent: list[tuple[object, ...]] = []

        def watch(request: requests.PreparedRequest, sent: list[tuple[object, ...]] = sent) -> None:
            sent.append(comparable(str(request.method), request.path_url, request.body))

        script = Script(truth)
        prompted: Any = SimpleNamespace(decide=lambda _, script=script: Decision(script.now, "So."))
        token, number = recorded[0].answer["token"], recorded[0].answer["dealNum"]
        remote, adapter = direct_player(Service(prompted), token)
        remote._known, remote._deal_number = True, number - 1
        adapter.watch = watch
        ours = tuple(int(seat) for seat in truth.raw["tokens"])
        team = Scripted(remote.seated(ours), script)
        play_deal(truth.cards, [team if seat in ours else script for seat in range(4)])
        assert sent == [comparable(one.method, one.target, one.body) for one in recorded]
        count += 1
    assert count > 30

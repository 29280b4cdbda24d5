"""The arena replays every recorded match of the real server over HTTP."""

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.arena_server import (
    ADMIN,
    ArenaHttpClient,
    HttpResponse,
    InProcessClient,
    ManualClock,
    arena_config,
    canonical_json,
    mask_ids_and_times,
    without_secrets,
)
from support.recordings import (
    ALL_RECORDED,
    RecordedMatches,
    annotate_with_match,
    parametrize_sample_and_all,
)

from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp_tools.local_server.arena_server import ArenaServer

ENGINE_TEXTS = ("Unexpected token", "Expected ','", "The expression evaluated to a falsy value")
"""Texts of the original's JavaScript engine, which differ (docs/spec/arena.md section 10)."""

Setting = tuple[ArenaHttpClient, ManualClock]


@pytest.fixture
def setting(matches: RecordedMatches, tmp_path: Path) -> Iterator[Setting]:
    """Client and clock of an arena: over a socket for the full recording, else in process."""
    clock = ManualClock()
    config = arena_config(tmp_path, randomness=RandomnessMethod.ORIGINAL, clock=clock)
    with ExitStack() as stack:
        if matches is ALL_RECORDED:
            client = ArenaHttpClient(stack.enter_context(ArenaServer(config)).url)
        else:
            client = InProcessClient(config)
        stack.callback(client.close)
        yield client, clock


class Replay:
    """One recorded match, played again request by request."""

    def __init__(self, setting: Setting, trace: dict[str, Any]) -> None:
        self.client, self.clock = setting
        self.trace = trace
        self.creator = trace["create"]["as"]
        self.match_id = "no match"
        self.path = ""
        self.steps = 0
        self.moves: list[Any] = []
        self.view: dict[str, Any] = {}

    def play(self) -> int:
        """Play and compare everything, and return the number of steps."""
        create = self.trace["create"]
        # Where the server made the seed itself, the replay asks for that seed.
        seed = create["response"].get("randomSeed")
        body = create["body"] if seed is None else {"randomSeed": seed, **create["body"]}
        answer = self.client.post("/api/matches", self.creator, body)
        if answer.status == 200:
            self.match_id = answer.json()["id"]
            self.path = f"/api/matches/{self.match_id}"
        self.same(answer, create)
        if create["status"] == 200:
            initial = self.get("?showevents=1&showdebug=1", self.creator)
            self.same_view(initial.json(), self.trace["initial"], self.creator)
            for step in self.trace["steps"]:
                self.step(step)
            self.compare_final()
        return self.steps

    def get(self, query: str, user: str) -> HttpResponse:
        return self.client.get(self.path + query, user)

    def same(self, answer: HttpResponse, recorded: dict[str, Any]) -> None:
        """Assert equal status and body; for errors in the engine's words only the status."""
        body = recorded["response"] if "response" in recorded else recorded["body"]
        text = mask_ids_and_times(answer.text, self.match_id)
        engine = isinstance(body, dict) and str(body.get("error")).startswith(ENGINE_TEXTS)
        assert answer.status == recorded["status"], f"{text[:300]} {recorded}"
        assert engine or text == canonical_json(body)

    def same_view(self, view: object, recorded: dict[str, Any], viewer: str) -> None:
        expected = recorded if viewer in (self.creator, ADMIN) else without_secrets(recorded)
        assert mask_ids_and_times(canonical_json(view), self.match_id) == canonical_json(expected)

    def step(self, step: dict[str, Any]) -> None:
        """Compare the table before a step, then the answer to the step."""
        if "wait_s" in step:
            self.clock.advance(timedelta(seconds=step["wait_s"]))
            return
        self.steps += 1
        self.compare_look(step)
        if step.get("watchdog"):
            tag = self.trace["create"]["body"]["tags"][-1]
            answer = self.client.post(f"/api/matches/watchdog?tags={tag}", ADMIN)
            listed_matches = [match for match in answer.json() if match["_id"] == self.match_id]
            # Not as text: here alone the original has timeoutCount and winnerIdx in turned order.
            assert (
                json.loads(mask_ids_and_times(canonical_json(listed_matches), self.match_id))
                == step["response"]
            )
            return
        raw = step.get("raw_body")
        body = step["action"] if raw is None else raw.encode()
        self.same(self.client.post(self.path, step["as"], body), step)

    def compare_look(self, look: dict[str, Any]) -> None:
        """Compare the creator's view of the table, with the piles, and the active player's view."""
        if look["view"] != "same":
            self.view = look["view"]
        self.moves += look["new_moves"]
        debug = self.get("?showdebug=1", self.creator).json()
        pile = [f"{card['suit']}{card['value']}" for card in debug["state"].pop("discardPile")]
        assert pile == look["discardPile"]
        remaining_pile = [
            f"{card['suit']}{card['value']}" for card in debug["state"].pop("drawPile")
        ]
        assert (
            remaining_pile == self.trace["deck"][len(self.trace["deck"]) - look["drawPileLeft"] :]
        )
        del debug["moves"]
        self.same_view(debug, self.view, self.creator)
        active = look["active"]
        mover = self.creator if active is None else self.trace["players"][active]
        # A player's view differs only by what is hidden: once a turn is enough, and in time.
        if mover != self.creator and self.view["moveCountInTurn"] in (None, 1):
            view = self.get("", mover).json()
            del view["moves"]
            self.same_view(view, self.view, mover)

    def compare_final(self) -> None:
        final, first = self.trace["final"], self.trace["players"][0]
        self.compare_look(final["last_look"])
        history = self.get("?showevents=1", first).json()["moves"]
        self.same_view({"moves": history}, {"moves": self.moves}, first)
        for number, player in enumerate(self.trace["players"]):
            for query, name in (("", f"get_p{number}"), ("?waitactive=1", f"waitactive_p{number}")):
                if name in final:
                    view = self.get(query, player)
                    assert view.status == final[name]["status"]
                    self.same_view(view.json(), final[name]["body"], player)
        self.same(self.get("?condensed=1", first), final["condensed"])
        if "post_after_end" in final:
            answer = self.client.post(self.path, first, {"etype": "Draw"})
            self.same(answer, final["post_after_end"])


@parametrize_sample_and_all(pytest.mark.slow)
def test_every_recorded_match_replays_over_http(setting: Setting, matches: RecordedMatches) -> None:
    """Statuses, bodies and views of all recorded requests are equal, keys in the same order."""
    steps = 0
    for trace in matches.all():
        with annotate_with_match(trace):
            steps += Replay(setting, trace).play()
    assert steps > matches.min_step_count

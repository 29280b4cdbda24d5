"""Recorded matches of the real arena, replayed against ours over HTTP."""

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
    ArenaHttpResponse,
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

ClientAndClock = tuple[ArenaHttpClient, ManualClock]


@pytest.fixture
def client_and_clock(matches: RecordedMatches, tmp_path: Path) -> Iterator[ClientAndClock]:
    """Yield client and clock of an arena: over a socket for all recordings, else in process."""
    clock = ManualClock()
    config = arena_config(tmp_path, randomness=RandomnessMethod.ORIGINAL, clock=clock)
    with ExitStack() as stack:
        if matches is ALL_RECORDED:
            client = ArenaHttpClient(stack.enter_context(ArenaServer(config)).url)
        else:
            client = InProcessClient(config)
        stack.callback(client.close)
        yield client, clock


class MatchReplay:
    """Recorded match that is replayed request by request."""

    def __init__(self, client_and_clock: ClientAndClock, trace: dict[str, Any]) -> None:
        self.client, self.clock = client_and_clock
        self.trace = trace
        self.creator = trace["create"]["as"]
        self.match_id = "no match"
        self.path = ""
        self.step_count = 0
        self.moves: list[Any] = []
        self.view: dict[str, Any] = {}

    def play(self) -> int:
        """Replay the match, compare every response, and return the number of steps."""
        create = self.trace["create"]
        # Where the server made the seed itself, the replay asks for that seed.
        seed = create["response"].get("randomSeed")
        body = create["body"] if seed is None else {"randomSeed": seed, **create["body"]}
        response = self.client.post("/api/matches", self.creator, body)
        if response.status == 200:
            self.match_id = response.json()["id"]
            self.path = f"/api/matches/{self.match_id}"
        self.compare_response(response, create)
        if create["status"] == 200:
            initial = self.get("?showevents=1&showdebug=1", self.creator)
            self.compare_view(initial.json(), self.trace["initial"], self.creator)
            for step in self.trace["steps"]:
                self.replay_step(step)
            self.compare_final()
        return self.step_count

    def get(self, query: str, user: str) -> ArenaHttpResponse:
        return self.client.get(self.path + query, user)

    def compare_response(self, response: ArenaHttpResponse, recorded: dict[str, Any]) -> None:
        """Assert equal status and body; compare only the status for the engine's error texts."""
        body = recorded["response"] if "response" in recorded else recorded["body"]
        text = mask_ids_and_times(response.text, self.match_id)
        is_engine_error = isinstance(body, dict) and str(body.get("error")).startswith(ENGINE_TEXTS)
        assert response.status == recorded["status"], f"{text[:300]} {recorded}"
        assert is_engine_error or text == canonical_json(body)

    def compare_view(self, view: object, recorded: dict[str, Any], viewer: str) -> None:
        expected = recorded if viewer in (self.creator, ADMIN) else without_secrets(recorded)
        assert mask_ids_and_times(canonical_json(view), self.match_id) == canonical_json(expected)

    def replay_step(self, step: dict[str, Any]) -> None:
        """Compare the state before a step, then the response to the step."""
        if "wait_s" in step:
            self.clock.advance(timedelta(seconds=step["wait_s"]))
            return
        self.step_count += 1
        self.compare_poll(step)
        if step.get("watchdog"):
            tag = self.trace["create"]["body"]["tags"][-1]
            response = self.client.post(f"/api/matches/watchdog?tags={tag}", ADMIN)
            listed_matches = [match for match in response.json() if match["_id"] == self.match_id]
            # Not as text: here alone the original has timeoutCount and winnerIdx in turned order.
            assert (
                json.loads(mask_ids_and_times(canonical_json(listed_matches), self.match_id))
                == step["response"]
            )
            return
        raw_body = step.get("raw_body")
        body = step["action"] if raw_body is None else raw_body.encode()
        self.compare_response(self.client.post(self.path, step["as"], body), step)

    def compare_poll(self, poll: dict[str, Any]) -> None:
        """Compare the creator's view, with the piles, and the active player's view."""
        if poll["view"] != "same":
            self.view = poll["view"]
        self.moves += poll["new_moves"]
        debug_view = self.get("?showdebug=1", self.creator).json()
        pile = [f"{card['suit']}{card['value']}" for card in debug_view["state"].pop("discardPile")]
        assert pile == poll["discardPile"]
        remaining_pile = [
            f"{card['suit']}{card['value']}" for card in debug_view["state"].pop("drawPile")
        ]
        assert (
            remaining_pile == self.trace["deck"][len(self.trace["deck"]) - poll["drawPileLeft"] :]
        )
        del debug_view["moves"]
        self.compare_view(debug_view, self.view, self.creator)
        active = poll["active"]
        active_player = self.creator if active is None else self.trace["players"][active]
        # A player's view differs only by what is hidden: once a turn is enough, and in time.
        if active_player != self.creator and self.view["moveCountInTurn"] in (None, 1):
            view = self.get("", active_player).json()
            del view["moves"]
            self.compare_view(view, self.view, active_player)

    def compare_final(self) -> None:
        final, first_player = self.trace["final"], self.trace["players"][0]
        self.compare_poll(final["last_look"])
        history = self.get("?showevents=1", first_player).json()["moves"]
        self.compare_view({"moves": history}, {"moves": self.moves}, first_player)
        for number, player in enumerate(self.trace["players"]):
            for query, name in (("", f"get_p{number}"), ("?waitactive=1", f"waitactive_p{number}")):
                if name in final:
                    view = self.get(query, player)
                    assert view.status == final[name]["status"]
                    self.compare_view(view.json(), final[name]["body"], player)
        self.compare_response(self.get("?condensed=1", first_player), final["condensed"])
        if "post_after_end" in final:
            response = self.client.post(self.path, first_player, {"etype": "Draw"})
            self.compare_response(response, final["post_after_end"])


@parametrize_sample_and_all(pytest.mark.slow)
def test_every_recorded_match_replays_over_http(
    client_and_clock: ClientAndClock, matches: RecordedMatches
) -> None:
    """Statuses, bodies and views of all recorded requests are equal, keys in the same order."""
    step_count = 0
    for trace in matches.all_matches():
        with annotate_with_match(trace):
            step_count += MatchReplay(client_and_clock, trace).play()
    assert step_count > matches.min_step_count

"""Request and response pairs recorded on the original arena, replayed against ours."""

import base64
import json
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from requests import Request, Session
from requests.auth import HTTPDigestAuth
from support.arena_server import (
    ADMIN,
    ADMIN_PASSWORD,
    DUMMY,
    ArenaHttpClient,
    ArenaHttpResponse,
    ManualClock,
    body_visible_to,
    canonical_json,
)
from support.cloud_arena import ArenaFactory
from support.recordings import (
    ALL_RECORDED_PAIRS,
    SAMPLE_PAIRS,
    RecordedMatches,
    parametrize_sample_and_all,
)
from support.waiting import HANG_SECONDS, wait_until

from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod
from cardsharp_tools.local_server.arena_server import ArenaServer

Json = dict[str, Any]

HEADERS_BY_VALUE = (
    "content-type",
    "allow",
    "location",
    "x-result-id",
    "x-slowdown-limit",
    "retry-after",
)
HEADERS_BY_PRESENCE = ("etag", "x-slowdown-remaining", "x-slowdown-reset")

_VOLATILE = (
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z"), "<T>"),
    (re.compile(r"after [\d.]+ seconds"), "after <S> seconds"),
    (re.compile(r'"dbname":"[^"]*"'), '"dbname":"<db>"'),
    (re.compile(r"\b(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} \d\d \d{4}\b"), "<DAY>"),
)


def user_of(recorded_user: str | None) -> tuple[str, str] | None:
    """Return id and password of a user of the recording, None for no user."""
    if recorded_user is None:
        return None
    name = recorded_user.removeprefix("digest:").removesuffix("!wrong")
    credentials = {
        "admin": (ADMIN, ADMIN_PASSWORD),
        "dummy": (DUMMY, "dummypass"),
        "ghost": ("f" * 24, "x"),
    }
    user, password = credentials.get(name) or (
        f"6364383800000000000000{int(name[1:]):02x}",
        f"pw{name[1:]}",
    )
    return user, "wrong" if recorded_user.endswith("!wrong") else password


def write_players(folder: Path) -> Path:
    """Write the players' file of the recording, and return its path."""
    path = folder / "players.json"
    names = {"dummy": "Dummy"} | {f"p{number}": f"P{number}" for number in range(24)}
    records = []
    for recorded_user, name in names.items():
        user, password = user_of(recorded_user) or ("", "")
        email = f"{'d' if recorded_user == 'dummy' else recorded_user}@x"
        record = {"_id": user, "name": name, "password": password}
        records.append({**record, "email": email, "country": "hu"})
    path.write_text(json.dumps(records))
    return path


@dataclass
class PairSequence:
    """Pairs that depend on each other, with the ids, seeds and ETag received so far."""

    arena: ArenaServer
    clock: ManualClock
    ids: dict[str, str] = field(default_factory=dict)
    seeds: dict[str, str] = field(default_factory=dict)
    etag: str = ""

    def send_pair(self, pair: Json) -> ArenaHttpResponse:
        """Send a pair's request and return our response, the last one of a repeated request."""
        self.clock.advance(timedelta(seconds=pair.get("sleep", 0)))
        path, headers, body = (
            self._fill_placeholders(pair["path"]),
            self._headers(pair),
            self._body(pair),
        )
        recorded_user = pair.get("as")
        client = ArenaHttpClient(self.arena.url)
        try:
            for _ in range(pair.get("repeat", 1)):
                if recorded_user is not None and recorded_user.startswith("digest:"):
                    response = self._with_digest(pair["method"], path, recorded_user)
                else:
                    response = client.request(pair["method"], path, None, body, headers)
        finally:
            client.close()
        self.etag = response.headers.get("etag", [self.etag])[0]
        self._store_created_match(pair, response)
        return response

    def actual_answer(self, pair: Json, response: ArenaHttpResponse) -> Json:
        """Return our answer in the format of the recording."""
        headers = {name: ", ".join(values) for name, values in response.headers.items()}
        exact_headers = (
            *HEADERS_BY_VALUE,
            *(name.lower() for name in pair.get("exact_headers", ())),
        )
        compared_headers = {
            name: self._normalise(headers[name]) for name in exact_headers if name in headers
        }
        for name in HEADERS_BY_PRESENCE:
            if name in headers:
                compared_headers.setdefault(name, "present")
        if "www-authenticate" in headers:
            compared_headers["www-authenticate"] = re.findall(
                "Digest|Basic", headers["www-authenticate"]
            )
        return {
            "status": response.status,
            "headers": compared_headers,
            "body": self._comparable_body(pair, response),
        }

    def expected_answer(self, pair: Json) -> Json:
        """Return the recorded answer, without what our arena hides from this player."""
        recorded = pair["answer"]
        body, user = recorded["body"], user_of(pair.get("as"))
        if body and body.startswith(("[", "{")):
            body = canonical_json(body_visible_to(user and user[0], json.loads(body)))
        headers = {name.lower(): value for name, value in recorded["headers"].items()}
        return {"status": recorded["status"], "headers": headers, "body": body}

    def _comparable_body(self, pair: Json, response: ArenaHttpResponse) -> str | None:
        match pair.get("compare"):
            case "status and headers":
                return None
            case "keys":
                return f"keys: {', '.join(response.json())}"
            case _:
                return self._normalise(response.text.replace('"dynamodb"', '"memory"'))

    def _headers(self, pair: Json) -> dict[str, str]:
        headers = {
            name: self._fill_placeholders(text) for name, text in pair.get("headers", {}).items()
        }
        content_type = pair.get("content_type", "application/json")
        if content_type and {"text", "body"} & pair.keys():
            headers["Content-Type"] = content_type
        user = user_of(pair.get("as"))
        if user is not None:
            headers["Authorization"] = f"Basic {base64.b64encode(':'.join(user).encode()).decode()}"
        return headers

    def _body(self, pair: Json) -> bytes | None:
        if pair.get("text") is not None:
            return self._fill_placeholders(pair["text"]).encode()
        if "body" not in pair:
            return None
        letters = "x" * pair.get("body_repeat", 1)
        text = json.dumps(pair["body"])
        return self._fill_placeholders(text.replace('"@"', f'"{letters}"')).encode()

    def _with_digest(self, method: str, path: str, recorded_user: str) -> ArenaHttpResponse:
        with Session() as session:
            user, password = user_of(recorded_user) or ("", "")
            request = Request(method, self.arena.url + path, auth=HTTPDigestAuth(user, password))
            response = session.send(session.prepare_request(request), timeout=HANG_SECONDS)
        headers = {name.lower(): [value] for name, value in response.headers.items()}
        return ArenaHttpResponse(response.status_code, response.content, headers)

    def _store_created_match(self, pair: Json, response: ArenaHttpResponse) -> None:
        name = pair.get("save")
        if name and response.status == 200:
            created_match = response.json()
            self.ids[created_match["id"]] = name
            if pair.get("body", {}).get("randomSeed") is None:
                self.seeds[created_match["randomSeed"]] = name

    def _fill_placeholders(self, text: str) -> str:
        for match_id, name in self.ids.items():
            text = text.replace(f"{{{name}}}", match_id).replace(
                f"{{{name}|upper}}", match_id.upper()
            )
        return text.replace("{etag}", self.etag)

    def _normalise(self, text: str) -> str:
        for value, name in self.ids.items():
            text = text.replace(value, f"{{{name}}}").replace(value.upper(), f"{{{name}|upper}}")
        for value, name in self.seeds.items():
            text = text.replace(f'"{value}"', f'"<seed of {name}>"')
        for pattern, replacement in _VOLATILE:
            text = pattern.sub(replacement, text)
        return text


def replay_pairs(
    pairs: Iterable[Json], arena: ArenaServer, clock: ManualClock
) -> Iterator[tuple[Json, Json, Json]]:
    """Yield each pair with the recorded answer and ours."""
    with ThreadPoolExecutor() as executor:
        for _, group in groupby(pairs, key=lambda pair: pair["seq"]):
            clock.advance(timedelta(seconds=61))  # a new minute of the slow-down
            sequence = PairSequence(arena, clock)
            pending_pairs: list[tuple[Json, Future[ArenaHttpResponse]]] = []
            for pair in group:
                if pair.get("background"):
                    pending_pairs.append((pair, _send_in_background(executor, sequence, pair)))
                    continue
                response = sequence.send_pair(pair)
                yield pair, sequence.expected_answer(pair), sequence.actual_answer(pair, response)
                for pending_pair, future in pending_pairs:
                    yield (
                        pending_pair,
                        sequence.expected_answer(pending_pair),
                        sequence.actual_answer(pending_pair, future.result()),
                    )
                pending_pairs.clear()


def _send_in_background(
    executor: ThreadPoolExecutor, sequence: PairSequence, pair: Json
) -> Future[ArenaHttpResponse]:
    """Send a request that waits, in a separate thread, and return its future."""
    previous_count = sequence.arena.long_poll_count
    future = executor.submit(sequence.send_pair, pair)
    wait_until(lambda: sequence.arena.long_poll_count > previous_count or future.done())
    return future


PAIRS_WITH_OTHER_BODY = {
    "create: draw pile text": "the text is the JavaScript engine's",
    "create: banks of one": "the text names another fault of the same request",
    "list ?tags=t1&tags=t2": "the text is the JavaScript engine's",
    "list ?at=quux": "an earlier recording has an empty list here",
    "create-admin-seed-object: view it": "it deals from its JSON and plays on from its text",
}
"""Pairs whose body differs, each with its reason; their status and headers are the same."""


@parametrize_sample_and_all(pytest.mark.slow, sample=SAMPLE_PAIRS, all_matches=ALL_RECORDED_PAIRS)
def test_every_pair_is_answered_as_recorded(
    opened: ArenaFactory, tmp_path: Path, matches: RecordedMatches
) -> None:
    """Status, headers and body are equal, except for hidden values and the listed bodies."""
    pairs = [line for line in matches.all_matches() if "seq" in line]
    differences, answer_count = [], 0
    clock = ManualClock()
    with opened(  # set up as the one that was recorded, but for its clock and short long polls
        tmp_path,
        players=write_players(tmp_path),
        randomness=RandomnessMethod.ORIGINAL,
        throttle=True,
        clock=clock,
        long_poll_timeout=timedelta(milliseconds=100),
        watchdog_interval=timedelta(milliseconds=1),
    ) as (arena, _):
        for pair, expected, actual in replay_pairs(pairs, arena, clock):
            answer_count += 1
            if PAIRS_WITH_OTHER_BODY.keys() & {pair["title"], f"{pair['seq']}: {pair['title']}"}:
                actual["body"] = expected["body"]
            if actual != expected:
                differences.append(f"{pair['seq']} {pair['title']}:\n {actual}\n {expected}")
    assert answer_count == len(pairs) >= matches.min_step_count
    assert not differences, f"{len(differences)}\n" + "\n".join(differences)[:4000]

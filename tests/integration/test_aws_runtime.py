"""The local Lambda Runtime API, as AWS's runtime client asks it."""

import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import timedelta

import pytest

from workbench.build.runtime_api import RuntimeApi, RuntimeFault

SECOND = timedelta(seconds=1)
NEXT = "/2018-06-01/runtime/invocation/next"


class Client:
    """An execution environment in a thread: polls, and answers each event as it is told."""

    def __init__(self, api: RuntimeApi, answer: Callable[[bytes], tuple[str, object]]) -> None:
        self._api = api
        self._answer = answer
        self.headers: list[dict[str, str]] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError, http.client.HTTPException):  # the API has gone
            while True:
                _, headers, body = ask(self._api, "GET", NEXT)
                self.headers.append(headers)
                kind, told = self._answer(body)
                request_id = headers["Lambda-Runtime-Aws-Request-Id"]
                path = f"/2018-06-01/runtime/invocation/{request_id}/{kind}"
                ask(self._api, "POST", path, told)


def ask(
    api: RuntimeApi, method: str, path: str, body: object = None
) -> tuple[int, dict[str, str], bytes]:
    with closing(http.client.HTTPConnection(api.address)) as connection:
        connection.request(method, path, None if body is None else json.dumps(body))
        response = connection.getresponse()
        return response.status, dict(response.getheaders()), response.read()


@contextmanager
def api(alive: Callable[[], bool] = lambda: True) -> Iterator[tuple[RuntimeApi, list[str]]]:
    polled: list[str] = []
    with RuntimeApi("F", lambda: polled.append("polled"), alive) as running:
        yield running, polled


def test_an_event_goes_in_and_the_answer_comes_out() -> None:
    with api() as (running, polled):
        client = Client(running, lambda body: ("response", {"saw": json.loads(body)}))
        running.await_init(20 * SECOND)
        assert polled == ["polled"], "init is over once, at the first poll"
        assert running.invoke({"n": 1}, 20 * SECOND) == {"saw": {"n": 1}}
        assert running.invoke([2], 20 * SECOND) == {"saw": [2]}
        first, second = client.headers[:2]
        assert first["Lambda-Runtime-Aws-Request-Id"] != second["Lambda-Runtime-Aws-Request-Id"]
        assert int(first["Lambda-Runtime-Deadline-Ms"]) > 0
        # AWS's client, which is written in C, dies without it.
        assert first["Content-Type"] == "application/json"


def test_a_failure_is_told_with_its_type_and_message() -> None:
    fault = {"errorType": "Malformed", "errorMessage": "no records"}
    with api() as (running, _):
        Client(running, lambda _body: ("error", fault))
        running.await_init(20 * SECOND)
        with pytest.raises(RuntimeFault, match="F: Malformed: no records"):
            running.invoke({}, 20 * SECOND)


def test_an_environment_that_dies_is_noticed_before_its_time_is_up() -> None:
    with (
        api(alive=lambda: False) as (running, _),
        pytest.raises(RuntimeFault, match="process died"),
    ):
        running.invoke({}, timedelta(hours=1))
    with (
        api(alive=lambda: False) as (running, _),
        pytest.raises(RuntimeFault, match="not get ready"),
    ):
        running.await_init(timedelta(hours=1))


def test_an_answer_that_does_not_come_in_time_is_a_fault() -> None:
    with api() as (running, _), pytest.raises(RuntimeFault, match="no answer within its timeout"):
        running.invoke({}, timedelta(milliseconds=1))


def test_other_paths_are_not_there() -> None:
    with api() as (running, polled):
        assert ask(running, "GET", "/2018-06-01/other")[0] == http.HTTPStatus.NOT_FOUND
        assert polled == []

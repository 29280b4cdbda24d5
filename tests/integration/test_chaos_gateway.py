"""What the gateway of `make chaos` does to a request, and that it does nothing else."""

from contextlib import closing
from dataclasses import replace
from datetime import timedelta

import pytest
import requests
from support.fault_server import FaultServer, answer

from workbench.bench.chaos.faults import ACTIONS, READS, STORE, FaultPlan
from workbench.bench.chaos.gateway import Fault, Gateway, Heard

TRUTH = b'{"it": "is so"}'
SOON, PATIENT = 1, 30
"""Seconds after which a client here gives up."""

EVERY = {fault.name: fault for fault in (*READS, *ACTIONS, *STORE)}


@pytest.mark.parametrize("fault", EVERY.values(), ids=EVERY)
def test_each_fault_does_what_it_says(fault: Fault) -> None:
    """The server is asked or not, and the client hears the truth from a held request only."""
    fault = replace(fault, held=fault.held / 100)
    with (
        FaultServer(answer(body=TRUTH)) as server,
        Gateway(server.url, lambda _asked: fault) as gateway,
    ):
        try:
            heard = requests.post(gateway.url, json={}, timeout=SOON if fault.silence else PATIENT)
        except requests.RequestException:
            assert fault.answer is None
        else:
            assert fault.only_late or fault.answer is not None
            assert (heard.content == TRUTH) is fault.only_late
        assert len(server.seen) == (fault.passes or fault.only_late)


def test_what_is_held_when_its_client_leaves_never_arrives() -> None:
    held = Fault(name="held", held=timedelta(seconds=SOON), only_late=True)
    with (
        FaultServer(answer(body=TRUTH)) as server,
        Gateway(server.url, lambda _asked: held) as gateway,
    ):
        with pytest.raises(requests.ReadTimeout):
            requests.post(gateway.url + "/left", timeout=SOON / 2)
        requests.post(gateway.url + "/stayed", timeout=PATIENT)
        assert [seen.path for seen in server.seen] == ["/stayed"]


def test_without_a_fault_request_and_answer_pass_as_they_are() -> None:
    told: list[tuple[Heard, Heard]] = []
    with (
        FaultServer(answer(status=410, body=TRUTH, headers={"X-Left": "3"})) as server,
        Gateway(server.url, lambda _asked: None, lambda *both: told.append(both)) as gateway,
        closing(requests.Session()) as session,
    ):
        for _ in range(2):
            heard = session.post(gateway.url + "/api?x=1", json={"a": 1}, headers={"X-Meant": "7"})
            assert (heard.status_code, heard.content, heard.headers["X-Left"]) == (410, TRUTH, "3")
        assert [(one.path, one.body, one.headers["X-Meant"]) for one in server.seen] == [
            ("/api?x=1", b'{"a": 1}', "7")
        ] * 2
    assert [(asked.method, answered.status) for asked, answered in told] == [("POST", 410)] * 2


def test_a_match_suffers_the_same_whatever_is_played_beside_it() -> None:
    """By seed and number; what is asked about another match in between changes nothing."""

    def look(match_id: str) -> Heard:
        return Heard(f"GET /api/matches/{match_id} HTTP/1.1", {}, b"", b"")

    alone, beside = (FaultPlan("7", 0.5, numbers={"m": 1, "n": 2}) for _ in range(2))
    first = [alone.of_arena(look("m")) for _ in range(40)]
    second = []
    for _ in range(40):
        beside.of_arena(look("n"))
        second.append(beside.of_arena(look("m")))
    assert first == second
    assert 10 < sum(fault is not None for fault in first) < 30
    names = [f"{one.name} (look)" for one in first if one]
    assert [one.name for one in alone.suffered("m")] == names

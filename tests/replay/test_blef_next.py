"""All that today's generation of the original was recorded to answer, but for what is listed."""

import json
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from itertools import pairwise
from typing import Any

from support.blef import Reply, decisions
from support.blef_next import NextRecording, game_of, next_rows, seen

ROWS = next_rows()
LONG, FED = "x" * 300, "abc\n"
RENAMED = {LONG: "x" * 32, FED: "abc"}  # the nicknames that we refuse, and who plays in their place

REFUSED_NAMES: Mapping[str, str] = {
    LONG: "Nickname too long - must be within 32 characters",
    FED: "Nickname must start with a letter and only contain alphanumeric characters",
}
DECIDED = decisions("blef_next_decisions")


def agrees(row: dict[str, Any], reply: Reply, recorded: NextRecording) -> bool:
    """Whether status and whole body are as recorded, but for moments and rooms."""
    nickname = row["query"].get("nickname")
    if nickname in REFUSED_NAMES:
        told = f"Bad input value in 'nickname': {nickname}\n{REFUSED_NAMES[nickname]}"
        return (reply.status, reply.json) == (400, {"error": told})
    if reply.status != row["status"] or reply.headers["Content-Type"] != "application/json":
        return False
    # What is ours to choose is the uuid of a new game or player, and so it is the recorded one.
    return bool(seen(reply.json) == recorded.expected(row))


def _lowered(row: dict[str, Any]) -> dict[str, Any]:
    """The same request with its uuids in lower case."""
    query = {name: value.lower() for name, value in row["query"].items()}
    return {**row, "path": row["path"].lower(), "query": query}


PARTLY = "gw.play.check"  # of this change one text of two was recorded


def wrong(row: dict[str, Any], recorded: NextRecording, needed: set[str]) -> Reply | None:
    """The answer to a recorded request where it is neither as recorded nor a listed decision."""
    reply, case = recorded.ask(row), row["case"]
    if agrees(row, reply, recorded):
        return None
    if case not in DECIDED:
        return reply
    needed.add(case)
    right = DECIDED[case].agrees(reply, {**row["query"], "game": game_of(row)})
    if case in {"state.one.upper", "gid.upper"}:
        right &= reply.json == recorded.ask(_lowered(row)).json
    return None if right else reply


def test_every_recorded_answer_and_watcher_agrees_or_is_a_listed_decision() -> None:
    """Whoever watches is told all that was recorded of a change, and nothing else."""
    undone = frozenset(case for case, decision in DECIDED.items() if decision.undo)
    recorded, needed = NextRecording(ROWS, RENAMED, undone), set[str]()
    faults: list[object] = []
    for row, following in pairwise((*ROWS, {"method": "GET", "case": ""})):
        match row["method"]:
            case "CONTROL":
                recorded.clock.advance(timedelta(seconds=row["query"].get("advance", 0)))
            case "GET":
                change, wanted = row["case"], Counter[tuple[str, str]]()
                faults += filter(None, [wrong(row, recorded, needed)])
            case "WS":
                wanted[row["query"]["connection"], _written(recorded.expected(row))] += 1
                told = recorded.told(_written)
                more = told - wanted if change != PARTLY else Counter()
                if following["method"] != "WS" and (more or wanted - told):
                    faults.append((change, more, wanted - told))
            case _:
                reply = recorded.shake(row)
                if (reply.status, reply.json) != (row["status"], row["body"]):
                    faults.append((row["case"], reply))
    assert faults == []
    assert needed == set(DECIDED), "a decision that nothing needs is none"
    asked = Counter(row["method"] for row in ROWS)
    assert (asked["GET"], asked["WS"], asked["CONNECT"] + asked["DISCONNECT"]) == (550, 23, 11)


def _written(body: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps(body, sort_keys=True)

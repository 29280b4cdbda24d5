"""All that today's generation of the original was recorded to answer, but for what is listed."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from typing import Any

from support.blef import Reply
from support.blef_next import NextRecording, game_of, next_rows, seen
from support.recorded import table

ROWS = next_rows()
LONG, FED = "x" * 300, "abc\n"
RENAMED = {LONG: "x" * 32, FED: "abc"}
"""The nicknames that we refuse, and who plays in their place."""


@dataclass(frozen=True)
class Decision:
    """Where we answer otherwise on purpose: which cases, with which status and error, and why."""

    cases: Sequence[str]
    reason: str
    status: int = 400
    error: str | None = None
    undo: bool = False

    def agrees(self, row: dict[str, Any], reply: Reply) -> bool:
        told = self.error and self.error.format(**{**row["query"], "game": game_of(row)})
        return reply.status == self.status and (told is None or reply.json == {"error": told})


DECISIONS = [Decision(**one) for one in table("blef_next_decisions")["decision"]]
REFUSED_NAMES: Mapping[str, str] = {
    LONG: "Nickname too long - must be within 32 characters",
    FED: "Nickname must start with a letter and only contain alphanumeric characters",
}
DECIDED = {case: decision for decision in DECISIONS for case in decision.cases}


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


def test_every_recorded_answer_agrees_or_is_a_listed_decision() -> None:
    undone = frozenset(case for one in DECISIONS if one.undo for case in one.cases)
    recorded = NextRecording(ROWS, RENAMED, undone)
    faults, needed, asked = [], set(), 0
    for row in ROWS:
        if row["method"] == "CONTROL":
            recorded.clock.advance(timedelta(seconds=row["query"].get("advance", 0)))
        if row["method"] != "GET":
            continue
        asked += 1
        reply = recorded.ask(row)
        right = agrees(row, reply, recorded)
        if not right and row["case"] in DECIDED:
            needed.add(row["case"])
            right = DECIDED[row["case"]].agrees(row, reply)
            if row["case"] in {"state.one.upper", "gid.upper"}:
                right &= reply.json == recorded.ask(_lowered(row)).json
        if not right:
            faults.append((row["n"], row["case"], row["status"], reply.status, reply.text))
    assert faults == []
    assert asked == 550
    assert needed == set(DECIDED), "a decision that nothing needs is none"


PARTLY = "gw.play.check"
"""Of this change one text of two was recorded."""


def test_every_recorded_watcher_is_let_in_and_told_as_it_was() -> None:
    """Each of them all that was recorded of a change, and nothing else."""
    undone = frozenset(case for one in DECISIONS if one.undo for case in one.cases)
    recorded = NextRecording(ROWS, RENAMED, undone)
    faults, told, shaken = [], 0, 0
    for row, following in pairwise((*ROWS, {"method": "GET", "case": ""})):
        if row["method"] == "GET":
            recorded.ask(row)
            change, wanted = row["case"], Counter[tuple[str, str]]()
        elif row["method"] == "WS":
            told += 1
            wanted[row["query"]["connection"], _written(recorded.expected(row))] += 1
            if following["method"] != "WS":
                others = recorded.told(_written) - wanted
                if wanted - recorded.told(_written) or (others and change != PARTLY):
                    faults.append((row["n"], change, others))
        elif row["method"] != "CONTROL":
            shaken += 1
            reply = recorded.shake(row)
            if (reply.status, reply.json) != (row["status"], row["body"]):
                faults.append((row["n"], row["case"], reply.text))
    assert faults == []
    assert (told, shaken) == (23, 11)


def _written(body: Any) -> str:  # noqa: ANN401 - JSON
    return json.dumps(body, sort_keys=True)

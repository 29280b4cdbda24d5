"""Chooses the recorded matches that the repository keeps: few that show everything once.

python tests/samples/choose.py TRACES.jsonl.gz   writes arena_matches.jsonl.gz beside this file

Each match is a set of features: its case, each kind of event, each refusal, each way to answer an
effect, each timeout and ending; and, less weighty, which events came together and what was refused
in which situation. Matches that add most for their size come first, and some of random play are
always among them.
"""

import gzip
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

TARGET = Path(__file__).parent / "arena_matches.jsonl.gz"
OK = 200
MOST = 64
RANDOM = 12
"""How many of them are matches of random play, from deal to natural end."""

DETAILS = {"created", "refused there", "together"}
"""Features that are welcome; each of the others is to be shown by some match."""

DETAIL_WEIGHT = 0.1

Json = dict[str, Any]
Feature = tuple[object, ...]


def features(match: Json) -> Iterator[Feature]:
    """Everything about a match that a test could hold us against."""
    create = match["create"]
    yield "created", create["as"], create["status"], *sorted(create["body"] or ())
    yield "refused creation", text_of(create["response"])
    yield "case", *match["kind"].split(":")[:2]
    view: Json = {}
    for step in match.get("steps", ()):
        view = step["view"] if step.get("view", "same") != "same" else view
        if "wait_s" not in step:
            yield from step_features(step, view)
    for name, look in match.get("final", {}).items():
        yield "final", name, look.get("status") if isinstance(look, dict) else look


def step_features(step: Json, view: Json) -> Iterator[Feature]:
    """What one request shows."""
    pending = view["state"].get("pendingEffect", {})
    asked = step.get("action")
    verb = asked.get("etype") if isinstance(asked, dict) else type(asked).__name__
    situation = pending.get("effectType"), pending.get("krakenCount"), len(pending.get("cards", ()))
    status, refusal = step.get("status"), text_of(step["response"])
    yield "refused", status, refusal
    yield "refused there", *situation, str(verb), status, refusal
    yield "answered", situation[0], bool(situation[1]), verb, status == OK
    yield "note", step.get("note"), bool(step.get("watchdog"))
    yield "timeouts", view["state"].get("timeoutCount")
    if isinstance(asked, dict) and "autopick" in asked:
        yield "autopick", situation[0], str(verb), repr(asked["autopick"])
    events = step["response"] if isinstance(step["response"], list) else []
    if not step.get("watchdog"):
        kinds = [event_kind(event) for event in events]
        yield "together", *kinds
        yield from (("event", kind) for kind in kinds)


def event_kind(event: Json) -> str:
    """An event without its cards."""
    told = [event["eventType"]]
    told += [str(event[name]) for name in event if name.endswith(("Terminated", "Successful"))]
    told += [str(event.get("cardPlayedEffect", {}).get("effectType", ""))]
    if "turnEndedBonusCards" in event:
        told.append(f"bonus {len(event['turnEndedBonusCards'])}")
    if event["eventType"] == "MatchEnded":
        told.append(f"winner {event['matchEndedWinnerIdx']}")
    return " ".join(told)


def text_of(answer: object) -> str:
    """An error's words without cards, ids and numbers."""
    error = str(answer.get("error", "")) if isinstance(answer, dict) else ""
    return re.sub(r"'[^']*'|\{.*|\d+", "_", error)[:60]


def chosen(matches: list[Json]) -> list[Json]:
    """The matches to keep, in their order in the recording."""
    left = {number: set(features(match)) for number, match in enumerate(matches)}
    sizes = [len(json.dumps(match)) ** 0.5 for match in matches]
    random = [number for number, match in enumerate(matches) if match["kind"] == "random"]
    taken: list[int] = []
    while len(taken) < MOST:
        short = RANDOM - sum(number in random for number in taken)
        pool = random if MOST - len(taken) <= short else list(left)
        best = max(set(pool) - set(taken), key=lambda number: weight(left[number]) / sizes[number])
        taken.append(best)
        new = set(left[best])
        for features_left in left.values():
            features_left.difference_update(new)
    tell(left, set().union(*(features(match) for match in matches)))
    return [matches[number] for number in sorted(taken)]


def weight(new: set[Feature]) -> float:
    """What it is worth to show these features."""
    return sum(DETAIL_WEIGHT if feature[0] in DETAILS else 1 for feature in new)


def tell(left: dict[int, set[Feature]], total: set[Feature]) -> None:
    """Print how much is shown, and what is not."""
    missed = set().union(*left.values())
    print(f"{len(total) - len(missed)} of {len(total)} features are shown")  # noqa: T201
    for feature in sorted(missed - {one for one in missed if one[0] in DETAILS}, key=str):
        print("not shown:", *feature)  # noqa: T201


def main(source: str) -> None:
    """Write the chosen matches of a recording."""
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        kept = chosen([json.loads(line) for line in lines])
    text = "".join(json.dumps(match, separators=(",", ":")) + "\n" for match in kept)
    TARGET.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])

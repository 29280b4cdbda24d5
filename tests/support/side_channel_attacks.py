"""Attacks of a player's code that predict hidden cards from anything but the cards it is shown.

`measure_surroundings` is a strategy file's; `JAVASCRIPT_PROGRAM` measures in another language.
`prediction_accuracy` is the attacker's conclusion. This file is also copied beside strategy files
of tests, so it imports only Python's own modules.
"""

import gc
import json
import os
import resource
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

Measurements = Mapping[str, float]

_last_answer_ns = time.monotonic_ns()


def measure_surroundings(question: object) -> dict[str, float]:
    """Return numbers that could depend on the hidden cards: times, ids, addresses, file times."""
    measured: dict[str, float] = {
        "wait": time.monotonic_ns() - _last_answer_ns,
        "clock": time.time_ns() % 1_000_000,
        "own time": time.process_time_ns(),
        "address of a new object": id(object()),
        "address of the question": id(question),
        "hash of a text": hash("card"),
        "order of a set": next(iter({"clubs", "hearts", "spades"})) == "clubs",
        "number of objects": len(gc.get_objects()),
        "faults": resource.getrusage(resource.RUSAGE_SELF).ru_minflt,
    }
    for path in (Path(__file__), Path(__file__).parent, Path("/tmp"), Path("/dev/shm")):  # noqa: S108
        with suppress(OSError):
            status = path.stat()
            times = {"changed": status.st_mtime_ns, "read": status.st_atime_ns}
            measured |= {f"{path.name} {name}": number for name, number in times.items()}
    return measured | _measure_ancestors()


def _measure_ancestors() -> dict[str, float]:
    """Return the processor time, faults and memory of the processes above, as far as visible."""
    measured: dict[str, float] = {}
    pid = os.getppid()
    with suppress(OSError):
        for generation in range(4):
            fields = Path(f"/proc/{pid}/stat").read_text("latin-1").rpartition(")")[2].split()
            schedule = Path(f"/proc/{pid}/schedstat").read_text("ascii").split()
            for name, text in zip(("time", "queue", "slices"), schedule, strict=True):
                measured[f"{name} of ancestor {generation}"] = float(text)
            for name, field in (("faults", 7), ("memory", 21)):
                measured[f"{name} of ancestor {generation}"] = float(fields[field])
            pid = int(fields[1])
    return measured


def end_answer() -> None:
    """Begin to measure the time until the next question."""
    global _last_answer_ns  # noqa: PLW0603 - an attacker's state
    _last_answer_ns = time.monotonic_ns()


STRATEGY_FILE = """
import json
from cardsharp.games.{game} import Decision, strategy
from side_channel_attacks import end_answer, measure_surroundings

@strategy("sly")
class Sly:
    def __init__(self, random):
        pass

    def decide(self, position):
        measured, legal = measure_surroundings(position), position.legal_actions
        end_answer()
        return Decision((legal() if callable(legal) else legal)[0], json.dumps(measured))
"""

PYTHON_PROGRAM = """
import json, sys
from side_channel_attacks import end_answer, measure_surroundings
for line in sys.stdin:
    reason = json.dumps(measure_surroundings(line))
    print(json.dumps({"action": json.loads(line)["actions"][0], "reason": reason}), flush=True)
    end_answer()
"""

JAVASCRIPT_PROGRAM = """
const fs = require('fs'), readline = require('readline')
let last = process.hrtime.bigint()
const read = path => { try { return fs.readFileSync(path, 'latin1') } catch { return '' } }
readline.createInterface({ input: process.stdin }).on('line', line => {
  const now = process.hrtime.bigint(), parent = read(`/proc/${process.ppid}/schedstat`).split(' ')
  const measured = {
    wait: Number(now - last), clock: Date.now() % 1000, length: line.length,
    heap: process.memoryUsage().heapUsed, processor: process.cpuUsage().user,
    changed: fs.statSync(__filename).mtimeMs, parent: Number(parent[0]), queue: Number(parent[1]),
  }
  const answer = { action: JSON.parse(line).actions[0], reason: JSON.stringify(measured) }
  fs.writeSync(1, JSON.stringify(answer) + '\\n')
  last = process.hrtime.bigint()
})
"""

SPYING_PROGRAM = """
import json, os, re, resource, sys
from itertools import islice
from pathlib import Path

def read(path):
    try:
        return Path(path).read_bytes()[:200_000].decode("latin-1")
    except OSError as error:
        return repr(error)

def look(everything):
    names = [name for name in dir(resource) if name.startswith("RLIMIT_")]
    seen = {
        "arguments": sys.argv, "environment": dict(os.environ), "folder": os.getcwd(),
        "limits": [resource.getrlimit(getattr(resource, name)) for name in names],
        "files": [re.split("[:#]", os.readlink(f"/proc/self/fd/{fd}"))[0] for fd in range(3)],
        "further files": [fd for fd in os.listdir("/proc/self/fd") if int(fd) > 3],
    }
    if everything:
        paths = [f"/proc/{pid}/{name}" for pid in os.listdir("/proc") if pid.isdecimal()
                 for name in ("cmdline", "environ", "stat", "status", "maps", "mountinfo")]
        seen["visible"] = {path: read(path) for path in (*paths, "/proc/stat", "/proc/uptime")}
        places = {Path(__file__), *Path(__file__).parents, *islice(Path("/tmp").rglob("*"), 200)}
        places |= {Path("/tmp"), Path("/dev/shm"), Path("/proc/self"), Path("/etc"), Path("/run")}
        seen["places"] = {str(path): list(path.stat()) + [path.stat().st_mtime_ns]
                          for path in places if path.exists()}
        seen["ids"] = [os.getpid(), os.getppid(), os.getuid(), id(seen), hash("card")]
    return seen

for line in sys.stdin:
    question = json.loads(line)
    answer = {"action": question["actions"][0], "seen": look("everything" in sys.argv)}
    if "everything" not in sys.argv:
        with Path(__file__).with_name("seen.txt").open("a") as file:
            print(json.dumps(answer["seen"]), file=file)
    print(json.dumps(answer), flush=True)
"""


def prediction_accuracy(measurements: Sequence[Measurements], worlds: Sequence[bool]) -> float:
    """Return the share of worlds that the best rule of the first half predicts in the second one.

    A rule says that one number lies above a limit in one of the two worlds.
    """
    measurements, half = _with_growth(measurements), len(worlds) // 2
    names = set(measurements[0]).intersection(*measurements)
    rules = (
        (name, limit, is_above)
        for name in sorted(names)
        for limit in _limits([measured[name] for measured in measurements[:half]])
        for is_above in (True, False)
    )

    def share(rule: tuple[str, float, bool], cases: slice) -> float:
        name, limit, is_above = rule
        pairs = [*zip(measurements[cases], worlds[cases], strict=True)]
        right = [((measured[name] > limit) == is_above) == world for measured, world in pairs]
        return sum(right) / len(right)

    best = max(rules, key=lambda rule: share(rule, slice(half)))
    return share(best, slice(half, None))


def _with_growth(measurements: Sequence[Measurements]) -> list[Measurements]:
    """Return the measurements, each with how much its numbers have grown since the one before.

    Many are counters of the kernel, which say nothing by their height. Of the first one, which has
    none before it, the growth is 0.
    """
    previous_ones = [measurements[0], *measurements[:-1]]
    return [
        {
            **measured,
            **{
                f"growth of {name}": measured[name] - previous[name]
                for name in measured.keys() & previous
            },
        }
        for previous, measured in zip(previous_ones, measurements, strict=True)
    ]


def _limits(numbers: Sequence[float]) -> list[float]:
    """Return the numbers that split some numbers into ten parts of about the same size."""
    ordered = sorted(numbers)
    return [ordered[len(ordered) * part // 10] for part in range(1, 10)]


def read_measurements(reason: str) -> Measurements:
    """Return what a player has measured, from the reason of its decision."""
    measured: dict[str, float] = json.loads(reason)
    return measured

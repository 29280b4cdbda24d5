"""Chooses the recorded pairs of request and answer that the repository keeps.

python tests/samples/choose_pairs.py PAIRS.jsonl.gz   writes arena_pairs.jsonl.gz beside this file

All sequences but the scenarios, which are matches played by a script: every fifth of those. And not
the one that lets itself be slowed down, which takes its real seconds.
"""

import gzip
import json
import sys
from pathlib import Path

TARGET = Path(__file__).parent / "arena_pairs.jsonl.gz"


def kept(line: str) -> bool:
    """Whether a line of the recording is kept."""
    kind, _, number = json.loads(line).get("seq", "").rpartition("-")
    return kind != "slow" and (kind != "scenario" or int(number) % 5 == 0)


def main(source: str) -> None:
    """Write the chosen pairs of a recording."""
    with gzip.open(source, "rt", encoding="utf-8") as lines:
        text = "".join(filter(kept, lines))
    TARGET.write_bytes(gzip.compress(text.encode(), mtime=0))


if __name__ == "__main__":
    main(sys.argv[1])

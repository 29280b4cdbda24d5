"""Whether two builds are alike: `python -m workbench.build.reproduce [--sam]`.

Builds twice for Lambda, the second time without network and under another hash seed, and
compares every file. With `--sam` the second build is the one that `make build` left behind, so
that SAM's build is held against ours.
"""

import os
import sys
import tempfile
from pathlib import Path

from cardsharp.errors import CardsharpError
from workbench.build.artifacts import Build, differences, read_build
from workbench.build.makefiles import build
from workbench.build.sam import BUILD
from workbench.build.say import say
from workbench.build.target import Target


def unlike(one: Build, other: Build) -> list[str]:
    """The names of files, behind those of their functions or layers, that differ."""
    names = one.resources.keys() | other.resources.keys()
    return [
        f"{name}/{file}"
        for name in sorted(names)
        for file in differences(one.folder / name, other.folder / name)
    ]


def main() -> None:
    """Build and compare; exits with the list of what differs."""
    try:
        with tempfile.TemporaryDirectory(prefix="cardsharp-twice-") as folder:
            sys.exit(_compare(Path(folder), with_sam="--sam" in sys.argv))
    except CardsharpError as error:
        sys.exit(str(error))


def _compare(folder: Path, *, with_sam: bool) -> int:
    given = read_build(BUILD) if with_sam else None
    say("building once more ..." if with_sam else "building twice ...")
    os.environ["PYTHONHASHSEED"] = "1"
    first = build(Target(), folder / "first")
    os.environ["PYTHONHASHSEED"] = "2"
    second = given or build(Target(), folder / "second", offline=True)
    for name, digest in first.digests().items():
        say(f"  {name:18} {digest}")
    found = unlike(first, second)
    for name in found:
        say(f"differs: {name}")
    say("the builds differ" if found else "two builds, the same bytes")
    return 1 if found else 0


if __name__ == "__main__":
    main()

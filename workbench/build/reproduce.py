"""Whether two builds are alike: `python -m workbench.build.reproduce`.

Builds once more for Lambda, without network and under another hash seed, and compares every file
with what `make build` left behind.
"""

import os
import sys
import tempfile
from pathlib import Path

from cardsharp.errors import CardsharpError
from workbench.build.artifacts import Build, differences, read_build
from workbench.build.sam import BUILD, sam_build
from workbench.build.say import say


def unlike(one: Build, other: Build) -> list[str]:
    """The names of files, behind those of their functions or layers, that differ."""
    names = one.resources.keys() | other.resources.keys()
    return [
        f"{name}/{file}"
        for name in sorted(names)
        for file in differences(one.folder_of(name), other.folder_of(name))
    ]


def main() -> None:
    """Build and compare; exits with the list of what differs."""
    try:
        with tempfile.TemporaryDirectory(prefix="cardsharp-twice-") as folder:
            sys.exit(_compare(Path(folder)))
    except CardsharpError as error:
        sys.exit(str(error))


def _compare(folder: Path) -> int:
    first = read_build(BUILD)
    say("building once more ...")
    os.environ["PYTHONHASHSEED"] = "2"
    second = sam_build(folder, offline=True)
    for name, digest in first.digests().items():
        say(f"  {name:19} {digest}")
    found = unlike(first, second)
    for name in found:
        say(f"differs: {name}")
    say("the builds differ" if found else "two builds, the same bytes")
    return 1 if found else 0


if __name__ == "__main__":
    main()

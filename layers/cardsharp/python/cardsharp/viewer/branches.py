"""The branches of a match, as its page lists them and a file holds them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from cardsharp.errors import CardsharpError
from cardsharp.replay import Branch
from cardsharp.viewer.shown import DrawnMatch

DEEPEST = 8  # branches of branches of branches that are shown
Drawn = Callable[[str], DrawnMatch | None]  # the match of that id, where there is one

BranchesOf = Callable[[str], Sequence[str]]
"""The ids of the matches that are branches of the one of that id."""


@dataclass(frozen=True, slots=True)
class DrawnBranch:
    """A branch with what was done where it begins, and with its own branches."""

    match: DrawnMatch
    branch: Branch
    did: str
    end: str
    branches: Sequence["DrawnBranch"] = field(default=())


def branches_of(match_id: str, ids: BranchesOf, drawn: Drawn) -> list[DrawnBranch]:
    """The branches of a match, the earliest step first; those that cannot be read are left out."""
    return sorted(_branches(match_id, ids, drawn, DEEPEST), key=lambda one: one.branch.step)


def _branches(match_id: str, ids: BranchesOf, drawn: Drawn, left: int) -> Iterator[DrawnBranch]:
    for found in ids(match_id) if left else ():
        try:
            match = drawn(found)
            branch = None if match is None else match.header.branch
            if match is None or branch is None or len(match.frames) < branch.step:
                continue
        except CardsharpError:
            continue
        first, own = match.frames[branch.step - 1], _branches(found, ids, drawn, left - 1)
        did = f"{first.who} {first.happened}".strip()
        yield DrawnBranch(match, branch, did, _ended(match), list(own))


def every(branches: Sequence[DrawnBranch]) -> Iterator[DrawnBranch]:
    """All of them, and theirs."""
    for one in branches:
        yield one
        yield from every(one.branches)


def _ended(match: DrawnMatch) -> str:
    found = match.outcome
    scores = " : ".join(map(str, (found and found.scores) or ()))
    return "" if found is None else f"{found.result} {scores}".strip()

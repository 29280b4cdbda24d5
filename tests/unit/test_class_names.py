"""A class name means one thing (docs/glossary.md): who shares one is listed, with why."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from support.games import HOSTED
from support.recorded import table

ROOT = Path(__file__).parents[2]
ROOMS = ("layers/cardsharp/python", "workbench", "functions")

NAMES = table("class_names")
SAME_JOB, OWN, APART = {*NAMES["same_job"]}, {*NAMES["own"]}, NAMES["apart"]


def classes() -> Iterator[tuple[str, str]]:
    """Each class outside of other code, with its module."""
    hosted = {ROOT / ROOMS[0] / package.replace(".", "/") for package in HOSTED.values()}
    for room in ROOMS:
        for file in (ROOT / room).rglob("*.py"):
            if hosted.intersection(file.parents):
                continue
            for node in ast.parse(file.read_text("utf-8")).body:
                if isinstance(node, ast.ClassDef):
                    yield node.name, str(file.relative_to(ROOT))


@cache
def shared() -> dict[str, list[str]]:
    """The names that more than one module gives, with these modules."""
    found = defaultdict[str, list[str]](list)
    for name, module in classes():
        found[name].append(module)
    return {name: modules for name, modules in found.items() if len(modules) > 1}


def test_no_two_modules_give_one_class_name_but_those_that_are_listed() -> None:
    found = shared()
    free = found.keys() - SAME_JOB - OWN - APART.keys()
    assert {name: found[name] for name in free} == {}
    assert {
        name: found[name] for name, most in APART.items() if len(found.get(name, ())) > most
    } == {}


def test_a_listed_name_is_still_shared_and_listed_once() -> None:
    assert (SAME_JOB | APART.keys()) - shared().keys() == set()
    assert SAME_JOB.isdisjoint(APART)

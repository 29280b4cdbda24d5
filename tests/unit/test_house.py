"""Who may know whom (docs/architecture.md): a planted breach of any fence is caught.

The contracts are in `pyproject.toml`; `make lint` runs them over what is there.
"""

import re
from copy import deepcopy
from pathlib import Path

import grimp
import pytest
from importlinter import Contract
from importlinter.api import read_configuration
from importlinter.contracts.forbidden import ForbiddenContract
from importlinter.contracts.layers import LayersContract
from support.recorded import rows

from tests.support.allow_list import AllowList

ROOT = Path(__file__).parents[2]
CONFIGURATION = read_configuration(str(ROOT / "pyproject.toml"))
SESSION = CONFIGURATION["session_options"]
TYPES: dict[str, type[Contract]] = {
    "allow_list": AllowList,
    "forbidden": ForbiddenContract,
    "layers": LayersContract,
}
STRATEGY = "A strategy knows rules and position, and is given its chance"


@pytest.fixture(scope="module")
def house() -> grimp.ImportGraph:
    """Every import of every module, read once."""
    roots = SESSION["root_packages"]
    return grimp.build_graph(*roots, include_external_packages=True, cache_dir=None)


def broken(house: grimp.ImportGraph, fence: str | None = None) -> list[str]:
    """The names of the contracts that the imports break, of all or that of one fence."""
    contracts = [
        TYPES[options["type"]](options["name"], SESSION, options)
        for options in CONFIGURATION["contracts_options"]
        if fence in {None, options["name"]}
    ]
    return [one.name for one in contracts if not one.check(deepcopy(house), verbose=False).kept]


def test_no_fence_is_broken(house: grimp.ImportGraph) -> None:
    assert broken(house) == []


def breaks(fence: str, house: grimp.ImportGraph, importer: str, imported: str, line: str) -> bool:
    """Whether the fence breaks when the importer gets that line."""
    planted = deepcopy(house)
    assert importer in planted.modules
    if imported not in planted.modules:
        planted.add_module(imported, is_squashed=True)
    planted.add_import(importer=importer, imported=imported, line_number=1, line_contents=line)
    return broken(planted, fence) == [fence]


@pytest.mark.parametrize("row", rows("breaches"))
def test_a_breach_breaks_its_fence(house: grimp.ImportGraph, row: str) -> None:
    importer, imported, fence = re.split(" imports |: ", row)
    assert breaks(fence, house, importer, imported, f"import {imported}")


@pytest.mark.parametrize(
    ("line", "caught"),
    [
        ("from random import Random", False),
        ("import random", True),
        ("from random import Random, random", True),
        ("from random import (", True),
        ("from random import SystemRandom as Random", True),
    ],
)
def test_a_strategy_may_be_given_chance_and_not_make_it(
    house: grimp.ImportGraph, line: str, *, caught: bool
) -> None:
    assert breaks(STRATEGY, house, "cardsharp.blef.strategies.odds", "random", line) is caught


def test_every_function_is_fenced(house: grimp.ImportGraph) -> None:
    apps = {f"functions.{app.parent.name}.app" for app in ROOT.glob("functions/*/app.py")}
    assert apps
    assert apps <= house.modules

"""Players of the lab: strategies by name, variants of some for comparison, or a user's own file."""

from functools import partial
from hashlib import sha256
from pathlib import Path
from random import Random

import cardsharp.deadmansdraw.strategies as package
from cardsharp.deadmansdraw.strategies import Strategy, build, strategy
from cardsharp.deadmansdraw.strategies.captain import WEIGHTS, Captain
from cardsharp.deadmansdraw.strategies.champion import Champion
from cardsharp.deadmansdraw.strategies.search.leaves import Limits
from cardsharp.deadmansdraw.strategies.search.weights import model
from workbench.lab.selfplay import Maker
from workbench.stage.strategy_file import SUFFIX, strategy_named

WITHOUT_ENDGAME = "captain-without-endgame"
NO_ENDGAME = Limits(endgame=0, whole_turns=0)


@strategy("champion-2")
def champion_2(rng: Random) -> Champion:
    """The champion, but that two cards are enough; a stranger to those who know the champion."""
    return Champion(rng, enough=2)


@strategy("champion-4")
def champion_4(rng: Random) -> Champion:
    """The champion, but that it takes four cards to stop."""
    return Champion(rng, enough=4)


@strategy(WITHOUT_ENDGAME)
def captain_without_endgame(_rng: Random) -> Captain:
    """The captain, but that it never searches the opponent's turns or a turn to its end."""
    return Captain(model(WEIGHTS), NO_ENDGAME)


def player(name_or_file: str) -> Maker:
    """The maker of a strategy; a file is imported anew in whichever process it is called.

    Raises:
        ConfigError: there is no such strategy, or its file cannot be used.
    """
    strategy_named(name_or_file)
    return partial(_made, name_or_file)


def _made(name_or_file: str, rng: Random) -> Strategy:
    return build(strategy_named(name_or_file), rng)


def fingerprint(*players: str) -> str:
    """A short word that changes when the strategies' code or weights do, or a player's file."""
    digest = sha256()
    folder = Path(package.__file__).parent
    shipped = (f for f in folder.rglob("*") if f.is_file() and f.parent.name != "__pycache__")
    own = (Path(name) for name in players if name.endswith(SUFFIX))
    for file in (*sorted(shipped), *own):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]

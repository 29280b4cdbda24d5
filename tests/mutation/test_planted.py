"""Wrong rules are caught by a clone alone: faults are planted one by one, and tests must fail.

`make planted` runs this: in a copy of the repository with nothing beside it, so with the data of
`tests/samples` only. A fault whose old text is no longer in its file fails loudly.
"""

import os
import shutil
import subprocess
import sys
from importlib.util import cache_from_source
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
LIBRARY = "layers/cardsharp/python/cardsharp"
COPIED = ("layers", "functions", "workbench", "tests", "docs", "events", "pyproject.toml")

RULES = ("tests/replay/test_arena_traces.py",)
POSITION = ("tests/replay/test_position_traces.py",)
WIRE = ("tests/unit/test_wire.py",)
BLEF = ("tests/replay/test_blef_traces.py", "tests/replay/test_blef_recorded.py")
EUCHRE = ("tests/replay/test_euchre_traffic.py", "tests/unit/test_euchre_rules.py")
EUCHRE_SEAT = ("tests/unit/test_euchre_fairness.py", "tests/unit/test_euchre_traps.py")


class Fault(NamedTuple):
    """A rule, and how it is broken: in which file, which text becomes which, what must fail."""

    rule: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...]


FAULTS = (
    Fault(
        "the fifth timeout ends the match",
        "deadmansdraw/rules.py",
        "MAX_TIMEOUTS = 5",
        "MAX_TIMEOUTS = 6",
        RULES,
    ),
    Fault(
        "a Kraken demands two draws",
        "deadmansdraw/draft.py",
        "KRAKEN_DRAWS = 2",
        "KRAKEN_DRAWS = 3",
        RULES,
    ),
    Fault(
        "ending the turn at an Oracle escapes the Kraken",
        "deadmansdraw/draft.py",
        "_refuse_unless_pending(EffectType.ORACLE)",
        "_refuse_unless_pending()",
        RULES,
    ),
    Fault(
        "a Cannon carries the Kraken's duty along",
        "deadmansdraw/draft.py",
        "Effect(EffectType.CANNON, (), owed)",
        "Effect(EffectType.CANNON)",
        RULES,
    ),
    Fault(
        "the Anchor itself is lost on a bust",
        "deadmansdraw/draft.py",
        "saved = suits.index(Suit.ANCHOR) if",
        "saved = suits.index(Suit.ANCHOR) + 1 if",
        RULES,
    ),
    Fault(
        "Chest and Key saved on a bust bring a bonus",
        "deadmansdraw/draft.py",
        "        if {Suit.CHEST, Suit.KEY} <=",
        "        if successful and {Suit.CHEST, Suit.KEY} <=",
        RULES,
    ),
    Fault(
        "a Sword takes no suit of its owner's bank",
        "deadmansdraw/draft.py",
        "for card in other.tops() if card.suit not in own.suits)",
        "for card in other.tops())",
        RULES,
    ),
    Fault(
        "autopick avoids a bust where it can",
        "deadmansdraw/draft.py",
        "if card.suit not in lying), cards[0])",
        "if card.suit), cards[0])",
        RULES,
    ),
    Fault(
        "equal points are a tie",
        "deadmansdraw/draft.py",
        "None if scores[0] == scores[1] else int",
        "int",
        RULES,
    ),
    Fault(
        "a bank keeps the order in which cards came",
        "deadmansdraw/bank.py",
        "(*stacks.get(suit, ()), value)",
        "(value, *stacks.get(suit, ()))",
        RULES,
    ),
    Fault(
        "a peeked card is known",
        "deadmansdraw/position.py",
        "self.known_top = next(iter(effect.cards), None)",
        "self.known_top = None",
        POSITION,
    ),
    Fault(
        "a drawn card is known no longer",
        "deadmansdraw/position.py",
        "self.known_top = self.refused = None",
        "self.refused = None",
        POSITION,
    ),
    Fault(
        "the cards of a Map that were not taken go back to the pile",
        "deadmansdraw/position.py",
        "[card for card in self._offer if card != answer.card]",
        "list(self._offer)",
        POSITION,
    ),
    Fault(
        "an answer of the arena leads to the next position",
        "deadmansdraw/reading.py",
        "known_top=peeked or left_lying",
        "known_top=peeked",
        POSITION,
    ),
    Fault(
        "a Kraken's count is read",
        "deadmansdraw/reading.py",
        "Effect(view.effect_type, view.offered, view.kraken_count)",
        "Effect(view.effect_type, view.offered)",
        POSITION,
    ),
    Fault(
        "a refused Oracle's card is sent as null",
        "deadmansdraw/actions.py",
        '"card": None if card is None else card._asdict()',
        '**({} if card is None else {"card": card._asdict()})',
        WIRE,
    ),
    Fault(
        "two players may hold eleven cards",
        "blef/rules.py",
        "return 11 if",
        "return 12 if",
        BLEF,
    ),
    Fault(
        "who checks a bet that holds loses",
        "blef/rules.py",
        "loser = checker if BETS",
        "loser = bettor if BETS",
        BLEF,
    ),
    Fault(
        "after an elimination the next player begins",
        "blef/rules.py",
        "starter = loser if kept else _after(loser, n_cards)",
        "starter = loser if kept else _after(checker, n_cards)",
        BLEF,
    ),
    Fault(
        "a bet is higher than the last one",
        "blef/rules.py",
        "range(live.last_bet + 1, len(BETS))",
        "range(live.last_bet, len(BETS))",
        BLEF,
    ),
    Fault(
        "a flush needs five cards",
        "blef/actions.py",
        "_FLUSH_SIZE = 5",
        "_FLUSH_SIZE = 4",
        BLEF,
    ),
    Fault(
        "hands stay hidden while a round is played",
        "blef/position.py",
        "shown = seen.active if seen.is_over else tuple({me} & set(seen.active))",
        "shown = seen.active",
        BLEF,
    ),
    Fault(
        "at most eight are in a game",
        "blef/changes.py",
        "if len(game.players) >= rules.MAX_PLAYERS:",
        "if len(game.players) > rules.MAX_PLAYERS:",
        BLEF,
    ),
    Fault(
        "the left bower is a trump",
        "euchre/cards.py",
        "        return trump\n    return suit",
        "        return suit\n    return suit",
        EUCHRE,
    ),
    Fault(
        "five tricks alone are four points",
        "euchre/rules.py",
        "(4 if call.alone else 2) if tricks == TRICKS",
        "2 if tricks == TRICKS",
        EUCHRE,
    ),
    Fault(
        "who euchres alone wins four points",
        "euchre/rules.py",
        "2 if lone is None else 4",
        "2",
        EUCHRE,
    ),
    Fault(
        "the second round of bids leaves out the turned suit",
        "euchre/rules.py",
        "if (suit == turned) == first]",
        "if suit == turned or not first]",
        EUCHRE,
    ),
    Fault(
        "a lone player's partner sits out",
        "euchre/table.py",
        "return frozenset(partner(seat) for seat in alone)",
        "return frozenset()",
        EUCHRE,
    ),
    Fault(
        "a lone defender shows only by the partner's gap",
        "euchre/story.py",
        "((False, False), (True,), (False, True))",
        "((False, False),)",
        EUCHRE + EUCHRE_SEAT,
    ),
    Fault(
        "a dealer does not know at the discard who calls alone",
        "euchre/position.py",
        "bids=(*table.bids[:-1], Bid(call.suit))",
        "bids=table.bids",
        EUCHRE_SEAT,
    ),
)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the repository with nothing beside it."""
    folder = tmp_path_factory.mktemp("alone") / "clone"
    for name in COPIED:
        if (ROOT / name).is_file():
            shutil.copy(ROOT / name, folder / name)
        else:
            ignored = shutil.ignore_patterns("__pycache__", ".*")
            shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    return folder


def run(clone: Path, tests: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
    """Run tests in the clone until one fails."""
    rooms = (f"{clone}/layers/cardsharp/python", f"{clone}/functions", str(clone))
    return subprocess.run(  # noqa: S603 - our own tests
        (sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-m", "not slow", *tests),
        cwd=clone,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(rooms), "TESTS": "sample"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_clone_without_a_fault_passes(clone: Path) -> None:
    """What is caught below is caught for the fault's sake."""
    done = run(clone, tuple(dict.fromkeys(test for fault in FAULTS for test in fault.tests)))
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.rule.replace(" ", "-"))
def test_a_wrong_rule_is_caught(clone: Path, fault: Fault) -> None:
    file = clone / LIBRARY / fault.file
    text = file.read_text(encoding="utf-8")
    assert text.count(fault.old) == 1, f"{fault.file} no longer says once: {fault.old}"
    try:
        plant(file, text.replace(fault.old, fault.new))
        done = run(clone, fault.tests)
    finally:
        plant(file, text)
    caught = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    assert caught, done.stdout[-2000:]
    print(fault.rule, "|", *caught)  # noqa: T201 - `make planted` shows it


def plant(file: Path, text: str) -> None:
    """Write a module; what Python compiled of it before is not used again."""
    file.write_text(text, encoding="utf-8")
    Path(cache_from_source(str(file))).unlink(missing_ok=True)

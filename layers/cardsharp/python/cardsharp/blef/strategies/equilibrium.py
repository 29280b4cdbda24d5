"""The solved rounds: how to play when two players are left with three cards or fewer.

The tables beside this module come from `cardsharp research solve blef`. With so few cards colours
decide nothing, so a hand is the values of its cards. A bet that cannot hold is in no table: it
can only be checked.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TypedDict

from cardsharp.blef.actions import BETS, CHECK
from cardsharp.blef.cards import VALUES
from cardsharp.blef.position import Position
from cardsharp.blef.strategies.mapped import unreadable
from cardsharp.errors import ConfigError

FORMAT = 1
SOLVED = ((1, 1), (2, 1), (1, 2))  # the cards of who begins and of the other
WHOLE = 1000  # the tables' unit: chances are in thousandths
Mixture = tuple[tuple[int, float], ...]  # actions and how often each is to be taken
CHECK_ONLY: Mixture = ((CHECK, 1.0),)

Plan = Mapping[str, Mapping[str, Mapping[str, int]]]
"""By what was said and hand, the thousandths of each action; what is missing is a check."""


class Solution(TypedDict):
    """A solved round as its file has it: the plans of who begins and the other; what they lack."""

    format: int
    cards: Sequence[int]
    made_by: str
    made_on: str
    value: float
    exploitability: float
    starter: Plan
    other: Plan


def mixture(position: Position) -> Mixture | None:
    """What the equilibrium plays, None where it has no answer.

    It has none with more than two players or three cards, and where the viewer's own bets were
    not such as it would make.
    """
    if cards_of(position) not in SOLVED:
        return None
    plan, bets, own = _asked(position)
    if not _cannot_hold(position):
        for made in range(len(bets) % 2, len(bets), 2):
            if bets[made] not in dict(looked_up(plan, bets[:made], own)):
                return None
    return planned(position)


def planned(position: Position) -> Mixture:
    """What the plan of a solved round has, whatever the viewer bet before."""
    return CHECK_ONLY if _cannot_hold(position) else looked_up(*_asked(position))


def _cannot_hold(position: Position) -> bool:
    last = position.last_bet
    return last is not None and BETS[last].size > sum(position.n_cards)


def _asked(position: Position) -> tuple[Plan, tuple[int, ...], str]:
    """The viewer's plan, what was bet, and the viewer's hand."""
    solved = table(*cards_of(position))
    plan = solved["other"] if len(position.history) % 2 else solved["starter"]
    bets = tuple(move.action for move in position.history)
    return plan, bets, hand_key(card.value for card in position.hand)


@cache
def table(starter: int, other: int) -> Solution:
    """The table of a round, read when first needed; raises `ConfigError` if it cannot be read."""
    file = files("cardsharp.blef.strategies") / "tables" / f"{starter}v{other}.json"
    try:
        read: Solution = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise unreadable(str(file)) from error
    if read["format"] != FORMAT:
        raise ConfigError(f"{file} has format {read['format']}, not {FORMAT}; solve it again.")
    return read


def said_key(bets: tuple[int, ...]) -> str:
    """What was said, as a table has it: the numbers of the bets."""
    return " ".join(map(str, bets))


def hand_key(values: Iterable[int]) -> str:
    """A hand, as a table has it: its values, ascending."""
    return " ".join(VALUES[value] for value in sorted(values))


def looked_up(plan: Plan, bets: tuple[int, ...], own: str) -> Mixture:
    """What a plan has for a hand after these bets."""
    chances = plan.get(said_key(bets), {}).get(own)
    if chances is None:
        return CHECK_ONLY
    return tuple((int(action), parts / WHOLE) for action, parts in chances.items())


def cards_of(position: Position) -> tuple[int, int]:
    """The cards of who began and of the other; no such pair where not two are in the game."""
    starter = position.history[0].seat if position.history else position.turn
    others = [seat for seat in position.round().active if seat != starter]
    if starter is None or len(others) > 1:
        return (0, 0)
    return position.n_cards[starter], position.n_cards[others[0]]

"""Making the shipped tables of solved rounds, and how they and the strategies play.

A table keeps what a plan ever comes to, in thousandths; a hand that only checks is left out.
"""

import json
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random

from cardsharp.blef.actions import CHECK
from cardsharp.blef.cards import Card
from cardsharp.blef.position import Position
from cardsharp.blef.rules import Move, max_cards
from cardsharp.blef.strategies import build
from cardsharp.blef.strategies.bayes import Bayes
from cardsharp.blef.strategies.equilibrium import (
    FORMAT,
    WHOLE,
    Mixture,
    Plan,
    Solution,
    hand_key,
    looked_up,
    mixture,
    said_key,
)
from research.blef.solve import (
    SEATS,
    STARTER,
    Plays,
    SmallRound,
    Values,
    best_response,
    exploitability,
    mover,
)

FOLDER = Path(str(files("cardsharp.blef.strategies") / "tables"))

_LEAST = 5  # thousandths: what is played less often is not kept
Parts = dict[str, int]


def table_of(small: SmallRound, plays: Plays, made_by: str, made_on: date) -> Solution:
    """How somebody plays as a table; its exploitability is that of what is written."""
    starter, other = (_plan(small, plays, seat) for seat in SEATS)
    written = plays_of_table(small, (starter, other))
    return Solution(
        format=FORMAT,
        cards=small.cards,
        made_by=made_by,
        made_on=made_on.isoformat(),
        value=round(best_response(small, written, STARTER), 6),
        exploitability=round(exploitability(small, written), 6),
        starter=starter,
        other=other,
    )


def write(table: Solution, folder: Path) -> Path:
    """The file in which the table is now; one line for everything that may have been said."""
    folder.mkdir(exist_ok=True)
    file = folder / "{}v{}.json".format(*table["cards"])
    lines = [f"  {json.dumps(name)}: {_written(entry)}" for name, entry in table.items()]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    return file


def _written(entry: object) -> str:
    """A plan, with a line for everything that may have been said; all else in one line."""
    if not isinstance(entry, dict):
        return json.dumps(entry)
    lines = (f"    {json.dumps(said)}: {json.dumps(hands)}" for said, hands in entry.items())
    return "{\n" + ",\n".join(lines) + "\n  }"


def plays_of_table(small: SmallRound, plans: tuple[Plan, Plan]) -> Plays:
    """How a table plays."""

    def play(said: int, hand: Values) -> Mixture:
        return looked_up(plans[mover(said)], _bets(small, said), hand_key(hand))

    return play


def _bets(small: SmallRound, said: int) -> tuple[int, ...]:
    return tuple(bet for bet in small.bets if said >> bet & 1)


def _plan(small: SmallRound, plays: Plays, seat: int) -> Plan:
    """What the hands of a seat do wherever their own play, as it is kept, can lead."""
    kept: dict[int, dict[str, Parts]] = {}
    for hand in small.hands[seat]:
        waiting = [0] if seat == STARTER else [1 << bet for bet in small.bets]
        while waiting:
            said = waiting.pop()
            parts = _rounded(dict(plays(said, hand)))
            if {*parts} == {str(CHECK)}:
                continue
            kept.setdefault(said, {})[hand_key(hand)] = parts
            own = [said | 1 << int(action) for action in parts if action != str(CHECK)]
            waiting += [after | 1 << bet for after in own for bet in small.raises(after)]
    told = {_bets(small, said): hands for said, hands in kept.items()}
    return {said_key(bets): told[bets] for bets in sorted(told)}


def _rounded(chances: dict[int, float]) -> Parts:
    """The chances in thousandths that add up, without the smallest."""
    likely = {act: chance for act, chance in chances.items() if chance * WHOLE >= _LEAST}
    total = sum(likely.values())
    parts = {act: round(chance / total * WHOLE) for act, chance in likely.items()}
    most = max(parts, key=parts.__getitem__)
    parts[most] += WHOLE - sum(parts.values())
    return {str(action): parts[action] for action in sorted(parts)}


def plays_of(small: SmallRound, name: str) -> Plays:
    """How a strategy plays; one that mixes says how; raises `ConfigError` where there is none.

    A bet that cannot hold counts as the highest that can, which wins no less.
    """
    player = build(name, Random(1))

    @cache
    def play(said: int, hand: Values) -> Mixture:
        position = position_in(small, said, hand)
        mixed = mixture(position) if isinstance(player, Bayes) else None
        chosen = mixed or ((player.decide(position).action, 1.0),)
        return tuple((_meant(small, said, action), often) for action, often in chosen)

    return play


def position_in(small: SmallRound, said: int, hand: Values) -> Position:
    """What the player to move sees, holding these values."""
    me = mover(said)
    cards = tuple(
        Card(value, hand[:place].count(value)) for place, value in reversed([*enumerate(hand)])
    )
    hands = (cards, ()) if me == STARTER else ((), cards)
    history = tuple(Move(place % 2, bet) for place, bet in enumerate(_bets(small, said)))
    return Position(me, 1, max_cards(2), small.cards, hands, me, history)


def _meant(small: SmallRound, said: int, action: int) -> int:
    if action in small.bets or action == CHECK:
        return action
    higher = small.raises(said)
    return higher[-1] if higher else CHECK

"""Making the shipped tables of solved rounds, and profiles: of a table, or of how a strategy plays.

A table keeps what a plan ever comes to, in thousandths; a hand that only checks is left out.
"""

import json
from collections.abc import Callable
from datetime import date
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
    mixture,
    said_key,
)
from research.blef.solve import (
    OTHER,
    STARTER,
    Profile,
    SmallRound,
    Values,
    best_response,
    exploitability,
    mover,
)
from research.blef.solve import Plan as SolvedPlan

FOLDER = Path(str(files("cardsharp.blef.strategies") / "tables"))

_LEAST = 5  # thousandths: what is played less often is not kept
Parts = dict[str, int]


def table_of(small: SmallRound, profile: Profile, made_by: str, made_on: date) -> Solution:
    """A profile as a table; its exploitability is that of what is written, not of the profile."""
    plans = (_plan(small, profile[STARTER], STARTER), _plan(small, profile[OTHER], OTHER))
    written = profile_in(small, plans)
    return Solution(
        cards=small.cards,
        value=round(best_response(small, written, STARTER), 6),
        exploitability=round(exploitability(small, written), 6),
        made_by=made_by,
        made_on=made_on.isoformat(),
        plans=plans,
    )


def write(table: Solution, folder: Path = FOLDER) -> Path:
    """The file in which the table is now; one line for everything that may have been said."""
    names = ("cards", "made_by", "made_on", "value", "exploitability")
    head = {"format": FORMAT, **{name: getattr(table, name) for name in names}}
    lines = [f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in head.items()]
    lines += [
        f"  {json.dumps(name)}: {{\n{_lines(plan)}\n  }}"
        for name, plan in zip(("starter", "other"), table.plans, strict=True)
    ]
    folder.mkdir(exist_ok=True)
    file = folder / f"{table.cards[0]}v{table.cards[1]}.json"
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n")
    return file


def _lines(plan: Plan) -> str:
    return ",\n".join(
        f"    {json.dumps(said)}: {json.dumps(hands)}" for said, hands in plan.items()
    )


def profile_in(small: SmallRound, plans: tuple[Plan, Plan]) -> Profile:
    """The plans of a table as a profile."""
    return _play_of(small, plans[STARTER], STARTER), _play_of(small, plans[OTHER], OTHER)


def _play_of(small: SmallRound, plan: Plan, seat: int) -> SolvedPlan:
    hands = [hand_key(hand) for hand in small.hands[seat]]
    found: SolvedPlan = {}
    for said, by_hand in plan.items():
        bets = [int(bet) for bet in said.split()]
        play = found.setdefault(sum(1 << bet for bet in bets), {})
        for hand, parts in by_hand.items():
            for action, chance in parts.items():
                row = play.setdefault(int(action), [0.0] * len(hands))
                row[hands.index(hand)] = chance / WHOLE
    return found


def _plan(small: SmallRound, plan: SolvedPlan, seat: int) -> Plan:
    """What the hands of a seat do wherever their own play, as it is kept, can lead."""
    kept: dict[str, dict[str, Parts]] = {}
    for number, hand in enumerate(small.hands[seat]):
        for said in sorted(plan):
            bets = tuple(bet for bet in small.bets if said >> bet & 1)
            if not _comes_to(kept, bets, hand):
                continue
            chances = {action: row[number] for action, row in plan[said].items()}
            parts = _rounded(chances)
            if parts and set(parts) != {str(CHECK)}:
                kept.setdefault(said_key(bets), {})[hand_key(hand)] = parts
    return {said: kept[said] for said in sorted(kept, key=lambda said: [*map(int, said.split())])}


def _comes_to(kept: dict[str, dict[str, Parts]], bets: tuple[int, ...], hand: Values) -> bool:
    """Whether the hand makes its own bets among these, by what is kept already."""
    key = hand_key(hand)
    return all(
        str(bets[made]) in kept.get(said_key(bets[:made]), {}).get(key, {})
        for made in range(len(bets) % 2, len(bets), 2)
    )


def _rounded(chances: dict[int, float]) -> Parts:
    """The chances in thousandths that add up, without the smallest."""
    likely = {act: chance for act, chance in chances.items() if chance * WHOLE >= _LEAST}
    total = sum(likely.values())
    if not total:
        return {}
    parts = {act: round(chance / total * WHOLE) for act, chance in likely.items()}
    most = max(parts, key=parts.__getitem__)
    parts[most] += WHOLE - sum(parts.values())
    return {str(action): parts[action] for action in sorted(parts)}


Plays = Callable[[Position], Mixture]  # what is played in a position, and how often each action


def plays(name: str) -> Plays:
    """What a strategy plays; one that mixes says how; raises `ConfigError` where there is none."""
    player = build(name, Random(1))

    def play(position: Position) -> Mixture:
        mixed = mixture(position) if isinstance(player, Bayes) else None
        return mixed or ((player.decide(position).action, 1.0),)

    return play


def profile_of(small: SmallRound, play: Plays) -> Profile:
    """A strategy as a profile.

    A bet that cannot hold counts as the highest that can, which wins no less.
    """
    return _plan_of(small, play, STARTER), _plan_of(small, play, OTHER)


def _plan_of(small: SmallRound, play: Plays, seat: int) -> SolvedPlan:
    plan: SolvedPlan = {}
    waiting = [(0, tuple(range(len(small.hands[seat]))))]
    while waiting:
        said, hands = waiting.pop()
        if mover(said) != seat:
            waiting += [(said | 1 << bet, hands) for bet in small.raises(said)]
            continue
        here = plan.setdefault(said, {})
        for hand in hands:
            for action, chance in play(position_in(small, said, small.hands[seat][hand])):
                row = here.setdefault(_meant(small, said, action), [0.0] * len(small.hands[seat]))
                row[hand] += chance
        for action, row in here.items():
            if action != CHECK:
                waiting.append((said | 1 << action, tuple(h for h in hands if row[h])))
    return plan


def position_in(small: SmallRound, said: int, hand: Values) -> Position:
    """What the player to move sees, holding these values."""
    me = mover(said)
    cards = tuple(
        Card(value, hand[:place].count(value)) for place, value in reversed([*enumerate(hand)])
    )
    hands = (cards, ()) if me == STARTER else ((), cards)
    bets = [bet for bet in small.bets if said >> bet & 1]
    history = tuple(Move(number % 2, bet) for number, bet in enumerate(bets))
    return Position(me, 1, max_cards(2), small.cards, hands, me, history)


def _meant(small: SmallRound, said: int, action: int) -> int:
    if action in small.bets or action == CHECK:
        return action
    higher = small.raises(said)
    return higher[-1] if higher else CHECK

"""Shipped tables of solved rounds: how they are written, and how well they and strategies play.

A table has the histories that its own play can reach, with probabilities in thousandths. A hand
that only checks is left out.
"""

import json
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path
from random import Random

from cardsharp.games.blef.actions import CHECK
from cardsharp.games.blef.cards import BlefCard
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.rules import RoundMove, max_cards
from cardsharp.games.blef.strategies import build
from cardsharp.games.blef.strategies.bayes import Bayes
from cardsharp.games.blef.strategies.equilibrium import (
    SOLVED_PROBABILITY_SCALE,
    SOLVED_ROUNDS_FORMAT,
    BehaviorStrategy,
    MixedStrategy,
    SolvedRound,
    equilibrium_strategy,
    hand_key,
    history_key,
    look_up_plan,
)
from cardsharp_tools.research.blef.cfr_solver import (
    SEATS,
    STARTER,
    SmallRound,
    StrategyFunction,
    Values,
    best_response_value,
    exploitability,
    seat_to_move,
)

TABLES_DIR = Path(str(files("cardsharp.games.blef.strategies") / "tables"))

_MIN_THOUSANDTHS = 5  # thousandths; an action with a lower probability is not stored
Thousandths = dict[str, int]


def to_solved_table(
    small_round: SmallRound, strategy: StrategyFunction, command: str, created_on: date
) -> SolvedRound:
    """Return a strategy as a table; its exploitability is that of the rounded values in it."""
    starter, other = (_build_plan(small_round, strategy, seat) for seat in SEATS)
    written = table_strategy(small_round, (starter, other))
    return SolvedRound(
        format=SOLVED_ROUNDS_FORMAT,
        cards=small_round.cards,
        made_by=command,
        made_on=created_on.isoformat(),
        value=round(best_response_value(small_round, written, STARTER), 6),
        exploitability=round(exploitability(small_round, written), 6),
        starter=starter,
        other=other,
    )


def write_solved_table(table: SolvedRound, folder: Path) -> Path:
    """Write a table to a file of its own, one line per entry, and return the file."""
    folder.mkdir(exist_ok=True)
    file = folder / "{}v{}.json".format(*table["cards"])
    lines = [f"  {json.dumps(name)}: {_format_entry(value)}" for name, value in table.items()]
    file.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")
    return file


def _format_entry(value: object) -> str:
    """Return an entry of the file as JSON; a plan has one line for each history."""
    if not isinstance(value, dict):
        return json.dumps(value)
    lines = (f"    {json.dumps(history)}: {json.dumps(hands)}" for history, hands in value.items())
    return "{\n" + ",\n".join(lines) + "\n  }"


def table_strategy(
    small_round: SmallRound, plans: tuple[BehaviorStrategy, BehaviorStrategy]
) -> StrategyFunction:
    """Return the strategy of a table."""

    def play(history: int, hand: Values) -> MixedStrategy:
        return look_up_plan(
            plans[seat_to_move(history)], _list_bets(small_round, history), hand_key(hand)
        )

    return play


def _list_bets(small: SmallRound, history: int) -> tuple[int, ...]:
    return tuple(bet for bet in small.bets if history >> bet & 1)


def _build_plan(small: SmallRound, plays: StrategyFunction, seat: int) -> BehaviorStrategy:
    """Return a seat's strategy at each history that it can reach by its own rounded play."""
    hands_by_history: dict[int, dict[str, Thousandths]] = {}
    for hand in small.hands[seat]:
        waiting = [0] if seat == STARTER else [1 << bet for bet in small.bets]
        while waiting:
            history = waiting.pop()
            thousandths = _round_to_thousandths(dict(plays(history, hand)))
            if {*thousandths} == {str(CHECK)}:
                continue
            hands_by_history.setdefault(history, {})[hand_key(hand)] = thousandths
            next_histories = [
                history | 1 << int(action) for action in thousandths if action != str(CHECK)
            ]
            waiting += [
                next_history | 1 << bet
                for next_history in next_histories
                for bet in small.legal_raises(next_history)
            ]
    hands_by_bets = {
        _list_bets(small, history): hands for history, hands in hands_by_history.items()
    }
    return {history_key(bets): hands_by_bets[bets] for bets in sorted(hands_by_bets)}


def _round_to_thousandths(chances: dict[int, float]) -> Thousandths:
    """Return the probabilities in thousandths, without those that are too small.

    The thousandths add up to 1,000.
    """
    likely = {
        act: chance
        for act, chance in chances.items()
        if chance * SOLVED_PROBABILITY_SCALE >= _MIN_THOUSANDTHS
    }
    total = sum(likely.values())
    thousandths = {
        act: round(chance / total * SOLVED_PROBABILITY_SCALE) for act, chance in likely.items()
    }
    likeliest = max(thousandths, key=thousandths.__getitem__)
    thousandths[likeliest] += SOLVED_PROBABILITY_SCALE - sum(thousandths.values())
    return {str(action): thousandths[action] for action in sorted(thousandths)}


def strategy_function_by_name(small_round: SmallRound, name: str) -> StrategyFunction:
    """Return a named strategy's play; a strategy that mixes reports its probabilities.

    Raises `ConfigError` if there is no such strategy. A bet that cannot hold counts as the
    highest bet that can, which wins no less.
    """
    player = build(name, Random(1))

    @cache
    def play(history: int, hand: Values) -> MixedStrategy:
        position = build_position(small_round, history, hand)
        mixed = equilibrium_strategy(position) if isinstance(player, Bayes) else None
        chosen = mixed or ((player.decide(position).action, 1.0),)
        return tuple(
            (_find_nearest_legal_action(small_round, history, action), often)
            for action, often in chosen
        )

    return play


def build_position(small_round: SmallRound, bets: int, hand: Values) -> BlefPosition:
    """Return the position of the player to move, who holds these ranks."""
    me = seat_to_move(bets)
    cards = tuple(
        BlefCard(value, hand[:card_index].count(value))
        for card_index, value in reversed([*enumerate(hand)])
    )
    hands = (cards, ()) if me == STARTER else ((), cards)
    history = tuple(
        RoundMove(bet_index % 2, bet) for bet_index, bet in enumerate(_list_bets(small_round, bets))
    )
    return BlefPosition(me, 1, max_cards(2), small_round.cards, hands, me, history)


def _find_nearest_legal_action(small: SmallRound, history: int, action: int) -> int:
    if action in small.bets or action == CHECK:
        return action
    higher = small.legal_raises(history)
    return higher[-1] if higher else CHECK

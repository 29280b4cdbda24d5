"""`bayes` as the judge of Blef: its chance not to lose the round, as a chance to win the match.

What a round is worth in the match is worked out as if everybody who is left were as likely to lose
each round to come. Over 115 matches of `bayes` against itself that foretold the winner better than
odds by who begins and who holds more cards (mean squared error 0.186 to 0.189 in 2,126 rounds).

In a solved round every action that the equilibrium takes is worth the same, for that is what it
balances; any other is worth what `bayes` thinks, and never more. In larger rounds so is what our
tables take often, or whoever mixes by them would be told that most of it is wrong.
"""

from collections.abc import Sequence
from functools import cache
from statistics import fmean

from cardsharp.blef.actions import CHECK, name_of
from cardsharp.blef.position import Position
from cardsharp.blef.replay import opened
from cardsharp.blef.rules import MIN_PLAYERS, max_cards
from cardsharp.blef.strategies import Decision, Option
from cardsharp.blef.strategies.bayes import Foresight, foresee, holds, weighed
from cardsharp.blef.strategies.equilibrium import SOLVED, Mixture, cards_of, mixture
from cardsharp.blef.strategies.tabled import tabled
from cardsharp.cloud.ports import MatchRecord, MoveRecord
from cardsharp.errors import ConfigError
from cardsharp.judge import Judge
from cardsharp.strategy import percent

_OFTEN = 0.05  # what our tables take at least so often costs nothing


class BayesJudgement(Judge):
    """What `bayes` expects of habits that nobody is known to have: a good guess, not the truth."""

    name = "bayes"

    def weigh(self, position: Position, also: Sequence[int] = ()) -> Decision:
        """Its decision, with those actions valued too."""
        seen, solved = foresee(position), mixture(position)
        found = weighed(position, seen) if solved is None else _equilibrium(position, seen, solved)
        mixed = None if cards_of(position) in SOLVED else tabled(position)
        as_good = {one for one, often in mixed or () if often >= _OFTEN}
        shown = {one.action for one in found.options}
        most = max(one.value for one in found.options)
        rest = [_option(position, seen, one) for one in also if one not in shown]
        options = tuple(
            Option(
                one.action,
                _in_match(position, most if one.action in as_good else min(one.value, most)),
                one.note,
            )
            for one in (*found.options, *rest)
        )
        return Decision(found.action, found.reason, options)

    def result(self, record: MatchRecord, moves: Sequence[MoveRecord]) -> float | None:
        """1 where the first player is left; raises `ConfigError` if there are more than two."""
        rounds = opened(record, moves)
        players = max((len(one.hands) for one in rounds.values()), default=MIN_PLAYERS)
        if players > MIN_PLAYERS:
            raise ConfigError(
                f"Match {record.match_id} has {players} players; of Blef only two are analysed."
            )
        last = rounds[max(rounds)] if rounds else None
        if last is None:
            return None
        loser = last.history[-1].seat
        if last.n_cards[loser] < max_cards(players):
            return None
        return float(loser == 1)


def _equilibrium(position: Position, seen: Foresight, solved: Mixture) -> Decision:
    """What the equilibrium does most often; all that it does is worth the same."""
    often = dict(solved)
    worth = max(_chance(position, seen, one) for one in often)
    options = tuple(
        Option(one, worth, f"the equilibrium has it with {percent(often[one])}") for one in often
    )
    best = max(often, key=lambda one: often[one])
    reason = f"This round is solved; its equilibrium has {name_of(best)} with "
    return Decision(best, f"{reason}{percent(often[best])}.", options)


def _option(position: Position, seen: Foresight, action: int) -> Option:
    last = position.last_bet if action == CHECK else action
    held = "" if last is None else holds(seen.chances[last])
    return Option(action, _chance(position, seen, action), held)


def _chance(position: Position, seen: Foresight, action: int) -> float:
    """The chance not to lose the round with an action."""
    last = position.last_bet
    if action == CHECK and last is not None:
        return 1 - seen.chances[last]
    return seen.bet(action)


def _in_match(position: Position, kept: float) -> float:
    """The chance to win the match of who does not lose the round with the chance `kept`."""
    me = position.me or 0
    lives = [position.max_cards + 1 - cards if cards else 0 for cards in position.n_cards]
    others = tuple(left for seat, left in enumerate(lives) if seat != me and left)
    return kept * _others_lose(lives[me], others) + (1 - kept) * chance(lives[me] - 1, others)


def _others_lose(mine: int, others: tuple[int, ...]) -> float:
    """The chance of who has so many rounds to lose once one of the others has lost a round."""
    return fmean(
        chance(mine, (*others[:place], left - 1, *others[place + 1 :]))
        for place, left in enumerate(others)
    )


@cache
def chance(mine: int, others: tuple[int, ...]) -> float:
    """The chance to be left of who may lose so many rounds, against others who may lose theirs."""
    there = tuple(sorted(left for left in others if left))
    if not mine or not there:
        return float(bool(mine))
    one = 1 / (1 + len(there))
    return one * chance(mine - 1, there) + (1 - one) * _others_lose(mine, there)


JUDGE = BayesJudgement()

"""Sentences about a round of Blef, the same in a terminal, on a page and in a log."""

from collections.abc import Callable, Sequence

from cardsharp.core.sentences import YOU, count_text, to_sentence
from cardsharp.games.blef.actions import CHECK, LOST_MARKER, action_name
from cardsharp.games.blef.rules import Round, RoundMove

PlayerName = Callable[[int], str]
"""Function that returns the name of the player at a seat; "you" is a name, too."""

_KINDS_WITHOUT_ARTICLE = ("two pair", "three of a kind", "four of a kind")


def bet_text(bet: int, *, has_article: bool = True) -> str:
    """Return a bet as a part of a sentence, such as "a pair of 10s" or "two pair, aces and 9s".

    Without the article the text can follow "your" or "the".
    """
    name = action_name(bet)
    text = name[:1].lower() + name[1:].partition(" (")[0] + name.partition(")")[2]
    if text.startswith("high card, "):
        rank = text.removeprefix("high card, ")
        article = "an" if rank == "ace" else "a"
        return f"{article} {rank} as high card" if has_article else rank
    if not has_article or text.startswith(_KINDS_WITHOUT_ARTICLE):
        return text
    return f"a {text}"


def action_predicate(action: int, last_bet: int | None, bettor: str = "") -> str:
    """Return what a player did: "bet a pair of 10s", "raised to a flush", "checked your flush".

    `last_bet` is the bet before it, None for the first bet of a round, and `bettor` the name of
    the player who made it; without one a check does not name that player.
    """
    if action == LOST_MARKER:
        return "lost the round"
    if last_bet is None:
        return f"bet {bet_text(action)}"
    if action == CHECK:
        return f"checked {_owner_text(bettor)} {bet_text(last_bet, has_article=False)}"
    return f"raised to {bet_text(action)}"


def _owner_text(bettor: str) -> str:
    if not bettor:
        return "the"
    return "your" if bettor == YOU else f"{bettor}\N{RIGHT SINGLE QUOTATION MARK}s"


def move_sentence(history: Sequence[RoundMove], name_of: PlayerName) -> str:
    """Return the last move of a round's history as a sentence."""
    *earlier_moves, move = history
    last_bet, bettor = None, ""
    if earlier_moves:
        last_bet, bettor = earlier_moves[-1].action, name_of(earlier_moves[-1].seat)
    return to_sentence(f"{name_of(move.seat)} {action_predicate(move.action, last_bet, bettor)}")


def bet_result_sentence(closed: Round) -> str:
    """Return whether the last bet of a closed round held."""
    bettor, bet = closed.history[-3]
    verb = "did not hold" if closed.history[-1].seat == bettor else "held"
    return f"The bet, {bet_text(bet)}, {verb}."


def round_loss_sentence(closed: Round, next_count: int, name_of: PlayerName) -> str:
    """Return who lost a closed round, and what follows from it.

    `next_count` is the loser's number of cards in the next round, 0 if the player is out.
    """
    name = name_of(closed.history[-1].seat)
    if next_count:
        now = f"{'play' if name == YOU else 'plays'} on with {count_text(next_count, 'card')}"
    else:
        now = f"{'are' if name == YOU else 'is'} out"
    return to_sentence(f"{name} lost the round and {now}")

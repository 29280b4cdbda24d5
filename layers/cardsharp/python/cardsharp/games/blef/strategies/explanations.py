"""Reasons for decisions in the terms of the game: what the hand says, and what the bets suggest."""

from cardsharp.core.sentences import number_text, to_sentence
from cardsharp.games.blef.actions import BETS, CHECK
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.sentences import bet_text
from cardsharp.games.blef.strategies.bet_probabilities import (
    bet_probabilities,
    card_bits,
    missing_card_bits,
)

_LIKELIHOODS = (
    (0.85, "very likely"),
    (0.6, "likely"),
    (0.4, "about as likely as not"),
    (0.15, "unlikely"),
    (0.0, "very unlikely"),
)
"""Words for the probability that a bet holds, each with its minimum."""

_BLUFF = 0.4  # a bet that is less likely by the hand alone is a bluff
_BLUFF_TEXT = "it is a bluff, made now and then so that bets do not give the hand away"


def explain_choice(position: BlefPosition, action: int, belief: float | None = None) -> str:
    """Return why a good player chooses `action`, in one sentence.

    Likelihoods follow from the cards of the hand alone. `belief` is the probability that the bet
    in question holds by all bets so far, if a strategy estimates it: the new bet or, for a check,
    the last one.
    """
    return to_sentence(
        _explain_check(position, belief)
        if action == CHECK
        else _explain_bet(position, action, belief)
    )


def _explain_bet(position: BlefPosition, bet: int, belief: float | None) -> str:
    probability, last_bet = _hold_probability(position, bet), position.last_bet
    text = f"it is {_likelihood_text(probability)}: {_holding_text(position, bet)}"
    if probability in {0.0, 1.0} or last_bet is None:
        return text if probability >= _BLUFF else f"{text}; {_BLUFF_TEXT}"
    if belief is not None and belief >= _BLUFF > probability:
        return f"{text}, but the bets so far suggest that the others hold the rest"
    if probability < _BLUFF and not _have_common_ranks(bet, last_bet):
        return f"{text}; {_BLUFF_TEXT}"
    if _have_common_ranks(bet, last_bet):
        return f"{text}, and the last bet suggests that another hand helps"
    return text


def _explain_check(position: BlefPosition, belief: float | None) -> str:
    last_bet = position.last_bet
    if last_bet is None:
        return "there is no bet to beat"
    if BETS[last_bet].size > sum(position.card_counts):
        return f"the last bet, {bet_text(last_bet)}, needs more cards than are in play"
    probability = _hold_probability(position, last_bet)
    likely = _likelihood_text(probability)
    text = f"the last bet, {bet_text(last_bet)}, is {likely}: {_holding_text(position, last_bet)}"
    if last_bet == len(BETS) - 1:
        return f"{text}, and nothing higher can be bet"
    if probability < _BLUFF:
        return text
    if belief is not None and belief < _BLUFF:
        return f"{text}, but the bets so far suggest that the others lack the rest"
    return f"{text}, but a higher bet is a greater risk"


def _holding_text(position: BlefPosition, bet: int) -> str:
    """Return how many cards of a bet the hand holds, and how many hidden cards there are."""
    size = BETS[bet].size
    own_count = size - missing_card_bits(bet, card_bits(position.hand)).bit_count()
    if own_count == size:
        cards = {1: "it", 2: "both cards of it"}
        return f"the hand holds {cards.get(size, f'all {number_text(size)} cards of it')}"
    hidden = position.hidden_card_count
    rest = "one hidden card" if hidden == 1 else f"{number_text(hidden)} hidden cards"
    if size == 1:
        return f"the hand lacks it, and there {'is' if hidden == 1 else 'are'} {rest}"
    number = number_text(own_count) if own_count else "none"
    return f"the hand holds {number} of its {number_text(size)} cards, with {rest}"


def _likelihood_text(probability: float) -> str:
    if probability in {0.0, 1.0}:
        return "certain" if probability else "impossible"
    return next(text for minimum, text in _LIKELIHOODS if probability >= minimum)


def _hold_probability(position: BlefPosition, bet: int) -> float:
    return bet_probabilities(card_bits(position.hand), position.hidden_card_count)[bet]


def _have_common_ranks(bet: int, other_bet: int) -> bool:
    ranks, other_ranks = (
        {rank for rank, _ in BETS[claim].rank_counts} for claim in (bet, other_bet)
    )
    return bool(ranks & other_ranks)

"""Reasons for decisions in the terms of the game: what is at stake, and what can be gained."""

from cardsharp.core.sentences import count_in_words, number_text, to_sentence
from cardsharp.games.deadmansdraw.actions import (
    DRAW,
    END_TURN,
    Action,
    EffectType,
    PendingEffect,
)
from cardsharp.games.deadmansdraw.cards import Bank, Card, Suit, anchored_count
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.sentences import card_text
from cardsharp.games.deadmansdraw.strategies.position_features import (
    answer_would_bust,
    bank_gain,
    bank_loss,
    busting_card_count,
    suits_in_play,
    total_bank_gain,
)
from cardsharp.play.strategy import format_percent

_LOW_RISK = 0.2  # share of bad cards that a person calls "only"
_HIGH_RISK = 0.3  # share of bad cards from which a draw needs another reason


def explain_choice(position: DeadMansDrawPosition, action: Action) -> str:
    """Return why a good player chooses `action`, in one sentence with its risk and its gain."""
    if action == END_TURN:
        return to_sentence(_explain_bank(position))
    if position.pending is not None and action != DRAW:
        return to_sentence(_explain_answer(position, position.pending, action.card))
    if END_TURN not in position.legal_actions():
        return "A card must be drawn."
    return to_sentence(_explain_draw(position))


def _explain_draw(position: DeadMansDrawPosition) -> str:
    points, risk_text = _points_at_stake(position), _describe_draw_risk(position)
    stakes = f"{_points_text(points)} at stake"
    if position.known_top is not None:
        return risk_text
    if not busting_card_count(position):
        return f"{stakes}, and {risk_text}"
    if _bust_share(position) < _HIGH_RISK:
        return f"{stakes}, and {risk_text}"
    behind = position.opponent_bank.score - position.own_bank.score
    if behind > points > 0:
        lead = count_in_words(behind, "point")
        return f"{risk_text}, but the opponent leads by {lead} and {_points_text(points)} too few"
    return f"{stakes} and {risk_text}, but one more card is worth that risk"


def _explain_bank(position: DeadMansDrawPosition) -> str:
    points = total_bank_gain(position.own_bank, position.play_area)
    bonus = ""
    if {Suit.CHEST, Suit.KEY} <= suits_in_play(position):
        cards = count_in_words(len(position.play_area), "card")
        bonus = f" and Chest and Key bring up to {cards} more"
    safe = f"{_points_text(points)} safe now{bonus}"
    if not position.unseen:
        return safe
    return f"{safe}, while {_describe_draw_risk(position)}"


def _explain_answer(
    position: DeadMansDrawPosition, pending: PendingEffect, card: Card | None
) -> str:
    if card is None:
        return "the card that the Oracle shows is not wanted"
    gain = _describe_gain(position, pending, card)
    if answer_would_bust(position, card):
        return f"{gain}, though a second {card.suit} busts"
    return gain


def _describe_gain(position: DeadMansDrawPosition, pending: PendingEffect, card: Card) -> str:
    gain = count_in_words(bank_gain(position.own_bank, card), "point")
    match pending.effect_type:
        case EffectType.CANNON:
            return f"it costs the opponent {_loss_text(position.opponent_bank, card)}"
        case EffectType.SWORD:
            loss = _loss_text(position.opponent_bank, card)
            return f"it costs the opponent {loss} and is worth {gain} if banked"
        case EffectType.HOOK:
            staked = _loss_text(position.own_bank, card)
            return f"it comes into play again, with {staked} at stake"
        case EffectType.ORACLE:
            return f"it is known to be next, and is worth {gain} if banked"
        case _:
            return f"it is worth {gain} if banked"


def _loss_text(bank: Bank, card: Card) -> str:
    return count_in_words(bank_loss(bank, card), "point")


def _describe_draw_risk(position: DeadMansDrawPosition) -> str:
    """Return how likely a draw busts, as a clause: "only four of the 49 cards bust"."""
    known_top, unseen_count = position.known_top, len(position.unseen)
    if known_top is not None:
        end = "would bust" if known_top.suit in suits_in_play(position) else "is safe"
        return f"the next card is {card_text(known_top)}, which {end}"
    bad = busting_card_count(position)
    if not bad:
        return "no card can bust"
    only = "only " if _bust_share(position) < _LOW_RISK else ""
    verb = "busts" if bad == 1 else "bust"
    return f"{only}{number_text(bad)} of the {number_text(unseen_count)} cards {verb}"


def _bust_share(position: DeadMansDrawPosition) -> float:
    return busting_card_count(position) / len(position.unseen) if position.unseen else 0.0


def _points_at_stake(position: DeadMansDrawPosition) -> int:
    """Return the points that a bust would lose: those of the cards that no Anchor saves."""
    area, bank = position.play_area, position.own_bank
    return total_bank_gain(bank, area) - total_bank_gain(bank, area[: anchored_count(area)])


def _points_text(points: int) -> str:
    return f"{count_in_words(points, 'point')} {'is' if points == 1 else 'are'}"


def describe_option(position: DeadMansDrawPosition, action: Action) -> str:
    """Return a note on the gain or the risk of an option, for a table of the options."""
    pending, area = position.pending, position.play_area
    if action == END_TURN:
        treasure = {Suit.CHEST, Suit.KEY} <= suits_in_play(position)
        bonus = f" and up to {len(area)} bonus cards" if treasure else ""
        return f"banks {total_bank_gain(position.own_bank, area)}{bonus}"
    if pending is not None and action.card is not None:
        note = _describe_answer(position, pending, action.card)
        return f"{note}, busts" if answer_would_bust(position, action.card) else note
    known_top, unseen = position.known_top, position.unseen
    if known_top is not None:
        return (
            f"{known_top} is next and "
            f"{'busts' if known_top.suit in suits_in_play(position) else 'is safe'}"
        )
    saved = total_bank_gain(position.own_bank, area[: anchored_count(area)])
    anchor_note = f", the Anchor saves {saved}" if saved else ""
    risk = busting_card_count(position) / len(unseen) if unseen else 0.0
    return f"busts {format_percent(risk)}{anchor_note}"


def _describe_answer(position: DeadMansDrawPosition, pending: PendingEffect, card: Card) -> str:
    match pending.effect_type:
        case EffectType.CANNON | EffectType.SWORD:
            return f"costs the opponent {bank_loss(position.opponent_bank, card)}"
        case EffectType.HOOK:
            return f"puts {bank_loss(position.own_bank, card)} at stake again"
        case EffectType.ORACLE:
            return "is the next card"
        case _:
            return f"would bank {bank_gain(position.own_bank, card)}"

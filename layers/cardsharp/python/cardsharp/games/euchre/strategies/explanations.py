"""Reasons for decisions in the terms of the game: what a hand holds, and what a card is for."""

from cardsharp.core.sentences import count_in_words, to_sentence
from cardsharp.games.euchre.actions import Action, Bid, Defend, Discard, Play
from cardsharp.games.euchre.cards import (
    ACE,
    JACK,
    SUIT_NAMES,
    Card,
    Suit,
    rank_of,
    suit_of,
    trick_strength,
)
from cardsharp.games.euchre.position import EuchrePosition
from cardsharp.games.euchre.public_state import DEALER, PublicState
from cardsharp.games.euchre.sentences import short_card_text
from cardsharp.games.euchre.strategies.bidding import card_mask, value_hand

_FIRST_ROUND_BIDS = 4  # bids of the first round, in which the turned-up card is offered
_VALUE_OF_TRICK = 1000  # unit in which `bidding` values a hand


def explain_choice(position: EuchrePosition, action: Action) -> str:
    """Return why a good player chooses `action`, in one sentence."""
    match action:
        case Bid():
            text = _explain_bid(position, action)
        case Discard(card):
            text = _explain_discard(position, card)
        case Defend(alone):
            text = (
                "the hand is strong enough to stop the caller alone, for four points"
                if alone
                else "two defend better than one"
            )
        case Play(card):
            text = _explain_play(position, card)
    return to_sentence(text)


# --- bids ------------------------------------------------------------------------------------


def _explain_bid(position: EuchrePosition, bid: Bid) -> str:
    table = position.public_state
    valuation = value_hand(card_mask(position.hand), len(table.bids), table.turn_card)
    suit = valuation.best_suit if bid.suit is None else bid.suit
    value = valuation.value_by_suit[suit]
    worth = (
        f"with {SUIT_NAMES[suit]} as trumps the hand "
        f"({_hand_text(_hand_after_call(position, suit), suit)}) "
        f"is worth about {value / _VALUE_OF_TRICK:.1f} tricks"
    )
    if bid.suit is None:
        if value < valuation.threshold:
            return f"{worth}, too few to promise three"
        return f"{worth}, but a call brings fewer points than a pass"
    if bid.goes_alone:
        return f"{worth}, and alone all five bring four points"
    if value < valuation.threshold:
        return f"{worth}, and a pass would leave the call to the others"
    return f"{worth}, and with the partner's help three are likely"


def _hand_after_call(position: EuchrePosition, suit: Suit) -> tuple[Card, ...]:
    """Return the hand with the turned-up card if the seat gets it by calling `suit`."""
    table = position.public_state
    gets_card = position.seat == DEALER and len(table.bids) < _FIRST_ROUND_BIDS
    is_turned = suit == table.turn_card & 3
    return (*position.hand, table.turn_card) if gets_card and is_turned else position.hand


def _hand_text(hand: tuple[Card, ...], trump: Suit) -> str:
    """Return what a hand is worth with these trumps: "three trumps with the right bower"."""
    trumps = _trumps_of(hand, trump)
    aces = [card for card in hand if rank_of(card) == ACE and card not in trumps]
    bowers = [
        "the right bower" if card & 3 == trump else "the left bower"
        for card in sorted(trumps, key=lambda card: card & 3 != trump)
        if rank_of(card) == JACK
    ]
    text = count_in_words(len(trumps), "trump")
    if bowers:
        text = f"{text} with {'both bowers' if len(bowers) > 1 else bowers[0]}"
    return f"{text} and {count_in_words(len(aces), 'other ace')}" if aces else text


def _trumps_of(hand: tuple[Card, ...], trump: Suit) -> list[Card]:
    return [card for card in hand if suit_of(card, trump) == trump]


def _explain_discard(position: EuchrePosition, card: Card) -> str:
    trump = position.public_state.turn_card & 3
    suit = suit_of(card, trump)
    if suit == trump:
        return f"{short_card_text(card)} is the lowest card of a hand of trumps"
    if sum(suit_of(other, trump) == suit for other in position.hand) == 1:
        return f"without {SUIT_NAMES[suit]} that suit can be trumped"
    return f"{short_card_text(card)} is missed least"


# --- cards -----------------------------------------------------------------------------------


def _explain_play(position: EuchrePosition, card: Card) -> str:
    table = position.public_state
    trick = table.current_trick
    if not trick:
        return _explain_lead(position, card)
    trump = table.require_trump_call.suit
    next_state = table.with_action(position.seat, Play(card))
    wins_now = _leader_of_trick(next_state) == position.seat
    is_last = not next_state.current_trick
    if wins_now:
        return _explain_winning_card(table, card, is_last=is_last)
    if table.trick_winner(trick) == position.partner:
        return "the partner is winning the trick, so a low card is enough"
    can_win = any(
        _leader_of_trick(table.with_action(position.seat, action)) == position.seat
        for action in position.legal_actions
        if isinstance(action, Play)
    )
    if can_win:
        return "the card that could win is worth more later"
    kept_text = "" if suit_of(card, trump) == trump else ", so the trumps and high cards are kept"
    return f"no card of the hand beats {_best_card_text(table)}{kept_text}"


def _explain_winning_card(table: PublicState, card: Card, *, is_last: bool) -> str:
    trump, led = table.require_trump_call.suit, table.suit_led
    if suit_of(card, trump) == trump != led:
        return f"a trump beats {_best_card_text(table)}{'' if is_last else ' for now'}"
    if is_last:
        return f"it beats {_best_card_text(table)} and takes the trick"
    return f"it beats {_best_card_text(table)}, the best card so far"


def _explain_lead(position: EuchrePosition, card: Card) -> str:
    table = position.public_state
    call = table.require_trump_call
    trump, suit = call.suit, suit_of(card, call.suit)
    higher = [
        other
        for other in (*position.unseen_cards, table.turn_card)
        if suit_of(other, trump) == suit
        and other not in position.seat_cards
        and not _has_been_played(table, other)
        and trick_strength(other, trump, suit) > trick_strength(card, trump, suit)
    ]
    is_calling_side = (position.seat - call.caller_seat) % 2 == 0
    if suit == trump:
        if is_calling_side:
            return "leading trumps draws those of the other side"
        return "only trumps are left" if _is_only_trumps(position, trump) else "it draws trumps"
    if not higher:
        return f"no higher card of {SUIT_NAMES[suit]} is left, so only a trump can beat it"
    return f"a low card of {SUIT_NAMES[suit]} keeps the strong cards back"


def _is_only_trumps(position: EuchrePosition, trump: Suit) -> bool:
    return all(suit_of(card, trump) == trump for card in position.hand)


def _has_been_played(table: PublicState, card: Card) -> bool:
    return any(card == played for trick in table.tricks for _, played in trick)


def _leader_of_trick(table: PublicState) -> int:
    return table.trick_winner(table.tricks[-1])


def _best_card_text(table: PublicState) -> str:
    winner = table.trick_winner(table.current_trick)
    return short_card_text(dict(table.current_trick)[winner])

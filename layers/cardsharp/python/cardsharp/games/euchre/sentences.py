"""Sentences about a deal of Euchre, the same in a terminal, on a page and in a log.

A sentence begins with the name of a player. What follows it is a predicate in the past tense, so
that it is the same for "you" and for others: "Right ordered up the jack of clubs."
"""

from collections.abc import Callable

from cardsharp.core.sentences import YOU, capitalise, count_text, list_text, to_sentence
from cardsharp.games.euchre.actions import Action, Bid, Defend, Discard, Play
from cardsharp.games.euchre.cards import (
    JACK,
    RANK_NAMES,
    SUIT_LETTERS,
    SUIT_NAMES,
    SUIT_SYMBOLS,
    Card,
    Suit,
    rank_of,
    suit_of,
)
from cardsharp.games.euchre.public_state import DEALER, PublicState, TrumpCall
from cardsharp.games.euchre.rules import DealResult

_RANK_WORDS = ("9", "10", "jack", "queen", "king", "ace")

PlayerName = Callable[[int], str]
"""Function that returns the name of the player at a seat of the deal; "you" is a name, too."""


def card_text(card: Card, trump: Suit | None = None) -> str:
    """Return a card in words, such as "jack of hearts"; a bower also has its own name."""
    text = f"{_RANK_WORDS[rank_of(card)]} of {SUIT_NAMES[card & 3]}"
    if trump is None or rank_of(card) != JACK or suit_of(card, trump) != trump:
        return text
    return f"{text}, the {'right' if card & 3 == trump else 'left'} bower"


def short_card_text(card: Card) -> str:
    """Return a card with its suit's symbol, such as J♥."""
    return RANK_NAMES[rank_of(card)] + SUIT_SYMBOLS[card & 3]


def suit_text(suit: Suit) -> str:
    """Return a suit with its symbol, such as "hearts (♥)"."""
    return f"{SUIT_NAMES[suit]} ({SUIT_SYMBOLS[suit]})"


def action_predicate(
    previous_state: PublicState, action: Action, *, is_card_visible: bool = True
) -> str:
    """Return what a player did: "ordered up the jack of clubs", "led the ace of hearts".

    `previous_state` is the state before the action. The card of a discard is left out unless it
    is visible.
    """
    match action:
        case Bid():
            return _bid_predicate(previous_state, action)
        case Discard(card):
            return f"discarded the {card_text(card)}" if is_card_visible else "discarded a card"
        case Defend(alone):
            return "chose to defend alone" if alone else "left the defence to both"
        case Play(card):
            return _play_predicate(previous_state, card)


def _bid_predicate(table: PublicState, bid: Bid) -> str:
    if bid.suit is None:
        return "passed"
    bid_index = len(table.bids)
    if bid_index > DEALER:
        call_text = f"named {SUIT_NAMES[bid.suit]}"
    else:
        verb = "picked up" if bid_index == DEALER else "ordered up"
        call_text = f"{verb} the {card_text(table.turn_card)}"
    return f"{call_text} and went alone" if bid.goes_alone else call_text


def _play_predicate(table: PublicState, card: Card) -> str:
    trump, led = table.trump, table.suit_led
    text = card_text(card, trump)
    if led is None:
        return f"led the {text}"
    has_trumped = suit_of(card, trump) == trump != led
    return f"{'trumped with' if has_trumped else 'played'} the {text}"


def label_action(text: str) -> str:
    """Return the name of an action at the table from its name in the log, such as "play KH"."""
    verb, _, card = text.partition(" ")
    if verb not in {"play", "discard"} or not card or card[-1] not in SUIT_LETTERS:
        return text
    short = card[:-1] + SUIT_SYMBOLS[SUIT_LETTERS.index(card[-1])]
    return short if verb == "play" else f"discard {short}"


def action_sentence(
    previous_state: PublicState,
    action: Action,
    next_state: PublicState,
    seat: int,
    name_of: PlayerName,
) -> str:
    """Return an action as a sentence, with the winner of the trick that it completes.

    The card of a discard is named only to the player who discarded.
    """
    player = name_of(seat)
    predicate = action_predicate(previous_state, action, is_card_visible=player == YOU)
    return to_sentence(f"{player} {add_trick_winner(predicate, action, next_state, seat, name_of)}")


def add_trick_winner(
    predicate: str, action: Action, next_state: PublicState, seat: int, name_of: PlayerName
) -> str:
    """Return a predicate with the winner of the trick that the action completes, if it does."""
    is_complete = isinstance(action, Play) and not next_state.current_trick
    if not is_complete or next_state.trump_call is None:
        return predicate
    winner = next_state.trick_winners[-1]
    if winner != seat:
        return f"{predicate}; {name_of(winner)} won the trick"
    comma = "," if predicate.endswith("bower") else ""
    return f"{predicate}{comma} and won the trick"


def bids_text(state: PublicState, name_of: PlayerName) -> str:
    """Return who has passed so far, or "nobody has bid"."""
    seats = [bid_index % 4 for bid_index in range(len(state.bids))]
    if not seats:
        return "nobody has bid"
    first_round, second_round = seats[:4], seats[4:]
    passed = f"{list_text([*map(name_of, first_round)])} passed"
    if len(first_round) < 4:  # noqa: PLR2004 - seats at the table
        return passed
    text = f"nobody wanted {short_card_text(state.turn_card)}"
    if not second_round:
        return text
    return f"{text}; {list_text([*map(name_of, second_round)])} passed again"


def deal_result_sentence(
    result: DealResult, call: TrumpCall | None, caller: str, scorers: str
) -> str:
    """Return how a deal ended: who called what, the tricks of that side, and who scores.

    `caller` is the caller's name and `scorers` the name of the side that scores, such as "you"
    or "they".
    """
    if call is None:
        return "Everybody passed, so the cards are dealt again."
    alone = " alone" if call.goes_alone else ""
    call_text = f"{capitalise(caller)} called {SUIT_NAMES[call.suit]}{alone}"
    tricks = count_text(result.tricks, "trick")
    points = f"{scorers} score {count_text(max(result.points), 'point')}"
    if result.is_euchred:
        took = f"took only {tricks}" if result.tricks else "took no trick"
        was = "were" if caller == YOU else "was"
        return f"{call_text}, {took} and {was} euchred: {points}."
    return f"{call_text} and took {tricks}: {points}."


def score_sentence(points: tuple[int, int]) -> str:
    """Return the score of the match as a sentence, from the first side's view."""
    return f"The score is {points[0]} for you and {points[1]} for them."

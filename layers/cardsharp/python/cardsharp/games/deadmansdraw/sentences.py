"""Sentences about a turn of Dead Man's Draw, the same in a terminal, on a page and in a log."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cardsharp.core.sentences import count_text
from cardsharp.games.deadmansdraw.actions import (
    DRAW,
    END_TURN,
    Action,
    EffectType,
    respond,
)
from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.games.deadmansdraw.events import (
    CardDrawn,
    Comment,
    EffectAnswered,
    EffectPending,
    Event,
    MatchEnded,
    TurnEnded,
)

PhrasePart = str | Card
Clause = tuple[PhrasePart, ...]
"""Verb with its cards; a card stands for itself, so that a terminal can colour it."""

_ANSWER_VERBS: Mapping[str, tuple[str, str]] = {
    EffectType.HOOK: ("hook", "hooked"),
    EffectType.SWORD: ("steal", "stole"),
    EffectType.CANNON: ("shoot", "shot"),
    EffectType.MAP: ("dig up", "dug up"),
    EffectType.ORACLE: ("take", "took"),
}
"""Verbs of the answers to effects: as a name of the action, and in the past tense."""


def card_text(card: Card) -> str:
    """Return a card in words, such as "Key 3"."""
    return f"{card.suit} {card.value}"


def action_name(action: Action, cards: Sequence[Card] = ()) -> str:
    """Return the name that an action has at the table, such as "draw", "bank" or "hook Key 3".

    `cards` are those that a pending Oracle shows; "leave" names them.
    """
    if cards and action == respond(EffectType.ORACLE):
        return f"leave {' '.join(map(card_text, cards))}"
    return label_action(str(action))


def label_action(text: str) -> str:
    """Return the name of an action at the table from its name in the log, such as "Hook: Key3".

    A text that names no action stays as it is.
    """
    name, _, manner = text.partition(" (")
    effect, _, card = name.partition(": ")
    if name in _LOG_NAMES:
        label = _LOG_NAMES[name]
    elif effect in _ANSWER_VERBS and card:
        label = f"{_ANSWER_VERBS[effect][0]} {re.sub(r'(?<=[A-Za-z])(?=[0-9])', ' ', card)}"
    else:
        return text
    return f"{label} ({manner}" if manner else label


_LOG_NAMES: Mapping[str, str] = {
    str(DRAW): "draw",
    str(END_TURN): "bank",
    str(respond(EffectType.ORACLE)): "leave the card",
}


def turn_clauses(events: Iterable[Event], gain: int | None = None) -> Iterator[Clause]:
    """Yield what a player did in a turn or in a part of it, clause by clause.

    Cards that are drawn one after the other make one clause. `gain` is the change of the
    player's score if the turn ends with these events; without it the end has no points.
    """
    drawn_cards: list[Card] = []
    oracle_card: Card | None = None
    for event in events:
        if isinstance(event, CardDrawn):
            drawn_cards.append(event.card)
            continue
        if isinstance(event, EffectPending) and event.effect.effect_type is EffectType.ORACLE:
            oracle_card = next(iter(event.effect.cards), None)
        clauses = list(_describe_event(event, oracle_card, gain))
        if clauses:
            yield from _drawn_clause(drawn_cards)
            drawn_cards = []
            yield from clauses
    yield from _drawn_clause(drawn_cards)


def _drawn_clause(cards: Sequence[Card]) -> Iterator[Clause]:
    if cards:
        yield ("drew ", *_enumerate_cards(cards))


def _describe_event(event: Event, oracle_card: Card | None, gain: int | None) -> Iterator[Clause]:
    match event:
        case EffectAnswered():
            yield from _describe_answer(event, oracle_card)
        case TurnEnded(is_banked, bonus):
            if bonus:
                yield ("found ", *_enumerate_cards(bonus), " as a bonus")
            yield (_describe_end(gain, is_banked=is_banked),)
        case MatchEnded((first_score, second_score), _, was_terminated):
            by_decision = " by decision" if was_terminated else ""
            yield (f"the match ended{by_decision} {first_score} : {second_score}",)
        case Comment(text):
            yield (f"({text})",)


def _describe_answer(event: EffectAnswered, oracle_card: Card | None) -> Iterator[Clause]:
    if event.card is None and oracle_card is not None:
        yield ("left ", oracle_card)
    # The card that an Oracle shows is drawn by the next event.
    elif event.card is not None and event.effect_type != EffectType.ORACLE:
        _, verb = _ANSWER_VERBS.get(event.effect_type, ("answer", "answered"))
        yield (f"{verb} ", event.card)


def _describe_end(gain: int | None, *, is_banked: bool) -> str:
    if is_banked:
        return "banked" if gain is None else f"banked {count_text(gain, 'point')}"
    if not gain:
        return "busted"
    if gain > 0:
        return f"busted, but the Anchor saved {count_text(gain, 'point')}"
    return f"busted, losing {count_text(-gain, 'point')}"


def _enumerate_cards(cards: Sequence[Card]) -> Iterator[PhrasePart]:
    for index, card in enumerate(cards):
        if index:
            yield " and " if index == len(cards) - 1 else ", "
        yield card


def join_clauses(clauses: Sequence[Clause]) -> Iterator[PhrasePart]:
    """Yield the parts of clauses as one predicate: "drew Key 3, hooked Map 5 and busted"."""
    for index, clause in enumerate(clauses):
        if index and index < len(clauses) - 1:
            yield ", "
        elif index:
            # A comma keeps the last verb apart from a list of cards before it.
            yield ", and " if index > 1 or " and " in clauses[0] else " and "
        yield from clause


def turn_predicate(events: Iterable[Event], gain: int | None = None) -> str:
    """Return what a player did as a text that follows the player's name."""
    parts = join_clauses(list(turn_clauses(events, gain)))
    return "".join(card_text(part) if isinstance(part, Card) else part for part in parts)

"""What always holds at a table, whatever is played on it: both decks and debug start states."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.matches import RunningMatch
from support.positions import KINDS, cards, opening

from cardsharp.deadmansdraw.actions import (
    DRAW,
    END_TURN,
    Action,
    EffectType,
    Response,
    Verb,
    respond,
)
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.events import (
    Comment,
    Event,
    MatchEnded,
    StackDelta,
    TurnEnded,
    TurnStarted,
)
from cardsharp.deadmansdraw.rules import (
    State,
    apply,
    force_turn_end,
    legal_actions,
    start,
    terminate,
)
from cardsharp.deadmansdraw.simulation import fair_chance
from cardsharp.errors import Illegal, RulesError

SEEDS = st.integers(0, 10**9)
TABLES = st.tuples(SEEDS, st.sampled_from(KINDS))
thorough = settings(max_examples=40, deadline=None, derandomize=True)


def cards_of(state: State) -> Counter[Card]:
    """Every card on the table, a Map's offer included."""
    offered: tuple[Card, ...] = ()
    if state.pending is not None and state.pending.effect_type is EffectType.MAP:
        offered = state.pending.cards
    return Counter(
        (*state.draw_pile, *state.discard_pile, *state.banks[0], *state.banks[1])
    ) + Counter((*state.play_area, *offered))


def random_match(seed: int, kind: str) -> tuple[RunningMatch, Random]:
    rng = Random(seed)
    return RunningMatch(opening(kind, rng), fair_chance(rng)), rng


@thorough
@given(TABLES)
def test_no_card_is_lost_and_the_match_ends(table: tuple[int, str]) -> None:
    """Cards are conserved, one player is to act, no score is negative, and an end comes."""
    match, rng = random_match(*table)
    cards = cards_of(match.state)
    assert max(cards.values(), default=1) == 1
    for _ in range(10 * sum(cards.values()) + 10):
        state = match.state
        assert cards_of(state) == cards
        assert min(state.scores) >= 0
        if state.active is None:
            break
        assert state.active in (0, 1)
        assert state.outcome is None
        match.play(rng.choice(legal_actions(state)))
    assert match.state.outcome is not None
    assert match.state.draw_pile == ()


@thorough
@given(TABLES)
def test_the_score_is_the_sum_of_the_highest_cards(table: tuple[int, str]) -> None:
    match, rng = random_match(*table)
    ended = None
    while match.state.active is not None:
        ended = match.play(rng.choice(legal_actions(match.state)))[-1]
    assert isinstance(ended, MatchEnded)
    for player in (0, 1):
        best: dict[str, int] = {}
        for card in match.state.banks[player]:
            best[card.suit] = max(card.value, best.get(card.suit, 0))
        assert ended.scores[player] == sum(best.values())
    ahead = [player for player in (0, 1) if ended.scores[player] > ended.scores[1 - player]]
    assert ended.winner == (ahead[0] if ahead else None)


# --- what is allowed ---------------------------------------------------------------------


@settings(max_examples=12, deadline=None, derandomize=True)
@given(TABLES)
def test_legal_actions_are_all_that_is_accepted(table: tuple[int, str]) -> None:
    """Each legal action is accepted; every other one is refused and leaves the table alone."""
    match, rng = random_match(*table)
    while match.state.active is not None:
        state = match.state
        legal = legal_actions(state)
        for action in legal:
            apply(state, action, fair_chance(Random(0)))
        before = repr(state)
        for action in thinkable(state):
            if action not in legal and not another_spelling(state, action):
                assert refused(state, action), action
        assert repr(state) == before
        match.play(rng.choice(legal))


def thinkable(state: State) -> list[Action]:
    """Both verbs, and every effect with no card and with a card of every place."""
    places = (state.draw_pile[:2], state.discard_pile[:2], state.play_area[:1])
    cards = {card for place in places for card in place} | {*state.banks[0], *state.banks[1]}
    if state.pending is not None:
        cards |= {*state.pending.cards}
    answers = [respond(effect, card) for effect in EffectType for card in (None, *cards)]
    return [DRAW, END_TURN, Action(Verb.RESPOND), *answers]


def another_spelling(state: State, action: Action) -> bool:
    """Answers that `legal_actions` leaves out: they do the same as one that it names."""
    pending = None if state.between_turns else state.pending
    if pending is None:
        return False
    if pending.effect_type is EffectType.ORACLE:
        return action == DRAW
    response = action.response
    kraken = pending.effect_type is EffectType.KRAKEN
    return kraken and response is not None and response.effect_type == EffectType.KRAKEN


def refused(state: State, action: Action) -> bool:
    try:
        apply(state, action, fair_chance(Random(0)))
    except RulesError:
        return True
    return False


@thorough
@given(TABLES)
def test_other_spellings_do_the_same(table: tuple[int, str]) -> None:
    """Draw takes an Oracle's card, and an answered Kraken draws (docs/spec/arena.md section 7)."""
    match, rng = random_match(*table)
    while match.state.active is not None:
        state, pending = match.state, match.state.pending
        if pending is not None and pending.effect_type is EffectType.ORACLE:
            taken = respond(EffectType.ORACLE, pending.cards[0])
            assert after(state, taken) == after(state, DRAW)
        if pending is not None and pending.effect_type is EffectType.KRAKEN:
            answered = Action(Verb.RESPOND, Response(EffectType.KRAKEN))
            assert after(state, answered) == after(state, DRAW)
        match.play(rng.choice(legal_actions(state)))


def after(state: State, action: Action) -> State:
    return apply(state, action, fair_chance(Random(0)))[0]


# --- what the events tell ----------------------------------------------------------------


@thorough
@given(TABLES)
def test_the_events_give_away_all_but_the_hidden_order(table: tuple[int, str]) -> None:
    """The discard pile in order, the rest of the draw pile as a set, and a top card seen."""
    match, rng = random_match(*table)
    while match.state.active is not None:
        state, position = match.state, match.position()
        assert position.discard_pile == state.discard_pile
        assert set(position.unseen) == set(state.draw_pile)
        assert len(position.unseen) == len(state.draw_pile)
        assert position.known_top in (None, *state.draw_pile[:1])
        if state.pending is not None and state.pending.effect_type is EffectType.ORACLE:
            assert state.pending.cards == (position.known_top,)
        match.play(rng.choice(legal_actions(state)))


@thorough
@given(TABLES)
def test_a_turns_delta_leads_from_its_first_table_to_its_last(table: tuple[int, str]) -> None:
    """And the next turn begins by repeating it."""
    match, rng = random_match(*table)
    began, told = match.state, None
    while match.state.active is not None:
        if match.state.between_turns:
            began = match.state
        events = match.play(rng.choice(legal_actions(match.state)))
        told = check_turn(events, began, match.state, told)


def check_turn(
    events: tuple[Event, ...], began: State, now: State, told: TurnEnded | None
) -> TurnEnded | None:
    """Check the frame of a turn in `events`; the last end of a turn."""
    for event in events:
        if isinstance(event, TurnStarted):
            assert told is not None
            assert event.delta == told.delta
        if isinstance(event, TurnEnded):
            told = event
            delta = event.delta
            assert moved(began.draw_pile, delta.draw_pile) == Counter(now.draw_pile)
            assert moved(began.discard_pile, delta.discard_pile) == Counter(now.discard_pile)
            for player in (0, 1):
                bank = moved(tuple(began.banks[player]), delta.banks[player])
                assert bank == Counter(now.banks[player])
    return told


def moved(pile: tuple[Card, ...], delta: StackDelta) -> Counter[Card]:
    """`pile` after what a delta says has left and come."""
    cards = Counter(pile)
    assert not Counter(delta.removed) - cards
    return cards - Counter(delta.removed) + Counter(delta.added)


def test_a_turn_that_is_ended_by_force_banks_its_bonus_too() -> None:
    lying = start(cards("Map5"), cards("Hook2 Key2"), 0, play_area=cards("Chest4 Key4"))
    state, events = force_turn_end(lying, "late", "", lambda pile, number: pile[:number])
    assert [event.bonus for event in events if isinstance(event, TurnEnded)] == [
        cards("Hook2 Key2")
    ]
    assert (state.discard_pile, set(state.banks[0])) == ((), {*cards("Chest4 Key4 Hook2 Key2")})


def test_a_match_that_is_ended_by_decision_is_won_by_nobody_for_points() -> None:
    """Whoever leads: without a winner it is a tie (docs/spec/arena.md section 4)."""
    leading = start(cards("Map5"), (), 0, play_area=cards("Chest4"))
    leading, _ = apply(leading, END_TURN, lambda pile, number: pile[:number])
    for winner, comment in ((None, None), (1, "late")):
        state, events = terminate(leading, winner, comment)
        assert state.outcome == MatchEnded((4, 0), winner, terminated=True)
        assert events == (*([Comment(comment)] if comment else []), state.outcome)
        with pytest.raises(Illegal, match=r"^No action possible on finished matches\.$"):
            apply(state, END_TURN, lambda pile, number: pile[:number])

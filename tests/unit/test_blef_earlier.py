"""What a position tells of the rounds before, and how the default reads the others from them."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from random import Random

import pytest
from pydantic import SecretStr
from support.blef import faced
from support.blef_bot import NAME, SECRET, SERVICE, BlefPlace
from support.cloud_benches import FakeClock
from support.games import Decides, begun, kept, simulated, taken
from world.network import LIMITS

from cardsharp.blef.actions import BETS, CHECK, LOST
from cardsharp.blef.bot import SeatMatch
from cardsharp.blef.cards import DECK, VALUES
from cardsharp.blef.client import BlefClient, Sighting
from cardsharp.blef.logbook import SPAN
from cardsharp.blef.position import Position
from cardsharp.blef.replay import decisions
from cardsharp.blef.rules import Move, Round
from cardsharp.blef.strategies import Decision, build
from cardsharp.blef.strategies.bayes import Bayes
from cardsharp.blef.strategies.minds import OPENING
from cardsharp.blef.strategies.odds import bits_of
from cardsharp.blef.strategies.reading import OWN, Insight, reading_of, readings, unlike_tables
from cardsharp.blef.strategies.taste import Taste, Tasting, believing, traits_of
from cardsharp.blef.wire import StateBody, position_in
from cardsharp.cloud.attended import Sight
from cardsharp.cloud.ports import Body
from cardsharp.games import game
from cardsharp.seats import Seat

BLEF = game("blef")
NUMBERS = {bet.name: number for number, bet in enumerate(BETS)}


def test_it_is_in_no_text_and_bayes_decides_as_without() -> None:
    """The dice of `bayes` are seeded by that text."""
    *_, position = faced("greedy", "greedy", 3)
    without = replace(position, earlier=())
    assert position.earlier
    assert repr(position) == repr(without)
    assert decided("bayes", position) == decided("bayes", without)


@pytest.mark.parametrize("intents", [True, False])
def test_a_stored_decision_has_the_rounds_that_were_over_then(intents: bool) -> None:
    notes = taken(begun(BLEF, 1), (Decides(BLEF, "random", 1), Decides(BLEF, "greedy")), Random(1))
    [(record, moves)] = kept(BLEF, notes)
    told = [move if intents else replace(move, intent=None) for move in moves]
    found = [asked.position for asked in decisions(record, told)]
    assert found == [simulated(BLEF).position(note.state) for note in notes[:-1]]


class Asking(BlefClient):
    """The bot's client at a service in this process, which counts what it asks for."""

    def __init__(self, place: BlefPlace) -> None:
        super().__init__(SERVICE, LIMITS)
        self.place, self.asked = place, Counter[str]()

    def _state(self, game: str, params: dict[str, str], *, waits: bool = False) -> Sighting:
        self.asked[params.get("round", "now")] += 1
        assert (game, waits) == (self.place.table, False)
        return Sighting(StateBody.model_validate(self.place.state(**params)), 1)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Asking]:
    """At a game that we have joined and that has not started."""
    with closing(BlefPlace(tmp_path, FakeClock())) as place:
        joined = {"nickname": NAME, "player_uuid": str(SECRET)}
        place.client.post(f"/games/{place.table}/join", joined)
        yield Asking(place)


def looked(client: Asking, known: Mapping[int, Body]) -> Sight[int]:
    """What a worker sees who has just come."""
    seat = Seat(SERVICE, client.place.table, NAME, "greedy", SecretStr(str(SECRET)))
    return SeatMatch("m", seat, build("greedy", Random(0)), client, None, FakeClock()).look(known)


def test_the_bot_knows_the_rounds_before_without_a_request_more(client: Asking) -> None:
    """Each is asked for once, for the log, also by two workers one after the other."""
    known: dict[int, Body] = {}
    decided, place = 0, client.place
    while place.go_on() != "Finished":
        sight = looked(client, known)
        known |= sight.facts
        turn = sight.turn
        if turn is None:
            continue
        over = range(1, turn.position.number)
        rounds = [StateBody.model_validate(place.state(round=number)) for number in over]
        seen = [position_in(one, None) for one in rounds]
        assert turn.position.earlier == tuple(one.round() for one in seen if one)
        action = turn.match.strategy.decide(turn.position).action
        body = {"player_uuid": str(SECRET), "action_id": action}
        place.client.post(f"/games/{place.table}/play", body)
        decided += bool(rounds)
    del client.asked["now"]
    assert {*client.asked.values()} == {1}
    assert decided


@pytest.mark.parametrize("end", [{"player": None}, {"hands": {"A": ["7 of clubs"]}}])
def test_a_log_that_cannot_be_read_costs_no_move(client: Asking, end: Body) -> None:
    told: list[Body] = [{"player": "A", "actionId": action} for action in (3, CHECK, LOST)]
    told[-1] = {**told[-1], "hands": {}, **end}
    while True:
        client.place.go_on()
        sight = looked(client, dict(enumerate(told, SPAN)))
        if sight.turn is not None:
            assert sight.turn.position.earlier == ()
            return


def decided(name: str, position: Position) -> Decision:
    return build(name, Random(1)).decide(position)


def over(hands: tuple[str, str], *said: int) -> Round:
    cards = [tuple(c for c in DECK if VALUES[c.value] in hand)[:2] for hand in hands]
    moves = [Move(place % 2, action) for place, action in enumerate((*said, CHECK))]
    return Round(1, 11, (2, 2), tuple(cards), None, (*moves, Move(0, LOST)))


def chance(reading: Insight, bet: int) -> float:
    kings = bits_of([card for card in DECK if VALUES[card.value] == "K"][:2])
    return reading.explains(OWN, traits_of(kings, 2), OPENING, bet)


def test_what_was_seen_is_expected_of_lies_and_doubts() -> None:
    lied = over(("9", "A"), NUMBERS["High card, ace"], NUMBERS["Pair of aces"])
    honest = over(("A", "9"), NUMBERS["High card, ace"], NUMBERS["Pair of aces"])
    before, liar, true = (
        reading_of((one,) * n, 0) for one, n in ((lied, 0), (lied, 4), (honest, 4))
    )
    own, other = NUMBERS["High card, king"], NUMBERS["High card, queen"]
    assert chance(liar, own) < chance(before, own)
    assert chance(liar, other) > chance(before, other)
    assert chance(true, other) < chance(liar, other)
    bets_on = over(("9", "A"), 0, NUMBERS["Pair of 9s"], NUMBERS["Pair of aces"])
    pair = NUMBERS["Pair of queens"]
    nines = traits_of(bits_of(DECK[:1]), 2)
    before, later = (reading_of((bets_on,) * n, 0) for n in (0, 3))
    assert later.explains(OWN, nines, pair, CHECK) < before.explains(OWN, nines, pair, CHECK)
    assert later.weights != before.weights
    assert sum(later.weights) == pytest.approx(1)


def test_who_opens_with_lies_and_answers_with_the_truth_is_expected_to() -> None:
    """What is liked when a round is opened is learned apart.

    Who believes a bet sees its cards, and is no different where it cannot be true.
    """
    taste = Taste()
    hands = [traits_of(bits_of(DECK[4 * value : 4 * value + 1]), 2) for value in range(len(VALUES))]
    for value in [1, 2, 3, 4] * 3:
        taste = taste.learned(hands[value], OPENING, value + 1, 0.7)
        taste = taste.learned(hands[value], 0, value, 0.7)
    drawn = Tasting(taste)
    assert drawn.chance(hands[2], OPENING, 2) < 0.1
    assert drawn.chance(hands[2], 0, 2) > 0.5
    king, four = bits_of(DECK[16:17]), NUMBERS["Four of a kind, kings"]
    believed = believing(king, 2, NUMBERS["Pair of kings"])
    assert believed.levels == traits_of(bits_of(DECK[16:18]), 1).levels
    assert believing(king, 1, four) is traits_of(king, 1)
    assert believing(king, 2, OPENING) is traits_of(king, 2)


def test_who_doubts_bets_that_are_high_to_everybody_is_expected_to() -> None:
    """Of two that are as likely by the player's own cards, rather the one that is seldom true."""
    hand = traits_of(bits_of(DECK[:3]), 5)
    one, other = next(
        (low, high)
        for low, high in combinations(range(len(BETS) - 1), 2)
        if hand.levels[low] == hand.levels[high] and hand.bare[low] > hand.bare[high]
    )
    taste = Taste()
    assert Tasting(taste).check(hand, one) == Tasting(taste).check(hand, other)
    for _ in range(3):
        taste = taste.learned(hand, other, CHECK, 0.5).learned(hand, one, len(BETS) - 1, 0.5)
    assert Tasting(taste).check(hand, other) > Tasting(taste).check(hand, one) + 0.1


@pytest.mark.parametrize(("name", "least", "most"), [("greedy", 0.6, 1), ("solved", 0, 0.2)])
def test_who_plays_by_the_table_is_not_read(name: str, least: float, most: float) -> None:
    positions = [one for seed in range(3) for one in faced("greedy", name, seed)]
    found = [unlike_tables(one, readings(one)) for one in positions]
    assert least <= sum(found) / len(found) <= most


def test_of_several_each_is_known_for_itself_and_whoever_is_out_is_nobody() -> None:
    """With three at the table no table of ours says how to play."""
    for position in faced("random", "greedy", 5, seats=3):
        read = readings(position)
        assert read.keys() == {*position.round().active} - {0}
        assert unlike_tables(position, read)
    assert all(one.decisions > 0 for one in read.values())


def test_the_default_plays_the_table_or_as_bayes_who_knows_what_was_read() -> None:
    as_bayes = 0
    for position in [*faced("greedy", "threshold(0.2,0.5)", 7)][::3]:
        read, unread = readings(position), replace(position, earlier=())
        if unlike_tables(position, read):
            assert decided("reader", position) == Bayes(Random(1)).decide(position, read)
            as_bayes += 1
        else:
            assert decided("reader", position) == decided("solved", position)
        assert decided("reader", unread) == decided("solved", unread)
    assert as_bayes > 3

"""The rules agree with the original: every verdict on the sets, and every recorded game."""

from datetime import UTC, datetime
from typing import Any

import pytest
from support.blef import RecordedChance, cards_of, hands_of, without_nothings
from support.recorded import recording

from cardsharp.blef import rules
from cardsharp.blef.actions import BETS
from cardsharp.blef.cards import Card
from cardsharp.blef.position import position_of
from cardsharp.blef.records import GameRecord, Player
from cardsharp.blef.rules import Round
from cardsharp.blef.wire import state_body

GAMES = recording("blef_games")


def test_the_recordings_are_whole() -> None:
    assert len(recording("blef_sets")) == 710
    assert len(GAMES) == 9


def test_every_verdict_on_the_88_sets_is_that_of_the_original() -> None:
    for line in recording("blef_sets"):
        pool = [Card(*card) for card in line["cards"]]
        verdicts = "".join("1" if bet.holds(pool) else "0" for bet in BETS)
        assert verdicts == line["sets"], line["tag"]


def shown(game: GameRecord, seen: Round) -> dict[str, Any]:
    """A round as anybody may see it, in the JSON of the API."""
    return state_body(game, position_of(seen, None)).model_dump(mode="json")


@pytest.mark.parametrize("trace", GAMES, ids=lambda trace: f"{trace['n_players']} players")
def test_a_recorded_game_replays(trace: dict[str, Any]) -> None:
    names = [player["nickname"] for player in trace["started"]["players"]]
    game = GameRecord(
        "",
        datetime(2026, 11, 20, tzinfo=UTC),
        admin=trace["join_order"][0],
        players=tuple(Player(name, "") for name in names),
    )
    # All hands of every round are in its snapshot.
    chance, rounds = RecordedChance(), map(hands_of, trace["round_snapshots"])
    chance.hands = [tuple(card for hand in hands for card in hand) for hands in rounds]
    deal = chance.deal
    live = rules.start(len(names), deal)
    assert shown(game, live) == without_nothings(trace["started"])

    closed: list[Round] = []
    for step in trace["steps"]:
        assert live.turn is not None
        assert (names[live.turn], live.number) == (step["player"], step["round"])
        outcome = rules.apply(live, step["action_id"], deal)
        live = outcome.live
        closed += [outcome.closed] if outcome.closed else []
        state = shown(game, live)
        after = without_nothings(step["after"])
        assert after == {
            **{name: state[name] for name in after if name != "history_len"},
            "history_len": len(state["history"]),
        }
    assert shown(game, live) == without_nothings(trace["final"])
    assert [shown(game, one) for one in closed] == [
        without_nothings(snapshot) for snapshot in trace["round_snapshots"]
    ]


def test_every_hand_is_shown_in_the_original_order() -> None:
    for trace in GAMES:
        for snapshot in trace["round_snapshots"]:
            for hand in snapshot["hands"]:
                cards = cards_of(hand["hand"])
                assert cards == sorted(cards, reverse=True)

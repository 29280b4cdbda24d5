"""Recorded responses of the original Blef service, apart from listed differences.

The recording has requests, the verdict of every bet on sets of cards, and complete games.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest
from support.blef_service import (
    BlefResponse,
    IntendedDifferences,
    RecordedRandomness,
    empty_objects_as_none,
    memory_client,
    parse_hands,
)
from support.recordings import recording
from support.store_fixtures import START

from cardsharp.games.blef import rules
from cardsharp.games.blef.actions import BETS
from cardsharp.games.blef.cards import DECK, BlefCard
from cardsharp.games.blef.position import position_of
from cardsharp.games.blef.rules import Round
from cardsharp.games.blef.service import service
from cardsharp.games.blef.service.records import GamePlayer, GameRecord
from cardsharp.games.blef.service.wire import parse_state, position_from_state, state_body
from cardsharp.games.blef.simulation import make_deal_function
from cardsharp.server.seat_secrets import secret_digest
from cardsharp_tools.local_cloud.api_gateway_events import HttpRequest

ALICES_GAME = "01c0905c-1c0b-49b6-97c4-e7cb01262e89"
"""The game that alice and bob play from its creation to its end."""

ODD_NICKNAMES_GAME = "2e38c64c-79b9-4d44-879d-37096b8eb879"  # the game of the odd nicknames

REPEATED_PARAMETER_GAME = (
    "0ebffd3e-4da0-48d4-bd66-28ad15a57b9f"  # the game in which a parameter was sent twice
)


@dataclass
class BlefReplay:
    """Blef service, and the recording with which it is compared.

    The recording lacks some requests that were made: their effects are rebuilt from later
    answers. Values that we may choose (uuids, seats, hands) are taken from the recording.
    """

    pairs: Sequence[dict[str, Any]]
    monkeypatch: pytest.MonkeyPatch

    def __post_init__(self) -> None:
        # By real chance alice's bets would hold in one run of 170, and bob would be out instead.
        self.randomness = RecordedRandomness(make_deal_function(Random(1)))
        self.client = memory_client(chance=self.randomness)
        self.store = self.client.store
        self.pair_by_case = {pair["case"]: pair for pair in reversed(self.pairs)}

    def send_request(self, pair: dict[str, Any]) -> BlefResponse:
        """Send a recorded request."""
        self._prepare(pair)
        request = pair["request"]
        return self.client.send(HttpRequest(request["method"], request["target"]))

    def fill_odd_game(self) -> None:
        """Fill the game of the odd nicknames up to eight players, as in the recording."""
        number, status = 0, 200
        while status == 200:
            number += 1
            status = self.client.get(
                f"/games/{ODD_NICKNAMES_GAME}/join", nickname=f"filler{number}"
            ).status

    def create(self, uuid: str) -> None:
        """Create a game with this uuid."""
        self.randomness.uuids = [uuid]
        assert self.client.create() == uuid

    def _prepare(self, pair: dict[str, Any]) -> None:
        """Bring the game of the request into the state that it had for the original."""
        case, body = pair["case"], pair["body"]
        if case in {"join.oknick.one", "join.double.param"}:
            self.create(
                ODD_NICKNAMES_GAME if case == "join.oknick.one" else REPEATED_PARAMETER_GAME
            )
        if isinstance(body, dict):
            self.randomness.uuids = [
                body[key] for key in ("game_uuid", "player_uuid") if key in body
            ]
        if case == "start.ok":
            self._prepare_alices_game()
        elif case == "state.finished.observer":
            self._play_on()
        elif case.startswith(("state.started.", "state.3p.")) or case == "join.full":
            self._store_game(pair)
        elif case == "create.at10000":
            self.monkeypatch.setattr(service, "MAX_GAMES", self.store.count_unexpired_games())

    def _prepare_alices_game(self) -> None:
        """Bob begins; the hands of rounds 1, 2 and 11 are known, of round 2 only alice's."""
        self.randomness.orders = {2: (1, 0)}
        first_hands = parse_hands(self._recorded_body("state.past.round1.observer"))
        alice_hand = parse_hands(self._recorded_body("state.round2.alice"))[0]
        bob_card = next(card for card in self.randomness.deal(24) if card not in alice_hand)
        last_hands = parse_hands(self._recorded_body("state.finished.lastround"))
        self.randomness.hands = [
            tuple(card for hand in hands for card in hand)
            for hands in (first_hands, [[bob_card], alice_hand], last_hands)
        ]

    def _play_on(self) -> None:
        """Make the moves that the recording left out: alice bets 87, bob checks, to the end."""
        moves = [
            self.pair_by_case[case]["request"]["target"] for case in ("play.flow", "play.ok.check")
        ]
        while self.client.get(f"/games/{ALICES_GAME}").json["status"] == "Running":
            for target in moves:
                assert self.client.send(HttpRequest("GET", target)).status == 200

    def _recorded_body(self, case: str) -> dict[str, Any]:
        return self.pair_by_case[case]["body"]

    def _store_game(self, pair: dict[str, Any]) -> None:
        """Put a game into the store in the state of the recorded responses."""
        uuid = pair["request"]["target"].split("/")[3].partition("?")[0]
        case = pair["case"]
        if case.startswith("state.started."):
            self._restore_game(uuid, pair["body"])
        elif case == "state.3p.afterelimination.observer":
            active_state = self._recorded_body("state.3p.active.auth")
            self._restore_game(uuid, active_state, [self._recorded_body("state.3p.elimround")])
        elif case == "state.3p.finished":
            closed_cases = ("state.3p.finished.afterelim", "state.3p.finished.last")
            self._restore_game(
                uuid,
                pair["body"],
                [self._recorded_body(closed_case) for closed_case in closed_cases],
            )
        elif case == "join.full":
            players = self._players(uuid, self._recorded_body("state.started.8p"))
            self.store.create(GameRecord(uuid, START, admin_digest="p0", players=players))

    def _restore_game(
        self, uuid: str, state: dict[str, Any], closed_states: Sequence[dict[str, Any]] = ()
    ) -> None:
        """Give the game the current and past rounds that recorded states have."""
        if self.store.read(uuid) is None:
            self.store.create(GameRecord(uuid, START))
        admin, players = state["admin_nickname"], self._players(uuid, state)
        game = GameRecord(uuid, START, admin_digest=admin, players=players, round=_round(state))
        for snapshot in (*map(_round, closed_states), None):
            saved_record = self.store.read(uuid)
            self.store.write(saved_record, game, snapshot)

    def _players(self, uuid: str, state: dict[str, Any]) -> tuple[GamePlayer, ...]:
        """Return the players, with the uuids of players that requested their own game."""
        names_by_case = {"state.3p.eliminated.auth": "p2"}
        uuid_by_name: dict[str, str] = {}
        for pair in self.pairs:
            uuid_match = re.search(rf"{uuid}.*player_uuid=([0-9a-f-]+)", pair["request"]["target"])
            hands = pair["body"].get("hands", []) if isinstance(pair["body"], dict) else []
            name = names_by_case.get(pair["case"]) or (
                hands[0]["nickname"] if len(hands) == 1 else None
            )
            if uuid_match and name:
                uuid_by_name[name] = uuid_match[1]
        names = [player["nickname"] for player in state["players"]]
        return tuple(
            GamePlayer(name, secret_digest(uuid_by_name.get(name, name))) for name in names
        )


def _round(state: dict[str, Any]) -> Round:
    """Return the round of a recorded state, with random cards for hidden hands."""
    round_in_state = position_from_state(parse_state(json.dumps(state)), None).to_round()
    deck = [card for card in DECK if all(card not in hand for hand in round_in_state.hands)]
    hands = tuple(
        hand or tuple(deck.pop() for _ in range(cards))
        for hand, cards in zip(round_in_state.hands, round_in_state.n_cards, strict=True)
    )
    return replace(round_in_state, hands=hands)


PATHS_WITH_BOTH_KEYS = ("/make-public", "/make-private", "/play")
"""Where the original's documentation says `message` and its code `error`, we send both.

The state is the other such path.
"""


def expected_body(pair: dict[str, Any]) -> Any:  # noqa: ANN401 - whatever JSON it was
    """Return the recorded body, with null for empty objects and with both keys of an error."""
    body = empty_objects_as_none(pair["body"])
    path = pair["request"]["target"].partition("?")[0]
    is_state = path.startswith("/v2/games/") and path.count("/") == 3
    has_both_keys = path.endswith(PATHS_WITH_BOTH_KEYS) or (is_state and pair["status"] == 400)
    if isinstance(body, dict) and "error" in body and has_both_keys:
        return {**body, "message": body["error"]}
    return body


def is_as_recorded(pair: dict[str, Any], response: BlefResponse) -> bool:
    """Return True if status, type and body are as recorded, including the order of keys.

    Of Allow only its presence is compared: the original sends it empty, ours lists the methods.
    """
    has_allow = "Allow" in response.headers
    if response.status != pair["status"] or has_allow is not ("allow" in pair["headers"]):
        return False
    if response.headers["Content-Type"] != pair["headers"]["content-type"]:
        return False
    # API Gateway and the local front leave a HEAD's body away.
    is_head = pair["request"]["method"] == "HEAD"
    return is_head or json.dumps(response.json) == json.dumps(expected_body(pair))


def send_pair(replay: BlefReplay, pair: dict[str, Any]) -> BlefResponse:
    """Send a recorded request and return the response.

    A request that the original did not carry out is sent to a separate service.
    """
    if pair["case"] in {"method.create.POST", "method.join.POST"}:
        separate_replay = BlefReplay(replay.pairs, replay.monkeypatch)
        separate_replay.create(ALICES_GAME)
        return separate_replay.send_request(pair)
    return replay.send_request(pair)


def test_every_recorded_pair_agrees_or_is_a_listed_decision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert service.MAX_GAMES == 10_000
    pairs = recording("blef_requests")
    assert len(pairs) == 220
    replay = BlefReplay(pairs, monkeypatch)
    intended_differences, differences = IntendedDifferences("blef_decisions"), []
    for pair in pairs:
        case = pair["case"]
        response = send_pair(replay, pair)
        is_accepted = is_as_recorded(pair, response) or intended_differences.accepts(
            case, response, {}
        )
        if case == "state.uppercase.game_uuid":
            target = pair["request"]["target"].lower()
            is_accepted &= response.json == replay.client.send(HttpRequest("GET", target)).json
        if not is_accepted:
            differences.append(
                (pair["n"], case, pair["status"], pair["body"], response.status, response.text)
            )
        if case == "state.oddnicks":
            nicknames = [player["nickname"] for player in response.json["players"]]
            assert nicknames == ["a", "A", "a_1", "aé", "NULL", "a\u0661"]
            replay.fill_odd_game()
    assert differences == []
    assert intended_differences.used_cases == set(intended_differences.decisions), (
        "a decision that nothing needs is none"
    )


# --- rules -------------------------------------------------------------------------------------

GAMES = recording("blef_games")


def test_every_verdict_on_the_88_sets_is_that_of_the_original() -> None:
    assert (len(recording("blef_sets")), len(GAMES)) == (710, 9)
    for line in recording("blef_sets"):
        pool = [BlefCard(*card) for card in line["cards"]]
        verdicts = "".join("1" if bet.holds(pool) else "0" for bet in BETS)
        assert verdicts == line["sets"], line["tag"]


def public_state(game: GameRecord, game_round: Round) -> dict[str, Any]:
    """Return a round in the JSON of the API, as any visitor may see it."""
    return state_body(game, position_of(game_round, None)).model_dump(mode="json")


@pytest.mark.parametrize("trace", GAMES, ids=lambda trace: f"{trace['n_players']} players")
def test_a_recorded_game_replays(trace: dict[str, Any]) -> None:
    names = [player["nickname"] for player in trace["started"]["players"]]
    game = GameRecord(
        "",
        datetime(2026, 11, 20, tzinfo=UTC),
        admin_digest=trace["join_order"][0],
        players=tuple(GamePlayer(name, "") for name in names),
    )
    # All hands of every round are in its snapshot.
    randomness, rounds = RecordedRandomness(), map(parse_hands, trace["round_snapshots"])
    randomness.hands = [tuple(card for hand in hands for card in hand) for hands in rounds]
    deal = randomness.deal
    current_round = rules.start(len(names), deal)
    assert public_state(game, current_round) == empty_objects_as_none(trace["started"])

    closed_rounds: list[Round] = []
    for step in trace["steps"]:
        assert (names[current_round.turn], current_round.number) == (step["player"], step["round"])
        outcome = rules.apply(current_round, step["action_id"], deal)
        current_round = outcome.current_round
        closed_rounds += [outcome.closed_round] if outcome.closed_round else []
        state = public_state(game, current_round)
        expected_state = empty_objects_as_none(step["after"])
        assert expected_state == {
            **{name: state[name] for name in expected_state if name != "history_len"},
            "history_len": len(state["history"]),
        }
    assert public_state(game, current_round) == empty_objects_as_none(trace["final"])
    assert [public_state(game, closed_round) for closed_round in closed_rounds] == [
        empty_objects_as_none(snapshot) for snapshot in trace["round_snapshots"]
    ]

"""A seat in a hosted game, played by the bot; `cardsharp.bot` has what all games share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, partial
from itertools import count
from random import Random
from typing import Any

from pydantic import ValidationError, create_model

from cardsharp.bot import service_seats
from cardsharp.bot.bot_match import MoveFacts, NextRead, Observation
from cardsharp.bot.service_seats import SeatDependencies, SeatTakingBot, ServiceSeat, find_seat
from cardsharp.bot.session_result import SessionResult
from cardsharp.client.config import Proxy, RequestLimits, ServiceAddress
from cardsharp.client.transport import ArenaRequest, ArenaTransport, ServiceClient
from cardsharp.errors import MalformedResponse, RequestRejected
from cardsharp.play.decision_runner import DecisionResult, DecisionRunner, intent_body
from cardsharp.play.game import InvocationContext
from cardsharp.play.strategy import Decision, Strategy
from cardsharp.server.hosted.hosted_game import HostedGame, decision_runner_for, load_hosted_game
from cardsharp.server.hosted.wire import GAME_FULL, NO_GAME, HostedGameBody, Id, Name
from cardsharp.store.match_log import Body, MoveSummary


@cache  # an entry for each hosted game
def _build_seat_bot(folder: str) -> SeatTakingBot:
    game = load_hosted_game(folder)
    kind = create_model(
        "SeatOrder",
        __base__=service_seats.JoinGameOrder,
        game=(Id, ...),
        nickname=(Name, ...),
        strategy=(str, game.game.default_strategy),
    )
    return SeatTakingBot(game.game.name, kind, partial(_open_match, folder))


def session_runner(package: str) -> Callable[[str, InvocationContext], SessionResult]:
    """Return the function that plays a seat of ours in the game of a package."""
    return _build_seat_bot(package).run_session


def join_order_handler(
    package: str,
) -> Callable[[Mapping[str, Any], InvocationContext], Sequence[str]]:
    """Return the function that handles an order: it has the bot join a game of a package."""
    return _build_seat_bot(package).place_order


@contextmanager
def _open_match(
    folder: str, dependencies: SeatDependencies, match_id: str
) -> Iterator["HostedBotMatch"]:
    """Open a match at one of our seats, within the limits of the settings."""
    seat = find_seat(dependencies.vault, match_id)
    settings = dependencies.settings
    with HostedGameClient(seat.url, settings.request_limits, settings.proxy) as client:
        yield build_seat_match(folder, seat, client, Random())


def build_seat_match(
    package: str, seat: ServiceSeat, client: "HostedGameClient", rng: Random
) -> "HostedBotMatch":
    """Return the match of a seat of ours, played by the strategy that the seat names."""
    game = load_hosted_game(package)
    strategy = game.build_rules().strategies.build(seat.strategy, rng)
    return HostedBotMatch(game, seat, strategy, client, decision_runner_for(package))


@dataclass(frozen=True, slots=True)
class HostedBotMatch:
    """A game from one seat."""

    hosted_game: HostedGame
    seat: ServiceSeat
    strategy: Strategy[Any, Decision[Any]]
    client: "HostedGameClient"
    decision_runner: DecisionRunner[Any, Any, Decision[Any]]

    @property
    def header(self) -> Body:
        """Header of the match in the match log: the seat without its secret."""
        return self.seat.match_header(self.hosted_game.game.name)

    def observe(self, recorded_facts: MoveFacts) -> Observation[Any]:
        """Join the game if we have not yet; return its state with the moves not yet recorded.

        Joining again changes nothing.
        """
        self.client.join(self.seat.game, self.seat.nickname, self.seat.secret)
        return self._observe(recorded_facts)

    def wait_for_change(self, recorded_facts: MoveFacts) -> Observation[Any] | None:
        """Wait for a move that is not recorded yet; return the state of the game after it."""
        return self._observe(recorded_facts, wait=True)

    def outcome_if_missing(self, error: RequestRejected) -> Body | None:
        """Return the outcome if the service has no such game or no seat for us in it, else None."""
        if error.message not in {NO_GAME, GAME_FULL}:
            return None
        return {"result": "unknown", "winner": None, "reason": error.message}

    def _observe(self, recorded: MoveFacts, *, wait: bool = False) -> Observation[Any]:
        missing = next(sequence for sequence in count() if sequence not in recorded)
        game_body = self.client.get_game(self.seat.game, self.seat.secret, missing, wait=wait)
        is_our_turn = (
            game_body.turn is not None and game_body.names[game_body.turn] == self.seat.nickname
        )
        moves = dict(enumerate(game_body.moves, missing))
        return Observation(
            next_sequence=game_body.count,
            facts={sequence: move.model_dump() for sequence, move in moves.items()},
            summaries={
                sequence: MoveSummary(sequence + 1, move.player, description=move.words)
                for sequence, move in moves.items()
            },
            outcome=outcome_of(game_body, self.seat.nickname),
            turn=HostedBotTurn(self, game_body) if is_our_turn else None,
        )


def outcome_of(game_body: HostedGameBody, name: str) -> Body | None:
    """Return the outcome of a game for the player `name`, None while the game runs."""
    if game_body.gains is None:
        return None
    our_gain, best = game_body.gains[game_body.names.index(name)], max(game_body.gains)
    alone = game_body.gains.count(best) == 1
    result = "won" if our_gain == best and alone else "tied" if our_gain == best else "lost"
    return {
        "result": result,
        "winner": game_body.gains.index(best) if alone else None,
        "turns": game_body.count,
        "moves": game_body.count,
        "gains": game_body.gains,
        "names": game_body.names,
        "shown": game_body.shown,
    }


@dataclass(frozen=True, slots=True)
class HostedBotTurn:
    """Turn of our seat in a hosted game."""

    match: HostedBotMatch
    game_body: HostedGameBody

    def decide(
        self, timeout: timedelta, monotonic: Callable[[], float], rejected_actions: frozenset[Any]
    ) -> DecisionResult[Decision[Any]]:
        """Return the decision of the strategy that plays this seat."""
        position = self.match.hosted_game.json_codecs.positions.load(self.game_body.position)
        return self.match.decision_runner.decide(
            self.match.strategy, position, timeout, monotonic, rejected_actions
        )

    def intent_body(
        self, decision_result: DecisionResult[Decision[Any]], decided_at: datetime, worker_id: str
    ) -> Body:
        """Return the intent to record before the move: the decision and its position."""
        return {
            **intent_body(decision_result, decided_at, worker_id, self.match.seat.strategy),
            "seat": self.game_body.turn,
            "turn": self.game_body.count + 1,
            "position": self.game_body.position,
        }

    def send(self, action: Any) -> NextRead:  # noqa: ANN401 - the game's own
        """Send the action; then it is somebody else's turn, or ours again."""
        seat = self.match.seat
        action_json = self.match.hosted_game.json_codecs.actions.dump(action)
        self.match.client.act(seat.game, seat.secret, self.game_body.count, action_json)
        return NextRead.READ_IMMEDIATELY


class HostedGameClient(ServiceClient):
    """Client of a service that hosts games, closed by `with`.

    Every method raises `ArenaError`.
    """

    def __init__(self, url: str, limits: RequestLimits, proxy: Proxy | None = None) -> None:
        super().__init__(ArenaTransport(ServiceAddress(url, proxy=proxy), None, limits), limits)

    def get_game(
        self, game: str, secret: str, since_move: int = 0, *, wait: bool = False
    ) -> HostedGameBody:
        """Return the game as the owner of the secret sees it, with moves from `since_move` on."""
        params = {"game": game, "secret": secret, "known": str(since_move)}
        if wait:
            params["wait"] = "true"
        limit = self._limits.long_poll_timeout if wait else self._limits.read_timeout
        kind = "wait" if wait else "look"
        call = ArenaRequest(
            metric_name=kind, path="/game", params=params, timeout=limit, is_long_poll=wait
        )
        response = self._transport.send(call)
        try:
            return HostedGameBody.model_validate_json(response.body)
        except ValidationError:
            raise MalformedResponse("The service's answer is no game.") from None

    def join(self, game: str, name: str, secret: str) -> None:
        """Take a seat; a repetition changes nothing."""
        self._post("join", {"game": game, "name": name, "secret": secret})

    def act(self, game: str, secret: str, move_number: int, action: Any) -> None:  # noqa: ANN401 - any JSON
        """Act as the game's move of this number; sent exactly once."""
        self._post("act", {"game": game, "secret": secret, "number": move_number, "action": action})

    def _post(self, kind: str, body: dict[str, object]) -> None:
        limit = self._limits.action_timeout
        self._transport.send(
            ArenaRequest(metric_name=kind, method="POST", path=f"/{kind}", body=body, timeout=limit)
        )

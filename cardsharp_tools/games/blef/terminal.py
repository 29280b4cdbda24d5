"""Terminal for a person who plays Blef: against bots here, or with others at a service."""

from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from uuid import uuid4

from pydantic import SecretStr

from cardsharp.bot.bootstrap import build_vault
from cardsharp.bot.service_seats import ServiceSeat
from cardsharp.client.config import RequestLimits
from cardsharp.core.clock import SystemClock
from cardsharp.errors import ArenaError, MalformedResponse, RequestRejected
from cardsharp.games.blef.actions import LOST_MARKER
from cardsharp.games.blef.bot.client import BlefClient, GameSnapshot
from cardsharp.games.blef.bot.seat_match import BlefBotMatch, BlefJoinGameOrder, open_match
from cardsharp.games.blef.game import GAME
from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.sentences import move_sentence
from cardsharp.games.blef.service.records import GameStatus
from cardsharp.games.blef.service.wire import StateBody, position_from_state
from cardsharp_tools.games.blef.screen import BlefScreen
from cardsharp_tools.games.blef.service_client import check_game_exists
from cardsharp_tools.match_sources.match_logs import data_folder
from cardsharp_tools.proxy_option import resolve_proxy
from cardsharp_tools.terminal.human_player import PlayerFactory, TerminalPlayer
from cardsharp_tools.terminal.screen import YOU_AS_NAME, Invitation, RenderedMove

_REQUEST_LIMITS = RequestLimits(
    total_timeout=timedelta(minutes=1), max_attempts=100
)  # a person can wait until the service has restarted
_MIN_FINISHED_ROUND_MOVES = 3  # minimum length of a finished round: a bet, a check, and the loser


class BlefTerminal(BlefScreen):
    """Blef in the terminal: a local game's screen, and a seat in a remote game."""

    @classmethod
    def play_remote_match(
        cls, invitation: Invitation, build_player: PlayerFactory[BlefPosition, int]
    ) -> str:
        """Play a seat at a service to the end and return the winner; raise `ArenaError`."""
        join_order = BlefJoinGameOrder.parse(
            {**invitation._asdict(), "strategy": GAME.default_strategy}
        )
        check_game_exists(join_order.model_dump())
        clock = SystemClock()
        with closing(build_vault(f"sqlite:{data_folder() / 'blef.db'}", clock)) as vault:
            secret = SecretStr(str(uuid4()))
            service_seat = ServiceSeat(
                join_order.url, join_order.game, join_order.nickname, join_order.strategy, secret
            )
            vault.add(join_order.match_id, service_seat.vault_record)
            connect = partial(BlefClient, limits=_REQUEST_LIMITS, proxy=resolve_proxy())
            with open_match(connect, vault, clock, join_order.match_id) as match:
                return RemoteSeat(match, build_player).play()


@dataclass
class RemoteSeat:
    """Seat of a person in a game at a service, from joining to the end."""

    match: BlefBotMatch
    seat: PlayerFactory[BlefPosition, int]
    _reported_round_count: int = field(default=0, init=False)
    _reported_bet_count: int = field(default=0, init=False)
    _nicknames: list[str] = field(default_factory=list, init=False)

    def play(self) -> str:
        """Play and return the winner's name; raise `PlayerQuit`, after which the seat is kept."""
        snapshot = self._wait_for_start(self.match.join())
        self._nicknames = _list_nicknames(snapshot.state)
        you = self._parse_position(snapshot.state, self.match.seat.nickname).seat or 0
        screen = BlefScreen([*self._nicknames[:you], YOU_AS_NAME, *self._nicknames[you + 1 :]], you)
        person = self.seat(screen)
        # A person who returns to the seat has already seen the earlier rounds.
        self._reported_round_count = snapshot.state.round_number - 1
        while True:
            state = snapshot.state
            self._report_progress(state, screen, person)
            if state.status is GameStatus.FINISHED:
                winner = self._parse_position(state, None).to_round().winner
                return "nobody" if winner is None else screen.names[winner]
            if state.cp_nickname == self.match.seat.nickname:
                snapshot = self._play_action(state, person)
            else:
                with person.waiting_status(f"{state.cp_nickname} is to move …"):
                    snapshot = self.match.wait_for_state(snapshot.version)

    def _wait_for_start(self, snapshot: GameSnapshot) -> GameSnapshot:
        """Wait for the start and return the started game; the first person to join starts it."""
        announced_names = ""
        person = self.seat(BlefScreen((), 0))
        while snapshot.state.status is GameStatus.NOT_STARTED:
            present_names = ", ".join(_list_nicknames(snapshot.state))
            if present_names != announced_names:
                person.show_move(
                    RenderedMove([f"At the table: {present_names}. The game has not started yet."])
                )
            announced_names = present_names
            if snapshot.state.admin_nickname == self.match.seat.nickname:
                snapshot = self._offer_start(person)
            else:
                with person.waiting_status(f"{snapshot.state.admin_nickname} starts the game …"):
                    snapshot = self.match.wait_for_state(snapshot.version)
        return snapshot

    def _offer_start(self, person: TerminalPlayer[BlefPosition, int]) -> GameSnapshot:
        seat = self.match.seat
        if person.confirm(
            "start", "You came first: start (when all are here; Enter looks again)? "
        ):
            try:
                self.match.client.start(seat.game, seat.secret)
            except RequestRejected as denied:
                person.show_move(RenderedMove([denied.message]))
        return self.match.current_state()

    def _report_progress(
        self, state: StateBody, screen: BlefScreen, person: TerminalPlayer[BlefPosition, int]
    ) -> None:
        """Print the finished rounds with all hands, and the new bets."""
        over = state.status is GameStatus.FINISHED
        cards = [player.n_cards for player in state.players]
        while self._reported_round_count < state.round_number - 1 + over:
            self._reported_round_count += 1
            past = self.match.client.get_round(self.match.seat.game, self._reported_round_count)
            closed = self._parse_position(past, None).to_round()
            if not closed.is_over or len(closed.history) < _MIN_FINISHED_ROUND_MOVES:
                raise MalformedResponse("The service does not show how the round ended.")
            lines = [
                *self._format_new_bets(past, screen),
                *screen.round_outcome_lines(closed, cards),
            ]
            person.show_move(RenderedMove(lines, ends_chapter=True))
            self._reported_bet_count = 0
        if not over:
            person.show_move(RenderedMove(self._format_new_bets(state, screen)))

    def _format_new_bets(self, state: StateBody, screen: BlefScreen) -> list[str]:
        position = self._parse_position(state, None)
        bets = [move for move in position.history if move.action != LOST_MARKER]
        first, self._reported_bet_count = self._reported_bet_count, len(bets)
        end = len(bets) - position.to_round().is_over  # the outcome includes the check
        return [
            move_sentence(bets[: index + 1], screen.name_in_sentence) for index in range(first, end)
        ]

    def _play_action(
        self, state: StateBody, person: TerminalPlayer[BlefPosition, int]
    ) -> GameSnapshot:
        """Let the person decide, send the action and return the new state of the game.

        The action is sent only once, whatever the response is.
        """
        seat = self.match.seat
        action = person.decide(self._parse_position(state, seat.nickname)).action
        try:
            self.match.client.play_action(seat.game, seat.secret, action)
        except ArenaError as error:
            person.show_move(RenderedMove([str(error)]))
        return self.match.current_state()

    def _parse_position(self, state: StateBody, nickname: str | None) -> BlefPosition:
        """Return the position in a state of the game.

        Raise `MalformedResponse` if it contradicts itself or earlier states.
        """
        position = position_from_state(state, nickname)
        if position is None or _list_nicknames(state) != self._nicknames:
            raise MalformedResponse("The state does not show a round of this game.")
        return position


def _list_nicknames(state: StateBody) -> list[str]:
    return [player.nickname for player in state.players]

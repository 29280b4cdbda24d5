"""A match on this machine between people and strategies, by the real rules."""

import time
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from itertools import count
from random import Random
from secrets import token_hex
from typing import Any, Generic

from cardsharp.analysis.replay import header_of
from cardsharp.core.sentences import capitalise
from cardsharp.errors import ConfigError
from cardsharp.play.decision_runner import DecisionResult, DecisionRunner
from cardsharp.play.game import Game
from cardsharp.play.guarded_call import fault_group_key
from cardsharp.play.simulation import A, P, S, Simulation
from cardsharp.play.strategy import Decision
from cardsharp_tools.cli.console import print_error
from cardsharp_tools.game_rooms.match_branch import BranchPoint, StoredMatch
from cardsharp_tools.lab.game_adapter import LabMatch, PlayedAction, lab_adapter
from cardsharp_tools.lab.plan import AnyStrategy
from cardsharp_tools.lab.players import decide_guarded
from cardsharp_tools.terminal.human_player import (
    HumanPlayer,
    MoveUndone,
    PlayerQuit,
    name_decision,
)
from cardsharp_tools.terminal.match_printer import reason_with_values
from cardsharp_tools.terminal.screen import YOU_AS_NAME, AnyScreen, RenderedMove

HUMAN_NAME = "you"  # name of the person in the match log
StartState = tuple[
    list[PlayedAction], Any
]  # what was done before a match is gone on with; its state


@dataclass
class SeatedBot:
    """A strategy at a seat, with its name in the match log.

    A user's strategy has a `decider`. If it fails, a safe action is played, and each kind of fault
    is reported once.
    """

    name: str
    strategy: AnyStrategy
    decider: DecisionRunner[Any, Any, Any] | None = None
    has_always_failed: bool = False
    """True if the bot is a user's strategy that has failed at every decision so far."""
    faults: int = 0
    """Number of failed decisions of a user's strategy."""
    _reported_fault_kinds: set[tuple[str, str]] = field(default_factory=set, init=False)
    _is_new: bool = field(default=True, init=False)

    @property
    def display_name(self) -> str:
        """Name at the table: that of our strategy with a capital, of a user's as it is."""
        return capitalise(self.name) if self.decider is None else self.name

    def decide(self, position: Any) -> DecisionResult[Any]:  # noqa: ANN401 - any game's
        """Return the strategy's decision, or a safe one if it fails."""
        if self.decider is None:
            return _time_decision(self.strategy, position)
        result = decide_guarded(self.decider, self.strategy, position)
        self.has_always_failed = result.error is not None and (
            self.has_always_failed or self._is_new
        )
        self._is_new = False
        if result.error is None:
            return result
        self.faults += 1
        if (kind := fault_group_key(result.error)) not in self._reported_fault_kinds:
            self._reported_fault_kinds.add(kind)
            print_error(
                (
                    f"{self.name}: {result.error}. A safe action is played.\n{result.traceback}"
                ).rstrip()
            )
        return result


def _time_decision(
    player: AnyStrategy | HumanPlayer[Any, Any], position: object
) -> DecisionResult[Any]:
    began = time.perf_counter()
    decision = player.decide(position)
    return DecisionResult(decision, timedelta(seconds=time.perf_counter() - began))


def screen_class(game: Game) -> type[AnyScreen]:
    """Return the class that shows a game to people; raise `ConfigError` if there is none."""
    if game.terminal_ui is None:
        raise ConfigError(f"People cannot play {game.title} yet: the game has no screen for them.")
    ui_class: type[AnyScreen] = game.terminal_ui.load()
    return ui_class


@dataclass
class LocalMatch(Generic[S, P, A]):
    """A match of people and bots; `human_names` are by seat, in the order in which they joined.

    With an `opening` it continues from there, which is the branch `point` of another match.
    """

    game: Game
    simulation: Simulation[S, P, A]
    human_names: Mapping[int, str]
    bots: Mapping[int, SeatedBot]
    rng: Random
    point: BranchPoint | None = None
    opening: StartState | None = None
    actions: list[PlayedAction] = field(default_factory=list, init=False)
    state: S = field(init=False)
    player_quit: bool = field(default=False, init=False)
    _has_undone: bool = field(default=False, init=False)
    _initial_action_count: int = field(default=0, init=False)
    _undone_choices: list[str] = field(default_factory=list, init=False)
    _pending_reasons: dict[int, list[str]] = field(
        default_factory=lambda: defaultdict(list), init=False
    )
    _explained_terms: dict[int, set[str]] = field(
        default_factory=lambda: defaultdict(set), init=False
    )

    @property
    def host_seat(self) -> int:
        """The seat of the person who joined first."""
        return next(iter(self.human_names))

    @property
    def host_side_seats(self) -> tuple[int, ...]:
        """The seats of the host's side."""
        return next(side for side in self.simulation.sides if self.host_seat in side)

    def display_names(self, viewer: int) -> list[str]:
        """Return the players' display names by seat, as `viewer` sees them, without duplicates."""
        bot_numbers = count(1)
        names: list[str] = []
        for seat in range(self.simulation.seats):
            if seat == viewer:
                name = YOU_AS_NAME
            elif seat in self.human_names:
                name = self.human_names[seat]
            elif len(self.bots) == 1:
                name = self.bots[seat].display_name
            else:
                name = f"Bot {next(bot_numbers)}"
            taken_names = [*names, *([] if seat == viewer else [YOU_AS_NAME])]
            names.append(name if name not in taken_names else f"{name} ({seat + 1})")
        return names

    def screen(self, viewer: int) -> AnyScreen:
        """Return the screen of the person at a seat."""
        screen = screen_class(self.game)(self.display_names(viewer), viewer)
        if self.point is not None:
            screen.restore_score_from_header(self.point.record.header)
        return screen

    # --- how it is played ----------------------------------------------------------------------

    def play(
        self,
        human_players: Mapping[int, HumanPlayer[P, A]],
        *,
        show_reasons: bool = False,
        explain_rules: bool = False,
    ) -> S:
        """Play until the match has ended or all people have left; return the last state.

        With `show_reasons` the bots' reasons are shown at the end of each chapter, such as a round.
        With `explain_rules` the rules are shown at the beginning, and each term when it first
        occurs.
        """
        self._humans_by_seat, self._show_reasons, self._explain_rules = (
            human_players,
            show_reasons,
            explain_rules,
        )
        self._started_at = datetime.now(UTC)
        opening_actions, self.state = self.opening or ([], self.simulation.initial_state(self.rng))
        self.actions, self._initial_action_count = [*opening_actions], len(opening_actions)
        self._show_text("" if self.point is None else self.point.start_message)
        if explain_rules:
            for person in human_players.values():
                person.show_move(RenderedMove(person.screen.rules_introduction()))
        self._show_position()
        while (seat := self.simulation.current_seat(self.state)) is not None:
            try:
                decided = self._request_decision(seat)
            except PlayerQuit:
                self.player_quit = True
                break
            except MoveUndone:
                self._undo_last_choice()
            else:
                self._apply_decision(seat, decided)
            self._show_position()
        return self.state

    def _apply_decision(self, seat: int, decision_result: DecisionResult[Decision[A]]) -> None:
        state, decision = self.state, decision_result.decision
        self.state = self.simulation.apply_action(state, decision.action, self.rng)
        self.actions.append(PlayedAction(state, decision.action, decision_result))
        for you, person in self._humans_by_seat.items():
            # The screen counts the chapters as it renders the moves.
            title = person.screen.reasons_title(self.simulation.position_for(state, you))
            screen_move = person.screen.render_screen_move(state, decision.action, self.state)
            if self._show_reasons and seat in self.bots:
                self._collect_reason(you, state, seat, decision)
            person.show_move(self._add_explanations(you, screen_move, title))

    def _undo_last_choice(self) -> None:
        """Return to the last real choice of a person; deal the hidden cards anew."""
        for action_index in range(len(self.actions) - 1, self._initial_action_count - 1, -1):
            then, action, _ = self.actions[action_index]
            person = self._humans_by_seat.get(self.simulation.current_seat(then) or 0)
            position = self.simulation.current_position(then)
            choices = [] if person is None else person.screen.choices(position)
            if len(choices) > 1:
                name = next(
                    (choice.name for choice in choices if choice.action == action), str(action)
                )
                del self.actions[action_index:]
                self.state = self.simulation.resample_hidden(then, self.rng)
                self._has_undone = True
                self._undone_choices.append(name)
                self._show_text(
                    f"Taken back: {name}. The cards that you did not know are dealt again."
                )
                return
        self._show_text("There is no move to take back.")

    def _show_text(self, text: str) -> None:
        for person in self._humans_by_seat.values():
            person.show_move(RenderedMove([text] if text else []))

    def _request_decision(self, seat: int) -> DecisionResult[Decision[A]]:
        position = self.simulation.current_position(self.state)
        if seat not in self._humans_by_seat:
            return self.bots[seat].decide(position)
        decided = _time_decision(self._humans_by_seat[seat], position)
        if not self._undone_choices:
            return decided
        reason = f"{decided.decision.reason} Taken back before: {', '.join(self._undone_choices)}."
        self._undone_choices = []
        return decided._replace(decision=replace(decided.decision, reason=reason))

    def _collect_reason(self, viewer_seat: int, state: S, seat: int, decision: Decision[A]) -> None:
        """Keep the reason of a bot's decision for the end of the chapter, if it had a choice."""
        screen, position = (
            self._humans_by_seat[viewer_seat].screen,
            self.simulation.position_for(state, seat),
        )
        choices = screen.choices(position)
        if len(choices) > 1:
            stored_decision = name_decision(decision, choices, self.bots[seat].name)
            label = screen.decision_label(position, decision.action)
            self._pending_reasons[viewer_seat].append(
                f"   {screen.names[seat]}, {label}: {reason_with_values(stored_decision)}"
            )

    def _add_explanations(
        self, viewer_seat: int, screen_move: RenderedMove, reasons_title: str
    ) -> RenderedMove:
        """Return the move with added explanations.

        These are the bots' reasons at the end of a chapter, and notes about rules that are new
        to the viewer.
        """
        screen, lines = self._humans_by_seat[viewer_seat].screen, [*screen_move.lines]
        reasons = self._pending_reasons.pop(viewer_seat, []) if screen_move.ends_chapter else []
        if reasons:
            lines += [reasons_title, *reasons]
        if self._explain_rules:
            text, taught = " ".join(map(str, lines)).lower(), self._explained_terms[viewer_seat]
            lessons = screen.rule_notes_by_term()
            fresh = [term for term in lessons if term not in taught and term.lower() in text]
            taught.update(fresh)
            lines += [f"   {term}: {lessons[term]}." for term in fresh]
        return screen_move._replace(lines=lines)

    def _show_position(self) -> None:
        to_act = self.simulation.current_seat(self.state)
        for seat, person in self._humans_by_seat.items():
            person.show_position(self.simulation.position_for(self.state, seat), to_act)

    # --- how it ended --------------------------------------------------------------------------

    @property
    def winning_seats(self) -> list[int]:
        """Return the winners' seats, empty for a tie or an abandoned match."""
        if self.player_quit:
            return []
        points = self.simulation.scores(self.state)
        best = [seat for seat, score in enumerate(points) if score == max(points)]
        return best if len(best) < self.simulation.seats else []

    @property
    def always_failing_bots(self) -> set[str]:
        """The users' bots of which every decision has failed."""
        return {bot.name for bot in self.bots.values() if bot.has_always_failed}

    @property
    def fault_counts_by_bot(self) -> dict[str, int]:
        """Number of failed decisions of each user's bot that has failed."""
        return {bot.name: bot.faults for bot in self.bots.values() if bot.faults}

    def match_log_records(self) -> list[StoredMatch]:
        """Return the parts in which the log stores the match; empty if it cannot be stored.

        The person in the log is the host; other people appear like bots.
        """
        extras, seated = lab_adapter(self.game.name), self._humans_by_seat
        end = (
            seated[self.host_seat].screen.state_if_resigned(self.state)
            if self.player_quit
            else self.state
        )
        if (
            end is None
            or len(self.actions) == self._initial_action_count
            or not extras.can_store_matches
        ):
            return []
        bot_names = {seat: bot.name for seat, bot in self.bots.items()}
        names_by_seat = {**bot_names, **self.human_names, self.host_seat: HUMAN_NAME}
        player_names = tuple(names_by_seat[seat] for seat in range(self.simulation.seats))
        name = f"{'branch' if self.point else 'versus'}-{token_hex(4)}"
        match = LabMatch(
            name,
            self._started_at,
            self.host_side_seats,
            player_names,
            self.actions,
            end,
            tag="versus",
        )
        stored_matches = list(extras.match_records(match))
        if self.point is not None:
            stored_matches = self.point.tagged_parts(stored_matches)
        if not self._has_undone:
            return stored_matches
        tags = [[*header_of(record).tags, "undo"] for record, _ in stored_matches]
        return [
            (replace(record, header={**record.header, "tags": more}), moves)
            for (record, moves), more in zip(stored_matches, tags, strict=True)
        ]

"""Matches of `cardsharp practice`: they are ordered at an arena, and our side is played here."""

import tempfile
import uuid
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

from cardsharp.core.clock import SystemClock
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.dto import cards_json
from cardsharp.games.deadmansdraw.arena_bot.bootstrap import ArenaBotDependencies
from cardsharp.games.deadmansdraw.arena_bot.client import ArenaClient
from cardsharp.games.deadmansdraw.cards import SUIT_ORDER, Card
from cardsharp.games.deadmansdraw.history.replay import parse_card
from cardsharp.store.match_log import Body
from cardsharp_tools.cli.console import (
    message_console,
    print_error,
    print_json,
    print_json_or_lines,
    result_console,
)
from cardsharp_tools.cli.exit_codes import ExitCode, decision_exit_code
from cardsharp_tools.executors.strategy_file import register_strategy
from cardsharp_tools.games.deadmansdraw.arena_environment import (
    bot_environment_from_options,
    single_attempt_client,
)
from cardsharp_tools.games.deadmansdraw.commands.practice import (
    PracticeOptions,
    StartPositionOptions,
)
from cardsharp_tools.games.deadmansdraw.match_printer import (
    ignore_running_matches,
    play_and_print_matches,
)
from cardsharp_tools.games.deadmansdraw.run_report import (
    MatchReport,
    build_match_report,
    print_replaced_decisions,
    raise_on_replaced_decision,
)
from cardsharp_tools.games.deadmansdraw.start_position import start_params_from_match
from cardsharp_tools.local_cloud.lambda_events import LambdaFunction
from cardsharp_tools.local_cloud.lambda_scheduler import LambdaSchedulerOptions
from cardsharp_tools.local_play.bot_runtime import (
    MatchFollower,
    in_process_backend_settings,
    open_bot_dependencies,
    run_poller_and_workers,
)
from cardsharp_tools.local_play.handler_environment import redirect_telemetry
from cardsharp_tools.local_play.local_run import STALL_TIMEOUT
from cardsharp_tools.match_sources.match_logs import copy_match, data_folder, open_log
from practice.app import handler as create_matches

CREATION_TIMEOUT = timedelta(minutes=5)

_PILE_NAMES = ("draw_pile", "discard_pile", "play_area")


def run_practice(options: PracticeOptions) -> int:
    """Create and play the matches; return the exit code of `cardsharp practice`."""
    # Before the bot's settings name a match log of its own: a match is one of the user's log.
    piles = _start_piles(options.start_position)
    tags = options.tag or (f"practice-{uuid.uuid4().hex[:8]}",)
    order = _build_practice_order(options, tags, piles)
    variables = bot_environment_from_options(
        options.arena,
        options.strategy,
        dummy_strategy=register_strategy(options.dummy_strategy)
        if options.opponent == "dummy"
        else None,
        tags=",".join(tags),
    )
    with tempfile.TemporaryDirectory(prefix="cardsharp-") as folder:
        store = variables["CARDSHARP_STORE"]
        # Matches that others play must not look as if we had left them in our own log.
        variables |= in_process_backend_settings(Path(folder, "stage.db"))
        with (
            redirect_telemetry(data_folder() / "practice.log"),
            open_bot_dependencies(variables) as assembly,
        ):
            with single_attempt_client(assembly.settings) as client:
                client.whoami()  # so that a wrong address or password is known as such
                at_once = _limit_concurrency(client, options)
            if options.create_only:
                ids = _create_matches(order, options.matches)
                if (fed := len(ids)) < options.matches:
                    message_console().print(
                        f"The arena's rate limit allows only these {fed} matches at the same time."
                    )
                lines = (f"created match {match_id}" for match_id in ids)
                print_json_or_lines({"match_ids": ids}, *lines, as_json=options.as_json)
                return ExitCode.OK
            ids = _play_matches(assembly, options, order, at_once)
            with open_log(store) as log:
                for match_id in ids:
                    copy_match(match_id, assembly.match_log, log, {})
            # Only now: whatever cannot be told of a match, it is kept.
            with single_attempt_client(assembly.settings) as client:
                played = [
                    build_match_report(assembly.match_log, client.get_match(match_id))
                    for match_id in ids
                ]
    if options.as_json:
        print_json([match.document() for match in played])
    else:
        _print_reports(played)
    if not all(match.log_comparison.is_complete for match in played):
        return ExitCode.FAILED
    if any(match.forced_turns for match in played):
        return ExitCode.LATE
    return decision_exit_code(
        sum(match.decisions for match in played),
        sum(len(match.replaced_decisions) for match in played),
    )


def _start_piles(options: StartPositionOptions) -> dict[str, object]:
    """Return the piles of a practice order; raise `ConfigError` for an invalid card."""
    piles: dict[str, object] = {}
    if options.from_position is not None:
        table = start_params_from_match(options.from_position)
        piles = {name: cards_json(getattr(table, name)) for name in _PILE_NAMES}
        piles |= {"banks": [*map(cards_json, table.banks or ())], "seed": table.random_seed}
    pile_texts = {name: getattr(options, name) for name in _PILE_NAMES}
    piles |= {name: _parse_pile(text) for name, text in pile_texts.items() if text is not None}
    if options.banks is not None:
        first_bank, _, second_bank = options.banks.partition("/")
        piles["banks"] = [_parse_pile(first_bank), _parse_pile(second_bank)]
    return piles


def _parse_pile(text: str) -> Sequence[Body]:
    """Return the cards of a comma-separated list such as Key3,Map5, in its order.

    An empty text means no cards.
    """
    return cards_json(
        [_parse_card(card_text.strip()) for card_text in text.split(",") if card_text.strip()]
    )


def _parse_card(text: str) -> Card:
    card = parse_card(text.capitalize())
    if card.suit not in SUIT_ORDER or not card.value:
        suits = ", ".join(SUIT_ORDER)
        raise ConfigError(f"'{text}' is not a card. Write for example Key3. The suits are {suits}.")
    return card


def _limit_concurrency(client: ArenaClient, options: PracticeOptions) -> int:
    """Return the number of concurrent matches, reduced if the arena's rate limit is low."""
    concurrency = min(options.concurrency, options.matches)
    turn = None if options.timeout is None else timedelta(seconds=options.timeout)
    fed = client.session_state.request_budget.max_sustainable_matches(turn)
    if fed is None or fed >= concurrency:
        return concurrency
    message_console().print(
        f"The arena's rate limit allows {fed} matches at the same time, not {concurrency}."
    )
    return fed


def _build_practice_order(
    options: PracticeOptions, tags: Sequence[str], piles: Mapping[str, object]
) -> dict[str, object]:
    """Return the event of the practice function, without the number of matches."""
    return {
        "opponent": options.opponent,
        "tags": list(tags),
        "timeout_seconds": options.timeout,
        **piles,
        **({} if options.seed is None else {"seed": options.seed}),
    }


def _create_matches(order: Mapping[str, object], match_count: int) -> list[str]:
    """Create matches by the practice function, which queues them; return their ids."""
    context = LambdaFunction("practice", create_matches, CREATION_TIMEOUT).context(SystemClock())
    return create_matches({**order, "matches": match_count}, context)["match_ids"]


def _play_matches(
    assembly: ArenaBotDependencies,
    options: PracticeOptions,
    order: Mapping[str, object],
    concurrency: int,
) -> list[str]:
    """Play the matches and return the ids of those that have ended.

    Each match is created when it can be played.
    """
    log, match_count = assembly.match_log, options.matches
    matches = (match_id for _ in range(match_count) for match_id in _create_matches(order, 1))
    follower = MatchFollower(log, assembly.clock, STALL_TIMEOUT)
    with run_poller_and_workers(
        assembly.dispatcher, LambdaSchedulerOptions(concurrency=concurrency)
    ):
        return play_and_print_matches(
            log,
            lambda glance: follower.iter_finished(matches, concurrency, glance),
            raise_on_replaced_decision if options.strict else ignore_running_matches,
            match_count=match_count,
            as_json=options.as_json,
        )


def _print_reports(match_reports: Sequence[MatchReport]) -> None:
    """Print a line for each match.

    The winner has no meaning in a match of the bot against itself.
    """
    console = result_console()
    console.print()
    for match in match_reports:
        result = "{}, {} : {}".format(match.outcome.result, *match.scores)
        console.print(f"{match.match_id}  {result}; {match.log_comparison}")
    print_replaced_decisions(match_reports, "")
    forced = sum(match.forced_turns for match in match_reports)
    if forced:
        turns = "one of our turns" if forced == 1 else f"{forced} of our turns"
        print_error(f"The arena ended {turns}, because no move came in time.")

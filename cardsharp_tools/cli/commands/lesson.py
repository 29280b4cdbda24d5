"""`cardsharp lesson`: positions in which you lost most, asked again, with answers and reasons."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter, validators
from rich.console import Console
from rich.text import Text

from cardsharp.core.clock import utc_now
from cardsharp.core.time_zones import to_local
from cardsharp.errors import ConfigError, StoreError
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchReader
from cardsharp_tools.cli.commands.watch import show_page_until_interrupt
from cardsharp_tools.cli.console import print_error, print_json, result_console
from cardsharp_tools.cli.game_commands import FIRST_GAME, RequiredGame
from cardsharp_tools.cli.options import CommandOptions, OpenBrowser, Port, Store
from cardsharp_tools.game_rooms.lesson_pages import lesson_routes
from cardsharp_tools.game_rooms.lessons import (
    DecisionReviewCard,
    ExerciseDeck,
    ExerciseQuestion,
    LessonSession,
    make_question,
)
from cardsharp_tools.game_rooms.match_config import MatchConfig
from cardsharp_tools.game_rooms.room_server import serve_match_pages
from cardsharp_tools.match_sources.match_logs import data_folder, open_existing_log
from cardsharp_tools.match_sources.sources import find_source
from cardsharp_tools.terminal.human_player import PlayerQuit, TerminalPlayer
from cardsharp_tools.terminal.match_printer import options_table
from cardsharp_tools.terminal.progress import track

_MAX_SEARCHED_MATCHES = 200  # so many of the newest matches are looked through


@dataclass(frozen=True, kw_only=True)
class LessonOptions(CommandOptions):
    """Number of questions in a lesson, and where they are asked."""

    count: Annotated[int, Parameter(name=("-n", "--count"), validator=validators.Number(gte=1))] = (
        10
    )
    """Number of decisions."""
    browser: bool = False
    """Repeat the decisions in a browser instead of this terminal."""
    port: Port = 0
    open: OpenBrowser = None
    store: Store = None
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """Print the decisions as JSON instead of asking you."""


def lesson(*, options: LessonOptions = LessonOptions(), game: RequiredGame = FIRST_GAME) -> None:
    """Repeat the decisions that cost you most in your matches."""
    session = start_lesson(game, options)
    if options.as_json:
        print_json([question.card.model_dump(mode="json") for question in session.questions])
    elif options.browser:
        more = lesson_routes(session)
        with serve_match_pages(find_source(options.store), options.port, more) as address:
            show_page_until_interrupt(f"{address}/lesson/1", options.open)
    else:
        _ask_questions(session, result_console())


def start_lesson(game: Game, options: LessonOptions) -> LessonSession:
    """Return a session with the questions that are due today.

    First scan those recent matches for mistakes that were not scanned before. Raises
    `ConfigError` if no question is due.
    """
    file, today = data_folder() / "lessons.json", to_local(utc_now()).date()
    lessons = ExerciseDeck.read(file)
    with open_existing_log(options.store, "cardsharp versus") as log:
        fresh = lessons.unscanned_matches(game, log, _MAX_SEARCHED_MATCHES)
        for record in track(fresh, "judging your matches"):
            try:
                lessons.add_cards_from_match(game, log, record)
            except StoreError as error:
                print_error(f"Match {record.match_id} is skipped: {error}")
        lessons.write(file)
        due = lessons.due_cards(game, today)[: options.count]
        if not due:
            rest = [card.due for card in lessons.cards if card.game == game.name]
            raise ConfigError(
                f"No decision is due before {min(rest)}. Play more matches, or come back then."
                if rest
                else (
                    f"Your matches of {game.title} contain no mistake. Play more with `cardsharp "
                    "versus`."
                )
            )
        asking = [question for card in due if (question := _try_make_question(card, game, log))]
    return LessonSession(game, asking, lessons, file, today)


def _try_make_question(
    exercise: DecisionReviewCard, game: Game, log: MatchReader
) -> ExerciseQuestion | None:
    """Return the question of an exercise, None if its match is missing or cannot be read.

    A match that cannot be read is reported to the user.
    """
    try:
        return make_question(exercise, game, log)
    except StoreError as error:
        print_error(f"A question about match {exercise.match} is skipped: {error}")
        return None


def _ask_questions(session: LessonSession, console: Console) -> None:
    """Ask one question after the other, until the pupil leaves."""
    advisor = MatchConfig(session.game).build_advisor()
    question_count = len(session.questions)
    for question_index, question in enumerate(session.questions):
        console.rule(f"{question_index + 1} of {question_count}", align="left", style="dim")
        pupil = TerminalPlayer(question.screen, input, console, advisor)
        try:
            decision = pupil.decide(question.decision_point.position)
        except PlayerQuit:
            return
        correction = session.submit_answer(question_index, decision.action)
        if correction is None:
            console.print("This position cannot be evaluated. The question comes again tomorrow.")
            continue
        verdict = ("Right. " if correction.is_correct else "No. ", "bold")
        console.print(Text.assemble(verdict, correction.comparison_text))
        console.print(Text(correction.thought.reason, style="dim"))
        console.print(options_table(correction.thought))
        console.print(Text(session.original_cost_text(question_index), style="dim"))
    console.print(f"{session.correct_count} of {question_count} answered well.", style="bold")

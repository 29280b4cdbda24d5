"""`cardsharp lesson`: positions in which you lost most, asked again, with answers and reasons."""

from dataclasses import dataclass
from typing import Annotated

from cyclopts import Parameter, validators
from rich.console import Console
from rich.text import Text

from cardsharp.cloud.clock import utc_now
from cardsharp.cloud.ports import MatchReader
from cardsharp.errors import ConfigError, StoreError
from cardsharp.game import Game
from cardsharp.time_zones import to_local
from workbench.cli.games import FIRST, OneGame
from workbench.cli.watch import shown_until_stopped
from workbench.show.drawing import options_table
from workbench.show.lookup import data_folder, open_to_read
from workbench.show.options import CommandOptions, Opening, Port, Store
from workbench.show.output import print_error, print_json, results
from workbench.show.person import Left, Person
from workbench.show.progress import each
from workbench.table.lesson import (
    Exercise,
    Lesson,
    LessonQuestion,
    Lessons,
    lesson_routes,
    question_of,
)
from workbench.table.served import pages_over
from workbench.table.setting import Setting
from workbench.watch.sources import source_of

_LOOKED_AT = 200  # so many of the newest matches are looked through


@dataclass(frozen=True, kw_only=True)
class LessonOptions(CommandOptions):
    """How much is asked, and where."""

    number: Annotated[
        int, Parameter(name=("-n", "--number"), validator=validators.Number(gte=1))
    ] = 10
    browser: bool = False
    """Ask in a browser instead of this terminal."""
    port: Port = 0
    open: Opening = None
    store: Store = None
    as_json: Annotated[bool, Parameter(name="--json")] = False
    """List what is to be asked, and ask nothing."""


def lesson(*, options: LessonOptions = LessonOptions(), game: OneGame = FIRST) -> None:
    """Answer again where you lost most in your matches; what you know by now comes back later."""
    found = begun(game, options)
    if options.as_json:
        print_json([one.card.model_dump(mode="json") for one in found.questions])
    elif options.browser:
        more = lesson_routes(found)
        with pages_over(source_of(options.store), options.port, more) as address:
            shown_until_stopped(f"{address}/lesson/1", options.open)
    else:
        _ask_all(found, results())


def begun(game: Game, options: LessonOptions) -> Lesson:
    """What is to be asked today, out of matches that are looked through now or were before."""
    file, today = data_folder() / "lessons.json", to_local(utc_now()).date()
    lessons = Lessons.read(file)
    with open_to_read(options.store, "cardsharp versus") as log:
        fresh = lessons.unseen(game, log, _LOOKED_AT)
        for record in each(fresh, "judging your matches"):
            try:
                lessons.look_through(game, log, record)
            except StoreError as error:
                print_error(f"Match {record.match_id} is left out: {error}")
        lessons.write(file)
        due = lessons.due(game, today)[: options.number]
        if not due:
            rest = [one.due for one in lessons.cards if one.game == game.name]
            raise ConfigError(
                f"Nothing is to be asked before {min(rest)}; play more, and come back then."
                if rest
                else f"There is no mistake of yours in a match of {game.title}; play by "
                "`cardsharp versus`."
            )
        asking = [question for card in due if (question := _question_of(card, game, log))]
    return Lesson(game, asking, lessons, file, today)


def _question_of(card: Exercise, game: Game, log: MatchReader) -> LessonQuestion | None:
    """What a card asks, None where its match is gone or, as is said then, cannot be read."""
    try:
        return question_of(card, game, log)
    except StoreError as error:
        print_error(f"A question about match {card.match} is left out: {error}")
        return None


def _ask_all(asked: Lesson, console: Console) -> None:
    """One question after the other, until the pupil leaves."""
    advisor = Setting(asked.game).advisor()
    number = len(asked.questions)
    for place, question in enumerate(asked.questions):
        console.rule(f"{place + 1} of {number}", align="left", style="dim")
        pupil = Person(question.screen, input, console, advisor)
        try:
            decision = pupil.decide(question.asked.position)
        except Left:
            return
        correction = asked.answer(place, decision.action)
        if correction is None:
            console.print("Nobody can value that; it is asked again tomorrow.")
            continue
        told = ("Right. " if correction.well else "No. ", "bold")
        console.print(Text.assemble(told, correction.kept))
        console.print(Text(correction.thought.reason, style="dim"))
        console.print(options_table(correction.thought))
        console.print(Text(asked.cost(place), style="dim"))
    console.print(f"{asked.right} of {number} answered well.", style="bold")

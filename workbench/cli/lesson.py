"""`cardsharp lesson`: positions in which you lost most, asked again, with answers and reasons."""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Annotated

from cyclopts import Parameter, validators
from rich.console import Console
from rich.text import Text

from cardsharp.errors import ConfigError
from cardsharp.game import Game
from cardsharp.judge import judging
from cardsharp.replay import Asked, Thought
from workbench.cli.each import FIRST, OneGame
from workbench.show.decisions import amount, options_table
from workbench.show.drawing import drawing_of
from workbench.show.lookup import data_folder, open_to_read
from workbench.show.options import Store
from workbench.show.output import print_json, results
from workbench.show.person import LEAVE
from workbench.show.progress import Bar
from workbench.show.screen import Choice, in_columns, matching, several
from workbench.table.lesson import Exercise, Lessons, answered, judged, position_of, unseen

_LOOKED_AT = 200
"""So many of the newest matches are looked through."""

_PROMPT = "What do you do (number or name, quit)? "


def lesson(
    *,
    number: Annotated[
        int, Parameter(name=("-n", "--number"), validator=validators.Number(gte=1))
    ] = 10,
    store: Store = None,
    as_json: Annotated[
        bool, Parameter(name="--json", help="List what is to be asked, and ask nothing.")
    ] = False,
    game: OneGame = FIRST,
) -> None:
    """Answer again where you lost most in your matches; what you know by now comes back later."""
    file, today, console = data_folder() / "lessons.json", datetime.now(UTC).date(), results()
    lessons = Lessons.read(file)
    with open_to_read(store, "cardsharp versus") as log:
        fresh = unseen(lessons, game, log, _LOOKED_AT)
        with Bar(len(fresh), "judging your matches") as bar:
            for record in fresh:
                lessons.look_through(game, log, [record])
                bar.advance()
        lessons.write(file)
        due = lessons.due(game, today)[:number]
        if not due:
            raise ConfigError(_nothing(lessons, game))
        asking = [(card, asked) for card in due if (asked := position_of(card, game, log))]
    if as_json:
        print_json([one.model_dump(mode="json") for one, _ in asking])
        return
    pupil, right = Pupil(console, game, today), 0
    for place, (card, asked) in enumerate(asking, 1):
        console.rule(f"{place} of {len(asking)}", align="left", style="dim")
        answer = pupil.answer(asked)
        if answer is None:
            break
        right += pupil.told(card, asked, answer)
        lessons.write(file)
    else:
        console.print(f"{right} of {len(asking)} answered well.", style="bold")


def _nothing(lessons: Lessons, game: Game) -> str:
    """Why there is nothing to ask."""
    rest = [one.due for one in lessons.cards if one.game == game.name]
    if rest:
        return f"Nothing is to be asked before {min(rest)}; play more, and come back then."
    return f"There is no mistake of yours in a match of {game.title}; play by `cardsharp versus`."


@dataclass(frozen=True, slots=True)
class Pupil:
    """Who is asked today, at the terminal, about a game."""

    console: Console
    game: Game
    today: date

    def answer(self, asked: Asked) -> str | None:
        """What is chosen, None where that is to leave."""
        seen = drawing_of(self.game).seen(asked.step)
        if seen is not None:
            self.console.print(seen)
        choices = [Choice(str(at), name, name) for at, name in enumerate(asked.options.values(), 1)]
        for line in in_columns([str(one) for one in choices], self.console.width):
            self.console.print(Text(line))
        while True:
            try:
                line = input(_PROMPT).strip()
            except EOFError:
                return None
            if line.lower() in LEAVE:
                return None
            found = matching(line, choices)
            if len(found) == 1:
                return found[0].action
            self.console.print(several(found) if found else "That is none of them; type a number.")

    def told(self, card: Exercise, asked: Asked, answer: str) -> bool:
        """Say what the answer is worth, and why; whether it was a good one."""
        correction = judged(self.game, asked, answer)
        well = correction is not None and correction.well
        answered(card, self.today, well=well)
        if correction is None:
            self.console.print("Nobody can value that; it is asked again tomorrow.")
            return False
        kept = f"{answer} keeps {self._amount(correction.answer)}"
        best = f"; {correction.best} {self._amount(correction.best_worth)}."
        kept += ", the most." if correction.best == answer else best
        self.console.print(Text.assemble(("Right. " if well else "No. ", "bold"), kept))
        self.console.print(Text(correction.reason, style="dim"))
        self.console.print(
            options_table(Thought(action=correction.best, options=correction.options))
        )
        then = asked.step.ours.action if asked.step.ours else ""
        cost = self._amount(card.cost)
        self.console.print(Text(f"Then you chose {then}, which cost {cost}.", style="dim"))
        return well

    def _amount(self, worth: float) -> str:
        return amount(judging(self.game).judge.form, worth)

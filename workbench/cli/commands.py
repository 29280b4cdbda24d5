"""The sub-commands by name: which module runs each, and what `--help` says.

The texts stand here rather than in the modules so that `cardsharp --help` imports none of them.
"""

import sys
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Literal

import cyclopts
from cyclopts import Parameter

from cardsharp.games import games
from workbench.cli.usage import SETTINGS
from workbench.deadmansdraw.commands import COMMANDS as OF_THE_FIRST_GAME
from workbench.show.command import Command, mount

ABOUT = "Bots that play card games, and an arena to play in on this machine."

EXIT_CODES = """\
Every command takes --help, and --json where a program could use what it says.
Exit codes: 0 it worked (a lost match did), 1 it failed,
2 wrong usage or settings, 3 no arena to be reached, 130 stopped with Ctrl-C."""


COMMANDS = (
    Command(
        "new",
        "Write a strategy of your own to begin with.",
        "A commented file that plays at once. It may import modules that lie beside it. Where it "
        "fails, the error names its line, and what it prints is kept with the decision (why).",
        (
            ("cardsharp new mine.py", "for Dead Man's Draw"),
            ("cardsharp new bluff.py --game blef", "for Blef; euchre likewise"),
            ("cardsharp new mine.js", "a program in JavaScript; Mine.java likewise"),
            ("cardsharp play --strategy mine.py --strict", "play it, and stop at its first fault"),
        ),
    ),
    Command(
        "ladder",
        "Climb a game's own players with a strategy of yours.",
        "From the weakest up, until one is not beaten: who is stronger is decided by a sequential "
        "test, each deal played from both seats. The players' ratings are Elo points that were "
        "measured once, yours follows from its matches. What is known is not played again until "
        "the file changes, or with --anew. At a fault of the strategy it stops and names the line.",
        (
            ("cardsharp ladder mine.py", "how far does it come, and who is next?"),
            ("cardsharp ladder bluff.py --game blef", "in Blef; euchre likewise"),
            ("cardsharp ladder mine.py --to draw-3", "for a script: 0 if it beats draw-3, else 1"),
        ),
    ),
    Command(
        "versus",
        "Play yourself, in this terminal or a browser, against any player.",
        "Of Dead Man's Draw; cardsharp blef versus and cardsharp euchre versus likewise. At the "
        "table type a move's number or words of its name; help, rules, hint and history are words "
        "too. With --browser the table is a page, and --invite has a link to a seat for each of "
        "your friends. The match is kept as any other, so show, why and watch tell it again.",
        (
            ("cardsharp versus", "against our best player"),
            ("cardsharp versus third --hints", "against another, with a hint at each turn"),
            ("cardsharp versus mine.py", "against your own strategy"),
            ("cardsharp blef versus --bots 3", "Blef, against three"),
            ("cardsharp versus --browser", "in the browser, with the analysis at the end"),
            ("cardsharp versus --browser --invite 1", "against a friend, who gets a link"),
        ),
    ),
    Command(
        "strategies",
        "List the strategies that can play.",
        "Each name works for --strategy and --opponent.",
        (("cardsharp strategies", "names, with a line about each"),),
    ),
    Command(
        "matches",
        "List the matches of a match log.",
        "The last started come first. play, practice and bot write the same log.",
        (
            ("cardsharp matches", "the last twenty"),
            ("cardsharp matches --status running", "those that run now"),
            ("cardsharp matches --day 2026-11-20", "those of a day (UTC)"),
            ("cardsharp matches prune --older-than 30d", "delete those that ended long ago"),
        ),
        group=True,
    ),
    Command(
        "show",
        "Show a match turn by turn.",
        "MATCH is an id, a unique beginning or end of one, or the word last.",
        (
            ("cardsharp show last", "the newest match"),
            ("cardsharp show last --turn 7", "one turn of it"),
        ),
    ),
    Command(
        "watch",
        "Look at a match in the browser, step by step or live.",
        "The page goes through a match card by card and shows what we weighed at each decision of "
        "ours. It is served to this machine alone, until Ctrl-C.",
        (
            ("cardsharp watch", "the newest match; while it is played the page moves on"),
            ("cardsharp watch last --html match.html", "one file to send, which needs no network"),
            (
                "cardsharp watch last --svg turn.svg",
                "its liveliest turn as a picture that plays",
            ),
            ("cardsharp watch http://127.0.0.1:8080", "the newest match of an arena"),
            ("cardsharp watch told.json", "what an arena answered about a match"),
        ),
    ),
    Command(
        "why",
        "Explain our decisions in one turn.",
        "For each decision: the table as we saw it, the options with their values, the choice "
        "and its reason, and how long it took.",
        (("cardsharp why last 7", "turn 7 of the newest match"),),
        function="show:why",
    ),
    Command(
        "analyse",
        "Show what each decision of a match cost, and what was luck.",
        "By the game's judge (captain in Dead Man's Draw), who is shown what the player saw and no "
        "more. Accuracy, luck and skill of both players, the chance to win step by step, and every "
        "mistake with what would have been better. MATCH is the newest where none is named.",
        (
            ("cardsharp analyse", "the last match"),
            ("cardsharp analyse told.json", "what an arena has answered, also of others"),
            ("cardsharp analyse https://arena.example", "the newest match there"),
            ("cardsharp analyse last --json", "every decision and the curve, for a program"),
        ),
    ),
    Command(
        "stats",
        "Measure how well we decided and how lucky we were, over many matches.",
        "Of a match log; cardsharp euchre stats and blef stats read what those keep. Results, "
        "accuracy, blunders, busts and time-outs a match, with 95 % intervals. 'less luck' is the "
        "result without what the cards brought: it tells players apart with far fewer matches.",
        (
            ("cardsharp stats", "the newest 100 matches, by opponent"),
            ("cardsharp stats --by strategy --limit 500", "by which strategy of ours played"),
            ("cardsharp stats --player mine.py --by version", "is mine.py getting better?"),
        ),
    ),
    Command(
        "try",
        "Let a strategy decide again what was decided in stored matches.",
        "Each position is as it was then, whatever the strategy would have done before. What a "
        "difference costs is what the game's best judge thinks (captain in Dead Man's Draw).",
        (
            ("cardsharp try mine.py", "where it differs in the last match"),
            ("cardsharp try mine.py --turn 7", "all that it weighs in turn 7"),
            ("cardsharp try mine.py --all", "where it differs in any match"),
            ("cardsharp try mine.py --match told.json", "in what an arena has answered"),
        ),
        function="trying:again",
    ),
    Command(
        "export",
        "Write decisions as a data set, for a player that learns.",
        "A row a decision: observation and mask as the environment has them, action, result, seat, "
        "and with --value what the game's judge thinks of the action. As JSON Lines, or as Parquet "
        "by the extra `parquet`. docs/environments.md has the schema.",
        (
            ("cardsharp export played.jsonl captain third -n 500", "fresh matches"),
            ("cardsharp export own.parquet captain --game blef", "against itself, in Blef"),
            ("cardsharp export stored.jsonl --all --value", "all stored matches, valued"),
        ),
    ),
    Command(
        "contest",
        "Hold a contest, on this machine or in the cloud.",
        "Its folder has everything: teams, rulings, results, and the arena's matches. It may be "
        "killed at any moment and goes on when it is run again. `teams list`, `status` and "
        "`results` take --json.",
        (
            ("cardsharp contest new cup", "double elimination, 5 matches a pairing"),
            ("cardsharp contest teams add cup 'Goal Diggers'", "prints id and password, once"),
            ("cardsharp contest teams add cup House --strategy captain", "a team of our own"),
            ("cardsharp contest practice cup --until 16:30", "a ladder of who is there"),
            ("cardsharp contest run cup --seed-by-practice", "its arena, and matches to the end"),
            ("cardsharp contest status cup", "how it stands, from another terminal"),
            ("cardsharp contest results cup --csv", "every pairing with its matches"),
            ("cardsharp contest new cup --stack cardsharp-prod", "in a stack; so all but practice"),
        ),
        group=True,
    ),
    Command(
        "cloud",
        "Deploy a bot on AWS, monitor and control it.",
        "The account and region are those of the environment, as for AWS's own command line. "
        "docs/operations.md says when to use what. Every one takes --stack, --region and --json.",
        (
            ("cardsharp cloud preflight", "does the account allow it? before the first deployment"),
            ("cardsharp cloud deploy ArenaUrl=https://arena.example", "build and deploy it"),
            ("cardsharp cloud status", "does it listen, play and work?"),
            ("cardsharp cloud practice -n 5", "have it play five matches against itself"),
            ("cardsharp cloud logs MATCH", "what all functions logged about a match"),
            ("cardsharp cloud logs --problems --follow", "what goes wrong, as it happens"),
            ("cardsharp cloud link last --hours 24", "a link to the page of the newest match"),
            ("cardsharp cloud listen --for 4h", "listen through a tournament"),
            ("cardsharp cloud set --tag final --at-once 4", "which matches, within seconds"),
            ("cardsharp cloud set --strategy steady", "who plays from the next match on"),
            ("cardsharp cloud set --default strategy", "back to the strategy that was deployed"),
            (
                "cardsharp cloud export mine.db",
                "its matches in a file here, before KeepDays is over",
            ),
            ("cardsharp cloud pause", "no new matches before an upgrade"),
            ("cardsharp cloud resume", "new matches again, and listening"),
        ),
        group=True,
    ),
    Command(
        "cost",
        "Estimate what playing on AWS costs.",
        "From a dated price list and from what matches used on this machine.",
        (
            ("cardsharp cost", "the default deployment, 100 matches a day, for a month"),
            ("cardsharp cost --matches-per-day 300 --days 1", "a tournament day"),
            ("cardsharp cost --measure", "measure matches anew before adding up"),
        ),
    ),
)

ORDER = (
    "play new ladder versus strategies matches show watch why analyse stats try export arena "
    "contest bot practice doctor cloud cost"
)
"""The sub-commands as they are listed."""

ROOMS = (("lab", "workbench.lab.commands:app", "Measure strategies: duels, leagues, probes."),)
"""Commands that have commands of their own; each is an `App` that brings its help along."""

RESEARCH = (
    "research",
    "research.commands:app",
    "Train strategies, solve what can be solved, study players.",
)
"""The same for the folder `research/`, without which everything else works."""


def all_commands() -> tuple[Command, ...]:
    """Every sub-command in the order of the list, those of the first game among them."""
    found = {one.name: one for one in (*COMMANDS, *OF_THE_FIRST_GAME)}
    return tuple(found[name] for name in ORDER.split())


def command(name: str) -> Command:
    """The sub-command of that name."""
    return next(one for one in COMMANDS if one.name == name)


def build_app() -> cyclopts.App:
    """The command line; a command's module is imported when it is called."""
    app = cyclopts.App(
        name="cardsharp",
        help=ABOUT,
        help_format="plaintext",
        help_epilogue=EXIT_CODES,
        version=_version,
        suppress_keyboard_interrupt=False,
        default_parameter=Parameter(negative=()),
        config=cyclopts.config.Toml(SETTINGS, must_exist=False),
    )
    app["--help"].show = False
    app["--version"].show = False
    mount(app, all_commands())
    for place, (name, target, summary) in enumerate(rooms(), len(all_commands())):
        app.command(target, name=name, help=summary, sort_key=place)
    app.command(_completion(app), name="completion", sort_key=place + 1)
    return app


def _completion(app: cyclopts.App) -> Callable[[Literal["bash", "zsh", "fish"]], None]:
    def completion(shell: Literal["bash", "zsh", "fish"]) -> None:
        """Print a script with which a shell completes commands and options.

        Write it into a file, which your shell reads when it is needed: for bash
        cardsharp in ~/.local/share/bash-completion/completions, for zsh _cardsharp in
        a folder of $fpath, for fish cardsharp.fish in ~/.config/fish/completions.
        """
        sys.stdout.write(app.generate_completion(prog_name="cardsharp", shell=shell))

    return completion


def _version() -> str:
    """Our version, read only where it is asked for."""
    from importlib.metadata import version  # noqa: PLC0415 - slow to import

    return version("cardsharp")


def rooms() -> Iterator[tuple[str, str, str]]:
    """The lab, each game, and the folder of research where it is there."""
    yield from ROOMS
    for game in games():
        yield game.name, f"workbench.cli.games:{game.name}", game.about
    if find_spec(RESEARCH[0]):
        yield RESEARCH

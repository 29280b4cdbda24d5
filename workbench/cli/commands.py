"""The sub-commands by name: which module runs each, and what `--help` says.

The texts stand here rather than in the modules so that `cardsharp --help` imports none of them.
"""

from dataclasses import dataclass
from importlib.metadata import version

import cyclopts

ABOUT = "Bots that play card games, and an arena to play in on this machine."

EXIT_CODES = """\
Every command takes --help, and --json where a program could use what it says.
Exit codes: 0 it worked (a lost match did), 1 it failed,
2 wrong usage or settings, 3 no arena to be reached, 130 stopped with Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Command:
    """A sub-command; `summary` is its line in the list, `more` what its own help adds."""

    name: str
    summary: str
    more: str
    examples: tuple[tuple[str, str], ...]
    group: bool = False
    """Whether it has sub-commands of its own; then its module adds the epilogue."""

    @property
    def target(self) -> str:
        """Where its function is."""
        return f"workbench.cli.{self.name}:{self.name}"

    @property
    def help(self) -> str:
        """Summary and explanation."""
        return f"{self.summary}\n\n{self.more}"

    @property
    def epilogue(self) -> str:
        """The examples, one a line, explained."""
        width = max(len(line) for line, _ in self.examples)
        lines = (f"  {line:{width}}  {meaning}" for line, meaning in self.examples)
        return "Examples:\n" + "\n".join(lines)


COMMANDS = (
    Command(
        "play",
        "Play matches on this machine and check their logs.",
        "Starts an arena, an opponent, and our bot in its cloud shape: poller, queue, worker and "
        "match log. Needs no account. Shows a single match turn by turn and several in a table.",
        (
            ("cardsharp play", "watch our bot play a match"),
            ("cardsharp play --strategy mine.py", "watch your own strategy"),
            ("cardsharp play --opponent champion -n 20", "twenty matches, with the score"),
            ("cardsharp play --cloud emulator", "through SQS and DynamoDB of an AWS emulator"),
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
        ),
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
        "why",
        "Explain our decisions in one turn.",
        "For each decision: the table as we saw it, the options with their values, the choice "
        "and its reason, and how long it took.",
        (("cardsharp why last 7", "turn 7 of the newest match"),),
    ),
    Command(
        "arena",
        "Run an arena in the foreground.",
        "Speaks the competition's REST API. ARENA_ADMIN_PASSWORD in the environment is the "
        "organiser's password; without it there is no organiser.",
        (
            ("cardsharp arena", "on http://127.0.0.1:8080, until Ctrl-C"),
            ("cardsharp arena --data arena.db", "matches survive a restart"),
            ("cardsharp arena --random original", "deal as the competition's server does"),
        ),
    ),
    Command(
        "bot",
        "Attend an arena from this machine, without AWS.",
        "Plays every match that waits for us until Ctrl-C; then running matches are played to "
        "their end, and a second Ctrl-C stops at once. The password comes from "
        "CARDSHARP_PASSWORD or is asked for, never from the command line.",
        (
            ("cardsharp bot --url https://arena.example --user ID", "attend everything"),
            ("cardsharp bot --url ... --user ID --tag final", "only matches with that tag"),
            ("cardsharp bot --url ... --user ID --once", "leave after the first match"),
        ),
    ),
    Command(
        "practice",
        "Create practice matches at an arena and play them.",
        "Against ourselves, or against the dummy player, whose seat we play as well. Only "
        "matches that were created here are played.",
        (
            ("cardsharp practice --url https://arena.example --user ID", "one against ourselves"),
            ("cardsharp practice ... --opponent dummy --matches 5", "five against the dummy"),
            ("cardsharp practice ... --create-only --tag try", "for a bot that runs elsewhere"),
        ),
    ),
    Command(
        "doctor",
        "Check settings, credentials, clock, arena and stores.",
        "Says of everything that a bot needs whether it is right, and if not, what to do.",
        (
            ("cardsharp doctor", "check what the environment names"),
            ("cardsharp doctor --url https://arena.example --user ID", "check this arena"),
        ),
    ),
    Command(
        "cloud",
        "Watch and steer a bot that is deployed on AWS.",
        "The account and region are those of the environment, as for AWS's own command line. "
        "docs/operations.md says when to use what. Every one takes --stack, --region and --json.",
        (
            ("cardsharp cloud status", "does it listen, play, and is it well?"),
            ("cardsharp cloud practice -n 5", "have it play five matches against itself"),
            ("cardsharp cloud logs MATCH", "what all functions logged about a match"),
            ("cardsharp cloud pause", "no new matches before an upgrade"),
        ),
        group=True,
    ),
    Command(
        "cost",
        "Say what a plan costs on AWS.",
        "From a dated price list and from what matches used on this machine.",
        (
            ("cardsharp cost", "always listening, 100 matches a day, for a month"),
            ("cardsharp cost --matches-per-day 300 --days 1", "a tournament day"),
            ("cardsharp cost --measure", "measure matches anew before adding up"),
        ),
    ),
)

ROOMS = (
    ("lab", "workbench.lab.commands:app", "Measure strategies, train them, learn from opponents."),
    ("blef", "workbench.cli.blef:blef", "Serve Blef, play it, and let its strategies duel."),
    ("euchre", "workbench.euchre.commands:app", "Serve Euchre's engine, play it, probe it."),
)
"""Commands that have commands of their own; each is an `App` that brings its help along."""


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
        version=version("cardsharp"),
        suppress_keyboard_interrupt=False,
    )
    app["--help"].show = False
    app["--version"].show = False
    for place, entry in enumerate(COMMANDS):
        app.command(
            entry.target,
            name=entry.name,
            help=entry.help,
            **({} if entry.group else {"help_epilogue": entry.epilogue}),
            sort_key=place,
        )
    for place, (name, target, summary) in enumerate(ROOMS, len(COMMANDS)):
        app.command(target, name=name, help=summary, sort_key=place)
    return app

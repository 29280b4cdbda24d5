"""`cardsharp lab`: strategies against each other, and looked at closely."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter, validators

from workbench.blef.lab import app as solve
from workbench.cli.exits import Exit
from workbench.cli.lookup import open_to_read
from workbench.cli.options import Json, Store
from workbench.cli.output import messages, print_json, results
from workbench.lab.calibration import Calibration, calibrate
from workbench.lab.league import play_league
from workbench.lab.ledger import Ledger, difference
from workbench.lab.printing import (
    cross_table,
    duel_document,
    figures,
    league_document,
    print_answers,
    print_calibration,
    print_profile,
    probe_document,
)
from workbench.lab.probe import ask
from workbench.lab.profile import profile
from workbench.lab.progress import counted, followed
from workbench.lab.runs import SERIES, Numbered, Plan, all_cores, run
from workbench.lab.selfplay import Duel
from workbench.lab.study import ENTRIES, study, write_entry

_EXAMPLES = """\
Examples:
  cardsharp lab duel captain champion --pairs 5000   who is stronger, and by how much
  cardsharp lab duel mine.py captain --out run.jsonl  stopped, and taken up again
  cardsharp lab league captain steady third          everybody against everybody
  cardsharp lab probe captain --matches 1000         right answers, and calibration
  cardsharp lab profile captain                      time and nodes a decision
  cardsharp lab study OPPONENT                       a new entry for `adaptive`"""

app = cyclopts.App(
    name="lab",
    help="Measure strategies: duels, leagues, probes, profiles.",
    help_format="plaintext",
    help_epilogue=_EXAMPLES,
)

app.command(
    "workbench.lab.train:main", name="train", help="Train the captain's weights from scratch."
)

app.command(solve)

Positive = validators.Number(gte=1)
Player = Annotated[str, Parameter(help="A strategy, or a FILE.py with one.")]
Seed = Annotated[int, Parameter(help="The same seed plays the same matches.")]
Workers = Annotated[int | None, Parameter(validator=Positive, help="Processes; else one a core.")]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """How many matches are played, and by what."""

    pairs: Annotated[
        int, Parameter(alias="-n", validator=Positive, help="Decks; each is played twice.")
    ] = 500
    seed: Seed = 1
    workers: Workers = None
    series: Annotated[
        int, Parameter(validator=Positive, help="Pairs in a row that a player may learn from.")
    ] = SERIES
    plain: Annotated[
        bool, Parameter(negative=(), help="Plain Python even where compiled code is there.")
    ] = False
    as_json: Json = False

    @property
    def processes(self) -> int:
        """How many processes play."""
        return self.workers or all_cores()

    def plan(self, first: str, second: str) -> Plan:
        """The plan of a duel with these options."""
        return Plan(
            first=first,
            second=second,
            pairs=self.pairs,
            seed=self.seed,
            series=self.series,
            plain=self.plain,
        )


# --- duel ------------------------------------------------------------------------------------


@app.command
def duel(
    first: Player,
    second: Player,
    *,
    out: Annotated[
        Path | None,
        Parameter(name=["--out", "--resume"], help="Keep each pair there, and go on from it."),
    ] = None,
    options: RunOptions = RunOptions(),
) -> None:
    """Let two strategies play each deck twice with the seats swapped; prints FIRST's points."""
    played = _play(options.plan(first, second), options.processes, out)
    if options.as_json:
        print_json(duel_document(options.plan(first, second), played))
    else:
        results().print(f"{first} v {second}: {played}", soft_wrap=True)


def _play(plan: Plan, workers: int, out: Path | None) -> Duel:
    ledger = None if out is None else Ledger(out, plan)
    kept = {} if ledger is None else ledger.kept
    messages().print(plan.stop_rule(), soft_wrap=True)
    with followed(plan, len(kept)) as show:

        def tell(played: list[Numbered]) -> None:
            if ledger is not None:
                ledger.add(played)
            show(played)

        return run(plan, workers, kept, tell)


@app.command(name="difference")
def difference_(
    one: Annotated[Path, Parameter(help="The file of a duel (--out).")],
    two: Annotated[Path, Parameter(help="That of another player against the same one.")],
    *,
    as_json: Json = False,
) -> None:
    """Compare two players deck by deck, by their duels with a third over the same seed."""
    gap, margin, matches = difference(one, two)
    if as_json:
        print_json({"difference": round(gap, 3), "margin": round(margin, 3), "matches": matches})
    else:
        results().print(f"{gap:+.2f} ± {margin:.2f} points in 100 over {matches} matches of each")


# --- league ----------------------------------------------------------------------------------


@app.command
def league(*players: Player, options: RunOptions = RunOptions()) -> None:
    """Let each two strategies play a duel; prints the points of the row against the column."""

    def tell(plan: Plan) -> None:
        messages().print(plan.stop_rule(), soft_wrap=True)

    if len(set(players)) < 2 or len(set(players)) < len(players):  # noqa: PLR2004 (a league of one)
        messages().print("cardsharp: A league needs two strategies or more, each named once.")
        raise SystemExit(Exit.USAGE)
    table = play_league(players, options.plan(*players[:2]), options.processes, tell)
    if options.as_json:
        print_json(league_document(table))
    else:
        results().print(cross_table(table))


# --- probe -----------------------------------------------------------------------------------


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class CalibrationOptions:
    """The fresh matches in which the win probability is looked at."""

    matches: Annotated[int, Parameter(help="Matches for the calibration; 0 for none.")] = 0
    opponent: Player = "steady"
    picture: Annotated[Path | None, Parameter(help="Draw the calibration there, as SVG.")] = None
    seed: Seed = 1
    workers: Workers = None

    def calibrate(self, strategy: str) -> Calibration | None:
        """The calibration of a strategy, drawn where that is wanted; None without matches."""
        if not self.matches:
            return None
        workers = self.workers or all_cores()
        found = calibrate(strategy, self.opponent, self.matches, self.seed, workers)
        if self.picture is not None:
            self.picture.write_text(found.picture(strategy), encoding="utf-8")
        return found


@app.command
def probe(
    strategy: Player,
    *,
    options: CalibrationOptions = CalibrationOptions(),
    as_json: Json = False,
) -> int:
    """Ask for hand-made positions with one right answer; exits with 1 where one is wrong.

    With --matches the win probability is compared with what came of matches.
    """
    answers, found = tuple(ask(strategy)), options.calibrate(strategy)
    if as_json:
        print_json(probe_document(answers, found))
    else:
        print_answers(answers)
        if found is not None:
            print_calibration(found)
    return Exit.OK if all(answer.is_right for answer in answers) else Exit.FAILED


# --- profile ---------------------------------------------------------------------------------


@app.command(name="profile")
def profile_(
    strategy: Player,
    *,
    positions: Annotated[
        int, Parameter(alias="-n", validator=Positive, help="Real positions, effects included.")
    ] = 500,
    opponent: Player = "champion",
    seed: Seed = 1,
    as_json: Json = False,
) -> None:
    """Measure processor time and nodes a decision, in this process."""
    with counted("deciding", positions) as tell:
        found = profile(strategy, opponent, positions, seed, tell)
    if as_json:
        print_json({"milliseconds": figures(found.milliseconds), "nodes": figures(found.nodes)})
    else:
        print_profile(found)


# --- study -----------------------------------------------------------------------------------


@app.command(name="study")
def study_(
    opponent: Annotated[str, Parameter(help="A player's id or name in the log.")],
    *,
    matches: Annotated[int, Parameter(validator=Positive, help="The last so many of them.")] = 200,
    out: Annotated[Path, Parameter(help="The file of known opponents to write.")] = ENTRIES,
    store: Store = None,
    as_json: Json = False,
) -> None:
    """Make an entry for `adaptive` from an opponent's logged matches."""
    with open_to_read(store) as log:
        found = study(log, opponent, matches)
    write_entry(found.entry, out)
    if as_json:
        print_json(asdict(found))
        return
    console = results()
    console.print(f"{opponent}: {found.decisions} decisions in {found.matches} matches")
    for model, shares in found.agreement.items():
        told = ", ".join(f"{100 * share:.0f} % of its {what}" for what, share in shares.items())
        console.print(f"  decides as {model}: {told}")
    console.print(f"plays with the weights '{found.entry.weights}' against it; written to {out}")

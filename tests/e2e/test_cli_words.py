"""What the command says when something is wrong, and how it looks on a narrow terminal."""

import json
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from support.cli import ONE, Cli

from workbench.show.exits import Exit


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    monkeypatch.setenv("CARDSHARP_PASSWORD", "p")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return cli


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("lab duel", 2, "needs FIRST (A strategy, FILE.py, FILE.json or 'command'). Try `cardsh"),
        ("arena --tls", 2, "--tls needs 2 values (Serve https: the files CERT and KEY, in PEM)."),
        ("play draw-3", 2, "has no place for 'draw-3'. Is it for --opponent or --strategy or"),
        ("show last 7", 2, "`cardsharp show` has no place for '7'. Is it for --turn or"),
        ("lab leage", 2, 'Did you mean "league"?'),
        ("blef play --x", 2, "Unknown option: --x. Try `cardsharp blef play --help`."),
        ("nosuch", 2, "Try `cardsharp --help`."),
        ("blef show last", 2, "blef.db yet; run `cardsharp blef bot`, or name one with --store."),
        ("show last", 2, "matches.db yet; run `cardsharp play`, or name one with --store."),
        (
            "show last --store foo",
            2,
            "There is no 'foo'; a source is a contest's folder, an",
        ),
        (f"practice --url here --user {ONE}", 2, "--url cannot be used; it must be the arena's"),
        (f"bot --url here --user {ONE}", 2, "--url cannot be used; it must be the arena's"),
        (f"bot --user {ONE}", 2, "--url (or CARDSHARP_ARENA_URL) is missing; set it to the"),
        ("bot --url http://127.0.0.1:9", 2, "; set CARDSHARP_USER (or give --user) and CARD"),
        (f"practice --url http://127.0.0.1:9 --user {ONE}", 3, "no connection; is the "),
        ("arena --watchdog -1", 2, 'Invalid value "-1.0" for --watchdog. Must be >= 0, or never.'),
        ("contest new /dev/null/cup", 2, "/dev/null/cup cannot be made: Not a directory."),
        ("watch http://127.0.0.1:9", 3, "does not answer; is the arena running, and is the "),
        ("arena --data /dev/null/a.db", 2, "--data: there is no folder /dev/null; make it, or"),
        ("cloud status", 2, "No AWS region is set; set AWS_DEFAULT_REGION"),
        ("cloud status --region eu-west-1", 2, "There are no AWS credentials for the stack"),
        ("lab league captain nosuch steady -n 1", 2, "No strategy is called 'nosuch'."),
        ("ladder mine.js", 2, "or a command in quotes such as 'node bot.js'."),
        ("lab league captain", 2, "A league needs two strategies or more"),
        ("play --opponent nowhere.py", 2, "There is no strategy file"),
        ("play --matchs 3", 2, "Did you mean --matches?"),
        ("play --matches 0", 2, 'Invalid value "0" for --matches'),
        ("play --cloud rain", 2, 'Invalid value "rain"'),
        ("plai", 2, 'Did you mean "play"?'),
        ("ladder champion --to nobody", 2, "--to nobody is no rung of this ladder: random, "),
        ("ladder champion --from third --to random", 2, "--from third is above --to random: "),
        ("ladder nowhere.json", 2, "nowhere.json cannot be read: No such file or directory; check"),
        ("versus --bots 2", 2, "Dead Man's Draw is played by two, not by 3."),
        ("versus --url http://127.0.0.1:9 --game x", 2, "can be joined from a terminal"),
        ("versus --invite 1", 2, "add --browser"),
        ("versus --browser --host no.such.host.invalid", 2, "cannot listen"),
        ("blef versus --partner greedy", 2, "Blef has no partners"),
        ("blef versus --game x", 2, "give both"),
        ("blef versus greedy --game x", 2, "is decided there"),
        ("blef versus --browser --url http://x --game y", 2, "leave --browser out"),
        ("euchre probe --url http://127.0.0.1:9", 3, "euchre serve` running"),
        ("euchre probe --deals 0", 2, "Must be >= 1"),
        ("euchre serve --strategy me", 2, "No strategy is called 'me'"),
        ("euchre serve --store oracle:1", 2, "--store must be sqlite:FILE or emulator"),
        ("euchre serve --log /dev/null/x", 2, "Name another with --log."),
        ("matches --store paper:m.db", 2, "sqlite:FILE or dynamodb:TABLE"),
        ("matches --day yesterday", 2, "Invalid value for --day"),
        ("matches prune --older-than soon", 2, "30d or 12h"),
        ("matches prune --older-than 3d --store dynamodb:t", 2, "is no sqlite:FILE"),
        ("try steady --store sqlite:/nosuch.db", 2, "There is no match log /nosuch.db"),
        ("new mine.txt", 2, "must end in .py or .java or .js"),
        ("new _.py", 2, "gives the strategy no name"),
    ],
)
def test_an_error_is_a_sentence_that_says_what_to_do(
    cli: Cli, command: str, code: int, said: str
) -> None:
    told = cli(*command.split())
    assert (told.code, told.out) == (code, "")
    assert said in told.err
    assert "Traceback" not in told.err
    assert "fixed sample size" not in told.err, "something was begun before the names were read"


def test_a_port_that_is_taken_is_told(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        told = cli("euchre", "serve", "--port", str(taken.getsockname()[1]))
    assert told.code == 2
    assert "or --port 0 for any free one" in told.err


@pytest.mark.parametrize("command", ["show nosuch", "lab duel", "play --strategy nosuch", "nosuch"])
def test_a_program_reads_the_error_from_stdout(cli: Cli, command: str) -> None:
    told = cli(*command.split(), "--json")
    assert told.code == 2
    assert told.err == "".join(
        f"cardsharp: {line}\n" for line in json.loads(told.out)["error"].splitlines()
    )


INTERRUPTED = """
import os, signal, sys
class Presses:
    def find_spec(self, name, *_):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Presses())
from workbench.cli import main
sys.exit(main(["play"]))
"""


@pytest.mark.parametrize(
    ("module", "code", "said"),
    [
        ("cyclopts", -signal.SIGINT, ""),
        ("workbench.cli.commands", -signal.SIGINT, ""),
        ("workbench.deadmansdraw.play", Exit.INTERRUPTED, "cardsharp: stopped.\n"),
        ("workbench.stage.stage", Exit.INTERRUPTED, "cardsharp: stopped.\n"),
    ],
)
def test_ctrl_c_while_modules_are_imported_shows_no_traceback(
    module: str, code: int, said: str
) -> None:
    done = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", INTERRUPTED, module], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (code, said)


def test_why_shows_its_whole_table(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    assert cli("play", "--seed", "4").code == 0
    for width, cards in ((80, "50"), (120, "50 cards")):
        monkeypatch.setenv("COLUMNS", str(width))
        lines = cli("why", "last", "1").out.splitlines()
        assert max(map(len, lines)) <= width
        [head, *_] = [line for line in lines if "Anchor" in line]
        suits = "Anchor Hook Cannon Key Chest Map Oracle Sword Kraken Mermaid"
        assert head.split() == suits.split()
        unseen = next(line for line in lines if line.startswith("unseen"))
        assert unseen.rstrip().endswith(f"98765   {cards}")
        assert any(line.split()[:4] == [">", "Draw", "50.4", "%"] for line in lines)


def test_what_is_piped_fits_into_its_columns_without_spaces_at_the_ends(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cli("play", "--seed", "4").code == 0
    for columns in ("60", ""):
        monkeypatch.setenv("COLUMNS", columns)
        if not columns:
            monkeypatch.delenv("COLUMNS")
        for command in ("matches", "show last", "why last 1", "strategies"):
            lines = cli(*command.split()).out.splitlines()
            assert max(map(len, lines)) <= int(columns or 80), command
            assert [line for line in lines if line.endswith(" ")] == [], command


def test_a_file_of_settings_has_options_that_need_not_be_typed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = tmp_path / "cardsharp.toml"
    settings.write_text("[lab.duel]\npairs = 2\n")
    duel = ("lab", "duel", "draw-2", "draw-3", "--workers", "1", "--json")
    assert cli(*duel).json()["pairs"] == 2
    assert cli(*duel, "--pairs", "3").json()["pairs"] == 3, "what is typed counts"
    settings.write_text("[lab.duel]\npair = 2\n")
    assert "cardsharp.toml. Did you mean --pairs?" in cli(*duel[:-1]).err
    settings.write_text("pairs =")
    assert "cardsharp.toml cannot be read" in cli(*duel[:-1]).err


def test_a_shell_completes_commands_and_options(cli: Cli) -> None:
    script = cli("completion", "bash").out
    asked = "COMP_WORDS=(cardsharp lab du); COMP_CWORD=2; _cardsharp; echo ${COMPREPLY[@]}"
    bash = shutil.which("bash") or "bash"
    told = subprocess.run(  # noqa: S603 - our own script
        [bash], input=f"{script}\n{asked}", capture_output=True, text=True, check=False
    )
    assert told.stdout == "duel\n"
    assert "#compdef cardsharp" in cli("completion", "zsh").out
    assert "complete -c cardsharp" in cli("completion", "fish").out


@pytest.mark.parametrize(
    ("command", "own"),
    [
        ("lab probe", 1),
        ("contest run", 1),
        ("blef duel", 1),
        ("cloud logs", 2),
        ("lab coverage", 0),
    ],
)
def test_the_help_of_a_sub_command_has_its_own_examples(cli: Cli, command: str, own: int) -> None:
    examples = cli(*command.split(), "--help").out.partition("Examples:")[2]
    assert examples.count("cardsharp ") == examples.count(f"cardsharp {command}") == own

"""What the command says when something is wrong, and how it looks on a narrow terminal."""

import json
import signal
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from support.cli import ONE, Cli, clean

from cardsharp.errors import ConfigError
from cardsharp.registry import Registry
from workbench.show.exits import Exit


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    clean(monkeypatch, tmp_path / "data")
    monkeypatch.setenv("CARDSHARP_PASSWORD", "p")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    return Cli(capsys)


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        ("lab duel", 2, "parameter --first requires an argument. Try `cardsharp lab duel --help`."),
        ("lab leage", 2, 'Did you mean "league"?'),
        ("blef play --x", 2, "Unknown option: --x. Try `cardsharp blef play --help`."),
        ("nosuch", 2, "Try `cardsharp --help`."),
        ("blef show last", 2, "blef.db yet; run `cardsharp blef bot`, or name one with --store."),
        ("show last", 2, "matches.db yet; run `cardsharp play`, or name one with --store."),
        ("show last --store foo", 2, "--store must be sqlite:FILE or dynamodb:TABLE, not 'foo'."),
        (f"practice --url here --user {ONE}", 2, "--url cannot be used; it must be the arena's"),
        (f"bot --url here --user {ONE}", 2, "--url cannot be used; it must be the arena's"),
        (f"bot --user {ONE}", 2, "--url (or CARDSHARP_ARENA_URL) is missing; set it to the"),
        ("bot --url http://127.0.0.1:9", 2, "; set CARDSHARP_USER (or give --user) and CARD"),
        (f"practice --url http://127.0.0.1:9 --user {ONE}", 3, "no connection; is the "),
        ("arena --watchdog -1", 2, 'Invalid value "-1.0" for --watchdog. Must be >= 0, or never.'),
        ("contest new /dev/null/cup", 2, "/dev/null/cup cannot be made: Not a directory."),
        ("watch http://127.0.0.1:9", 3, "does not answer; is the arena running, and is the "),
        ("arena --data /nonexist/a.db", 2, "--data: there is no folder /nonexist; make it, or"),
        ("cloud status", 2, "No AWS region is set; set AWS_DEFAULT_REGION"),
        ("cloud status --region eu-west-1", 2, "There are no AWS credentials for the stack"),
        ("lab league captain nosuch steady -n 1", 2, "No strategy is called 'nosuch'."),
        ("ladder mine.js", 2, "or a command in quotes such as 'node bot.js'."),
        ("lab league captain", 2, "A league needs two strategies or more"),
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


@pytest.mark.parametrize("command", ["show nosuch", "lab duel", "play --strategy nosuch", "nosuch"])
def test_a_program_reads_the_error_from_stdout(cli: Cli, command: str) -> None:
    told = cli(*command.split(), "--json")
    assert told.code == 2
    assert told.err == "".join(
        f"cardsharp: {line}\n" for line in json.loads(told.out)["error"].splitlines()
    )


class Elsewhere(BaseHTTPRequestHandler):
    """A service that knows none of the arena's paths, and speaks JSON as it does."""

    def do_GET(self) -> None:
        self.send_response(404)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b'{"error": "no such path"}')

    def log_message(self, *_: object) -> None:
        pass


def test_another_service_is_no_arena(cli: Cli) -> None:
    with HTTPServer(("127.0.0.1", 0), Elsewhere) as other:
        threading.Thread(target=other.handle_request, daemon=True).start()
        told = cli("practice", "--url", f"http://127.0.0.1:{other.server_port}", "--user", ONE)
    assert told.code == Exit.UNREACHABLE
    assert "Something answers, but it is no arena; check the address." in told.err


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


def test_a_broken_file_among_the_strategies_is_named_and_the_others_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    package = tmp_path / "some_strategies"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "broken.py").write_text("1 / 0\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    registry: Registry[None, str] = Registry("some_strategies")
    registry.strategy("good")(lambda _given: "plays")
    assert registry.build("good", None) == "plays"
    with pytest.raises(ConfigError, match="There are: good"):
        registry.build("bad", None)
    assert [record.getMessage() for record in caplog.records] == [
        "some_strategies.broken is left out: ZeroDivisionError: division by zero"
    ]


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


@pytest.mark.parametrize(
    "command",
    ["", "new", "play", "practice", "bot", "arena", "doctor", "cloud", "cost", "lab", "research"],
)
def test_help_fits_into_80_columns(cli: Cli, command: str) -> None:
    told = cli(*command.split(), "--help")
    lines = told.out.partition("Examples:")[2].splitlines()
    assert max(map(len, lines), default=0) <= 80

"""Sample games (tests/samples/games): complete from their rules, each mounted by a line.

docs/add-a-game.md walks through Nim's folder; Kuhn poker has hidden cards and bluffs.
"""

import re
import shutil
import warnings
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from fractions import Fraction
from itertools import permutations, product
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests
from kuhn.rules import CARDS, Action, PastActions, State, gains, options
from kuhn.strategies import BOLD, chances
from pettingzoo.test import api_test
from support.api_gateway import function_server
from support.aws_build import native_build
from support.cli import Cli
from support.games import SAMPLE_NAMES, mount_samples
from support.simulated_hosted_server import one_hour
from support.store_fixtures import FakeClock
from support.waiting import HANG_SECONDS

import game_api.app
from cardsharp.client.config import RequestLimits
from cardsharp.errors import ConfigError
from cardsharp.server.hosted.bot_match import HostedGameClient, outcome_of
from cardsharp.server.hosted.game_store import HostedGameRecord, HostedGameStore, HostedMove
from cardsharp.server.hosted.hosted_game import load_hosted_game
from cardsharp.server.hosted.routes import hosted_http_service
from cardsharp.server.hosted.service import MAX_GAMES_PER_DAY, HostedService
from cardsharp.server.hosted.wire import (
    CreateGameParams,
    GetGameParams,
    HostedGameBody,
    JoinGameParams,
)
from cardsharp.server.routing import MAX_LONG_POLL
from cardsharp.server.service_errors import GameFull, QuotaExceeded
from cardsharp.store.sqlite_documents import SqliteDocumentStore
from cardsharp.store.sqlite_file import MEMORY_PATH
from cardsharp_tools.build.emulator_deploy import STACK_SERVICES, deploy
from cardsharp_tools.build.sam_build import Build
from cardsharp_tools.build.target import native_architecture
from cardsharp_tools.environments.aec_env import make_env
from cardsharp_tools.local_cloud.emulator import Emulator
from cardsharp_tools.local_cloud.lambda_events import LambdaFunction
from cardsharp_tools.local_cloud.template_files import GAME_TEMPLATE
from cardsharp_tools.operations.stack import find_stack

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "samples" / "games"
SECRET = "00000000-0000-4000-8000-00000000cafe"

every_game = pytest.mark.parametrize("name", SAMPLE_NAMES)


@pytest.fixture
def cli(cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    mount_samples(monkeypatch, tmp_path)
    return cli


@pytest.fixture
def url(cli: Cli, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[str]:
    """Yield the URL of a game's service, which runs in the function that serves all games.

    Its handler would read CARDSHARP_GAME at each request, which the bot in this process must
    not see.
    """
    del cli
    monkeypatch.setenv(f"{name.upper()}_STORE", f"sqlite:{tmp_path / 'games.db'}")
    handler = game_api.app.build_handler(name)
    with function_server(LambdaFunction("web", handler)) as server:
        yield server.url
    game_api.app.load_service.cache_clear()
    game_api.app.build_handler.cache_clear()


@every_game
def test_a_game_is_eight_small_files(name: str) -> None:
    files = [*(FOLDER / name).rglob("*.py")]
    assert len(files) <= 8
    assert sum(len(file.read_text("utf-8").splitlines()) for file in files) <= 320


def test_the_tutorial_page_shows_the_code_of_the_sample_game() -> None:
    """Each piece of code on docs/add-a-game.md is part of the file that it names."""
    page = (ROOT / "docs" / "add-a-game.md").read_text("utf-8")
    code_blocks = re.findall(r"```python\n# (nim/\S+)\n(.*?)```", page, re.DOTALL)
    assert len(code_blocks) == page.count("```python") > 3
    for name, code in code_blocks:
        assert code in (FOLDER / name).read_text("utf-8"), name
    for path in (FOLDER / "nim").rglob("*.py"):  # what the first step renames is all there is
        renamed_source = re.sub(r'(from |")nim("| |\.)', "", path.read_text("utf-8"))
        assert not re.search(r'^ *(import|from) nim|"nim', renamed_source, re.MULTILINE), path


# --- what the house makes of them ----------------------------------------------------------------


@every_game
def test_a_sample_game_has_all_commands_and_its_strategies_can_be_compared(
    cli: Cli, name: str, tmp_path: Path
) -> None:
    """The file that `cardsharp new` writes plays at once."""
    game = load_hosted_game(name).game
    assert game.summary in cli("--help").out.replace("\n", " ")
    help_text = cli(name, "--help").out
    commands = (
        "analyse",
        "backtest",
        "bot",
        "duel",
        "serve",
        "show",
        "strategies",
        "versus",
        "watch",
    )
    assert all(f" {command} " in help_text for command in (*commands, "why"))
    assert game.default_strategy in cli(name, "strategies", "--json").json()
    duel_options = ("duel", game.default_strategy, "random", "--workers", "1", "--json", "--pairs")
    assert cli("lab", *duel_options, "300", "--game", name).json()["points"] > 52
    assert cli(name, *duel_options, "3").json()["game"] == name
    file = str(tmp_path / "mine.py")
    assert cli("new", file, "--game", name).code == 0
    result = cli("lab", "duel", file, "random", "--game", name, "--pairs", "9", "--workers", "1")
    assert result.code == 0, result.err
    assert f"{load_hosted_game(name).build_rules().unit or 'points'} a match" in result.out
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what PettingZoo says of every masked observation
        api_test(make_env(name), num_cycles=50)


def test_the_optimum_of_kuhn_poker_loses_a_chip_in_18_hands_whatever_the_other_does() -> None:
    """The game value by Kuhn (1950) holds against every plan of the opponent, in either seat."""
    for seat, game_value in ((0, Fraction(-1, 18)), (1, Fraction(1, 18))):
        histories = [history for history in BOLD if len(history) % 2 != seat]
        decision_points = [(card, history) for card in range(len(CARDS)) for history in histories]
        plans = (
            dict(zip(decision_points, plan, strict=True))
            for plan in product(*(options(history) for _, history in decision_points))
        )
        assert (
            min(sum(mean_gain(deal, seat, plan) for deal in DEALS) / 6 for plan in plans)
            == game_value
        )


DEALS = tuple(permutations(range(len(CARDS)), 2))


def mean_gain(
    cards: tuple[int, int],
    seat: int,
    plan: Mapping[tuple[int, PastActions], Action],
    history: PastActions = (),
) -> Fraction:
    """Return the optimal player's mean gain in a deal, in chips, against the opponent's plan.

    The optimal player has the seat `seat`.
    """
    if not options(history):
        return Fraction(gains(State(cards, history))[seat])
    active_seat = len(history) % 2
    action_weights = (
        chances(cards[active_seat], history)
        if active_seat == seat
        else {plan[cards[active_seat], history]: 1}
    )
    return sum(
        (
            weight * mean_gain(cards, seat, plan, (*history, action))
            for action, weight in action_weights.items()
        ),
        Fraction(),
    )


MINUTE = timedelta(minutes=1)
LONG_TIMEOUTS = RequestLimits(read_timeout=MINUTE, action_timeout=MINUTE, total_timeout=2 * MINUTE)
"""A function of the emulator may take long to start."""


def play_last_options(url: str, game: str, name: str, secret: str) -> list[HostedGameBody]:
    """Play a match as another person's client, with the last option each time; return its views."""
    with HostedGameClient(url, LONG_TIMEOUTS) as client:
        client.join(game, name, secret)
        views = [client.get_game(game, secret)]
        while views[-1].gains is None:
            seen_count = views[-1].count
            if views[-1].options:
                client.act(game, secret, seen_count, views[-1].options[-1])
            views.append(client.get_game(game, secret, seen_count, wait=True))
    return views


@every_game
def test_the_sample_game_is_served_played_displayed_explained_and_analysed(
    cli: Cli, url: str, name: str
) -> None:
    """The bot plays by queue, worker and match log against another client."""
    game = requests.post(f"{url}/create", json={}, timeout=HANG_SECONDS).json()["game"]
    with ThreadPoolExecutor(1) as pool:
        opponent = pool.submit(play_last_options, url, game, "bob", SECRET)
        result = cli(name, "bot", "--url", url, "--game", game, "--nickname", "ann", "--json")
        assert result.code == 0, result.err
        opponent.result(HANG_SECONDS)
    [match] = cli("matches", "--json").json()
    assert match["header"]["game"] == name
    assert match["outcome"]["result"] in {"won", "lost"}
    assert re.search("ann v bob|bob v ann", cli("matches").out)
    show_output = cli("show", "last", "--json").json()
    assert len(show_output["steps"]) == match["outcome"]["turns"] >= 2
    bot_step = next(step for step in show_output["steps"] if step["decision"])
    assert f"ann: {bot_step['decision']['action']}" == bot_step["happened"]
    assert "bob: " in cli(name, "show").out
    reason = bot_step["decision"]["reason"].partition(": ")[2]
    explanation = cli("why", "last", str(bot_step["turn"])).out
    assert reason.casefold() in re.sub(r"\s+", " ", explanation).casefold()
    analysis_output = cli("analyse", "last", "--json").json()
    assert len(analysis_output["analysis"]["decisions"]) == len(show_output["steps"])


@pytest.mark.parametrize(
    ("gains", "result", "winner"),
    [([2, -2], "won", 0), ([-1, 1], "lost", 1), ([0, 0], "tied", None), ([1, 1, -2], "tied", None)],
)
def test_the_log_records_the_winner_of_a_game(
    gains: list[float], result: str, winner: int | None
) -> None:
    names = ["us", "two", "three"][: len(gains)]
    fields = {"seats": len(gains), "names": names, "count": 3, "moves": [], "turn": None}
    finished_game = HostedGameBody.model_validate(
        {**fields, "position": None, "options": [], "gains": gains}
    )
    outcome = outcome_of(finished_game, "us") or {}
    assert (outcome["result"], outcome["winner"]) == (result, winner)


@every_game
def test_a_waiting_player_is_notified_that_the_game_begins_with_their_turn(name: str) -> None:
    """The only event is that the other player joins; there is no move yet."""

    class JoiningClock(FakeClock):
        """Clock whose first sleep is the moment at which bob joins, and which allows no second."""

        def sleep(self, duration: timedelta) -> None:
            super().sleep(duration)
            service.join(pending_joins.pop())

    clock = JoiningClock()
    service = HostedService(
        load_hosted_game(name),
        HostedGameStore(SqliteDocumentStore(MEMORY_PATH, clock), clock),
        clock,
    )
    game = service.create(CreateGameParams())
    service.join(JoinGameParams(game=game, name="ann", secret=SECRET))
    pending_joins = [JoinGameParams(game=game, name="bob", secret=SECRET.replace("cafe", "beef"))]
    view = service.get_game(GetGameParams(game=game, secret=SECRET, wait=True), one_hour)
    assert (view.turn, view.count, pending_joins) == (0, 0, [])


def test_two_who_join_at_once_both_get_a_seat() -> None:
    """What another request has changed meanwhile is read again."""
    clock, pending_joins = FakeClock(), list[JoinGameParams]()

    class InterruptedStore(HostedGameStore):
        """Store to which another player writes right before the first write of a join."""

        def write(self, record: HostedGameRecord, move: HostedMove | None = None) -> None:
            if pending_joins and record.players:
                service.join(pending_joins.pop())
            super().write(record, move)

    store = InterruptedStore(SqliteDocumentStore(MEMORY_PATH, clock), clock)
    service = HostedService(load_hosted_game("nim"), store, clock)
    game = service.create(CreateGameParams())
    ann, bob, cid = (
        JoinGameParams(game=game, name=name, secret=SECRET.replace("cafe", secret))
        for name, secret in (("ann", "cafe"), ("bob", "beef"), ("cid", "0000"))
    )
    pending_joins.append(bob)
    service.join(ann)
    assert store.find(game).names == ["bob", "ann"]
    with pytest.raises(GameFull):
        service.join(cid)


def test_a_caller_creates_a_limited_number_of_games_a_day() -> None:
    clock = FakeClock()
    documents = SqliteDocumentStore(MEMORY_PATH, clock)
    service = HostedService(load_hosted_game("nim"), HostedGameStore(documents, clock), clock)

    def create(caller: str) -> str:
        return service.create(CreateGameParams(), caller)

    for _ in range(MAX_GAMES_PER_DAY):
        create("192.0.2.7")
    with pytest.raises(QuotaExceeded, match=f"may create {MAX_GAMES_PER_DAY} games a day"):
        create("192.0.2.7")
    create("192.0.2.8")
    clock.advance(timedelta(days=1))
    create("192.0.2.7")


@pytest.mark.parametrize("days", ["0", "-1", "a month"])
def test_a_hosted_game_is_not_served_without_a_time_to_keep_its_games(days: str) -> None:
    environment = {"NIM_STORE": f"sqlite:{MEMORY_PATH}", "CARDSHARP_KEEP_DAYS": days}
    with pytest.raises(ConfigError, match="CARDSHARP_KEEP_DAYS must be a number of days"):
        hosted_http_service("nim").build(environment)


def test_a_long_poll_uses_all_its_time_and_reads_less_and_less_often() -> None:
    """The time that is left is without the response's, which whoever serves has taken off."""
    begin, pauses = FakeClock().monotonic(), list[timedelta]()

    class ListedClock(FakeClock):
        def sleep(self, duration: timedelta) -> None:
            super().sleep(duration)
            pauses.append(duration)

    clock = ListedClock()
    store = HostedGameStore(SqliteDocumentStore(MEMORY_PATH, clock), clock)
    service = HostedService(load_hosted_game("nim"), store, clock)
    game = service.create(CreateGameParams())
    end = begin + MAX_LONG_POLL.total_seconds()
    params = GetGameParams(game=game, secret=SECRET, wait=True)
    service.get_game(params, lambda: timedelta(seconds=end - clock.monotonic()))
    assert sum(pauses, timedelta()) == MAX_LONG_POLL
    assert (pauses[0], max(pauses)) == (timedelta(milliseconds=200), timedelta(seconds=1))


@every_game
def test_the_service_rejects_illegal_actions_and_hides_hidden_information(
    url: str, name: str
) -> None:
    """The document of the service has its title and its paths."""

    def post(path: str, **body: object) -> requests.Response:
        return requests.post(f"{url}/{path}", json=body, timeout=HANG_SECONDS)

    document = requests.get(f"{url}/openapi.json", timeout=HANG_SECONDS).json()
    assert document["info"]["title"] == load_hosted_game(name).game.title
    assert {"/create", "/game", "/join", "/act"} <= set(document["paths"])
    game = post("create").json()["game"]
    view = requests.get(f"{url}/game", params={"game": game}, timeout=HANG_SECONDS).json()
    assert (view["position"] is None) is load_hosted_game(name).build_rules().has_hidden_information
    action_body = {"game": game, "secret": SECRET, "number": 0, "action": {"no": "action"}}
    assert post("act", **action_body).status_code == 403
    for player, secret, expected_status in (("ann", "cafe", 409), ("bob", "beef", 400)):
        join_response = post("join", game=game, name=player, secret=SECRET.replace("cafe", secret))
        assert (join_response.status_code, post("act", **action_body).status_code) == (
            200,
            expected_status,
        )
    third_response = post("join", game=game, name="cid", secret=SECRET.replace("cafe", "0000"))
    assert (third_response.status_code, post("create", seats=7).status_code) == (403, 400)


# --- deployed ------------------------------------------------------------------------------------


def with_kuhn(build: Build, folder: Path) -> Build:
    """Return a copy of the build with Kuhn poker in its library, mounted by a line."""
    shutil.copytree(build.folder, folder)
    for games_file in folder.rglob("cardsharp/play/catalog.py"):
        text = games_file.read_text("utf-8")
        line = '    "cardsharp.games.euchre.game:GAME",\n'
        assert line in text
        games_file.write_text(text.replace(line, f'{line}    "kuhn.game:GAME",\n'), "utf-8")
        for compiled in games_file.parent.glob("__pycache__/catalog.*"):
            compiled.unlink()  # it is not held against its source any more
        shutil.copytree(FOLDER / "kuhn", games_file.parents[2] / "kuhn")
    return Build(folder)


@pytest.mark.slow
@pytest.mark.timeout(2400)
def test_kuhn_poker_is_deployed_by_a_parameter_and_played_by_two_over_http(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    built = with_kuhn(native_build(tmp_path_factory), tmp_path / "built")
    with Emulator(STACK_SERVICES) as emulator, ThreadPoolExecutor(2) as pool:
        parameters = {"Architecture": native_architecture(), "Game": "kuhn"}
        deploy(emulator, built, "cardsharp-kuhn", parameters, GAME_TEMPLATE)
        service_url = find_stack("cardsharp-kuhn", emulator.client).output("GameUrl")
        name = urlsplit(service_url).netloc.partition(".")[0]
        url = f"{emulator.endpoint}/_aws/execute-api/{name}/$default"
        game = requests.post(f"{url}/create", json={}, timeout=HANG_SECONDS).json()["game"]
        secrets = ("ann", SECRET), ("bob", SECRET.replace("cafe", "beef"))
        matches = [
            pool.submit(play_last_options, url, game, *credentials) for credentials in secrets
        ]
        ann_views, bob_views = (player.result(HANG_SECONDS) for player in matches)
    assert ann_views[-1].gains == bob_views[-1].gains in ([1, -1], [-1, 1])
    for views in (ann_views, bob_views):
        cards = {view.position["card"] for view in views if view.gains is None}
        assert len(cards) == 1, "each saw its own card, and no other before the end"

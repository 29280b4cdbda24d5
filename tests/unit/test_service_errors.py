"""Errors of use cases: they know no HTTP, and one table for each API answers them."""

import ast
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path
from types import ModuleType

import pytest

from cardsharp.errors import InvalidInput, WriteConflict
from cardsharp.games.blef.service import error_tables as blef_tables
from cardsharp.games.blef.service import errors as blef_errors
from cardsharp.games.deadmansdraw.arena import error_responses as arena_tables
from cardsharp.games.deadmansdraw.arena import errors as arena_errors
from cardsharp.server.error_table import ErrorFormat, ErrorTable, find_http_error
from cardsharp.server.hosted import routes as hosted_routes
from cardsharp.server.hosted.service import NameOrSecretTaken
from cardsharp.server.routing import HttpError, bad_request
from cardsharp.server.service_errors import (
    GameFull,
    GameNotFound,
    InvalidParameter,
    OutOfTurn,
    PlayerNotInGame,
    QuotaExceeded,
    ServiceError,
)

PACKAGE = Path(__file__).parents[2] / "layers/cardsharp/python/cardsharp"
USE_CASES = ("games", "contest", "server/hosted")  # no HTTP, except in the edges below

HTTP_EDGES = {
    "games/blef/bot": "a client of the service, which gets statuses",
    "games/blef/service/error_tables.py": "the tables of both APIs",
    "games/blef/service/routes.py": "the routes of API version 2.3",
    "games/blef/service/routes_v2022.py": "the routes of API v2022",
    "games/deadmansdraw/arena/access/body_reader.py": "reads bodies",
    "games/deadmansdraw/arena/access/path_matching.py": "matches paths",
    "games/deadmansdraw/arena/access/request_guard.py": "what every request passes",
    "games/deadmansdraw/arena/access/spectator_cache.py": "caches responses",
    "games/deadmansdraw/arena/app.py": "the routes of the arena",
    "games/deadmansdraw/arena/endpoints.py": "the endpoints of the arena's API",
    "games/deadmansdraw/arena/error_responses.py": "the tables of API and pages",
    "games/deadmansdraw/arena/match_list.py": "reads the query string of the match list",
    "games/deadmansdraw/arena/openapi.py": "describes the API",
    "games/deadmansdraw/arena/pages": "the pages of the arena",
    "games/deadmansdraw/arena_bot": "a client of the arena, which gets statuses",
    "games/deadmansdraw/contest/page_routes.py": "the routes of the contest pages",
    "games/euchre/service/routes.py": "the routes and the errors of Euchre",
    "server/hosted/routes.py": "the routes and the table of hosted games",
}

HTTP_MODULES = ("http", "starlette", "cardsharp.server.routing")
STATUSES = {status.value for status in HTTPStatus if status >= HTTPStatus.BAD_REQUEST}


def http_mentions(source: str) -> Iterator[str]:
    """Yield the imports of HTTP, and the errors made with a status, of a module."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and _is_http(node.module or ""):
            yield f"imports {node.module}"
        elif isinstance(node, ast.Import):
            yield from (f"imports {name.name}" for name in node.names if _is_http(name.name))
        elif isinstance(node, ast.Raise) and node.exc is not None:
            numbers = (part.value for part in ast.walk(node.exc) if isinstance(part, ast.Constant))
            yield from (f"raises {number}" for number in numbers if number in STATUSES)


def _is_http(module: str) -> bool:
    return any(module == http or module.startswith(f"{http}.") for http in HTTP_MODULES)


def _is_edge(path: str) -> bool:
    return any(path == edge or path.startswith(f"{edge}/") for edge in HTTP_EDGES)


def test_no_use_case_knows_http() -> None:
    mentions = {
        path: found
        for folder in USE_CASES
        for file in sorted((PACKAGE / folder).rglob("*.py"))
        if not _is_edge(path := file.relative_to(PACKAGE).as_posix())
        and (found := [*http_mentions(file.read_text("utf-8"))])
    }
    assert mentions == {}


def test_every_edge_of_http_knows_http() -> None:
    """So the list of exceptions is no longer than it must be."""
    for edge in HTTP_EDGES:
        files = [PACKAGE / edge] if edge.endswith(".py") else [*(PACKAGE / edge).rglob("*.py")]
        assert any([*http_mentions(file.read_text("utf-8"))] for file in files), edge


@pytest.mark.parametrize(
    ("source", "mention"),
    [
        ("from http import HTTPStatus", "imports http"),
        ("import http.client", "imports http.client"),
        ("from starlette.requests import Request", "imports starlette.requests"),
        ("from cardsharp.server.routing import HttpError", "imports cardsharp.server.routing"),
        ("raise NotYourTurn(409, 'not your turn')", "raises 409"),
        ("raise build_error(status=404)", "raises 404"),
    ],
)
def test_a_planted_mention_of_http_is_noticed(source: str, mention: str) -> None:
    assert [*http_mentions(source)] == [mention]


def errors_of(module: ModuleType) -> set[type[ServiceError]]:
    """Return the errors of services that a module defines."""
    return {
        error
        for error in vars(module).values()
        if isinstance(error, type)
        and issubclass(error, ServiceError)
        and error.__module__ == module.__name__
    }


@pytest.mark.parametrize("table", [blef_tables.ERRORS, blef_tables.ERRORS_V2022])
def test_every_error_of_blef_has_its_place_in_both_tables(table: ErrorTable) -> None:
    own_errors = errors_of(blef_errors)
    shared_errors = {InvalidParameter, GameNotFound, PlayerNotInGame, GameFull, QuotaExceeded}
    assert own_errors
    # The exception belongs to its base class, whose entry applies to it, in version 2.3.
    inherited = {blef_errors.CurrentPlayerNotInGame}
    assert (own_errors | shared_errors) - inherited <= set(table)


@pytest.mark.parametrize(
    ("error", "answer", "answer_v2022"),
    [
        (
            GameNotFound("game_uuid", "7"),
            (400, "Game does not exist"),
            (400, "Bad input value in 'game_uuid': 7\nGame does not exist"),
        ),
        (
            InvalidParameter("action_id", None, ""),
            (400, ""),
            (400, "Bad input value in 'action_id': None"),
        ),
        (
            blef_errors.NicknameTaken("nickname", "ann"),
            (409, "Nickname already taken"),
            (400, "Bad input value in 'nickname': ann\nNickname already taken"),
        ),
        (
            blef_errors.CurrentPlayerNotInGame("player_uuid", "7"),
            (400, "The submitted UUID does not match the UUID of the current player"),
            (
                400,
                "Bad input value in 'player_uuid': 7\nThe UUID does not match any active player",
            ),
        ),
        (GameFull(), (403, "The game room is full"), (403, "Game room full")),
        (QuotaExceeded("too many"), (429, "too many"), (429, "too many")),
        (
            blef_errors.NoBotAvailable(),
            (503, "No agent can join now - please try again later"),
            (503, "No agent can join now - please try again later"),
        ),
    ],
)
def test_both_generations_of_blef_answer_an_error_as_their_clients_know_it(
    error: ServiceError, answer: tuple[int, str], answer_v2022: tuple[int, str]
) -> None:
    assert http_answer(blef_tables.ERRORS, error) == answer
    assert http_answer(blef_tables.ERRORS_V2022, error) == answer_v2022


@pytest.mark.parametrize(
    ("error", "answer"),
    [
        (InvalidParameter("seats", 9, "Two play."), (400, "Two play.")),
        (GameNotFound("game", "7"), (404, "There is no such game.")),
        (PlayerNotInGame("secret", "7"), (403, "You do not play this game.")),
        (GameFull(), (403, "All players are there.")),
        (
            NameOrSecretTaken(),
            (403, "The name or the secret is already taken. Choose another one."),
        ),
        (OutOfTurn(), (409, "It is not your turn.")),
        (QuotaExceeded("too many"), (429, "too many")),
    ],
)
def test_the_service_of_hosted_games_answers_an_error_as_its_bots_know_it(
    error: Exception, answer: tuple[int, str]
) -> None:
    assert http_answer(hosted_routes.ERRORS, error) == answer


def test_every_error_of_the_arena_has_its_place_in_a_table() -> None:
    """Only a match that has ended has a response of its own, which shows its last events."""
    own_errors = errors_of(arena_errors) - {arena_errors.MatchEndedError}
    assert own_errors
    assert own_errors | {OutOfTurn, QuotaExceeded} <= set(arena_tables.PAGE_ERRORS)
    assert own_errors - {arena_errors.NotMatchCreator} <= set(arena_tables.ERRORS)


@pytest.mark.parametrize(
    ("error", "answer", "page_answer"),
    [
        (InvalidInput("no card"), (400, "no card"), None),
        (arena_errors.MatchNotFound(), (404, "Match does not exist."), None),
        (
            arena_errors.MatchNotVisible(),
            (401, "Match is visible only to participating players."),
            None,
        ),
        (OutOfTurn(), (409, "Authenticated user is not the current player."), None),
        (arena_errors.TerminationDenied(), (401, "Not authorized to perform action."), None),
        (arena_errors.PlayerNotFound(), (404, "Player record not found."), None),
        (arena_errors.OtherUserDenied(), (403, "Not allowed to query other users."), None),
        (QuotaExceeded("too many"), (429, "too many"), None),
        (
            WriteConflict("It has changed."),
            (503, "The arena cannot read or write its matches now. Try again."),
            (400, "It has changed."),
        ),
    ],
)
def test_the_arena_answers_an_error_as_its_clients_know_it(
    error: Exception, answer: tuple[int, str], page_answer: tuple[int, str] | None
) -> None:
    """A page answers as the API does unless it says otherwise."""
    assert http_answer(arena_tables.ERRORS, error) == answer
    assert http_answer(arena_tables.PAGE_ERRORS, error) == (page_answer or answer)


def http_answer(table: ErrorTable, error: Exception) -> tuple[int, str]:
    http_error = find_http_error(table, error)
    assert http_error is not None
    return http_error.status, http_error.text


def test_an_error_is_answered_by_the_entry_of_its_nearest_class() -> None:
    table: ErrorTable = {
        ServiceError: ErrorFormat(400),
        InvalidParameter: ErrorFormat(404, "There is nothing."),
    }
    assert http_answer(table, GameFull()) == (400, "The game is full.")
    assert http_answer(table, GameNotFound("game", "7")) == (404, "There is nothing.")


def test_an_error_without_an_entry_has_no_answer_and_an_http_error_is_its_own() -> None:
    http_error: HttpError = bad_request("no JSON")
    assert find_http_error({}, GameFull()) is None
    assert find_http_error({ServiceError: ErrorFormat(400)}, ValueError("a fault")) is None
    assert find_http_error({}, http_error) is http_error

"""The web pages: matches to look at, and the API's documentation."""

from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response
from starlette.routing import Route

from workbench.arena.http import Guard, not_found
from workbench.arena.players import User

FOLDER = Path(__file__).with_name("page")
SECURITY_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}
ASSETS = ("arena.js", "docs.js", "frames.js", "icon.svg", "style.css", "words.js")


def page_routes(guard: Guard) -> list[Route]:
    """The routes of the pages and of what they load."""

    async def root(_request: Request) -> Response:
        return PlainTextResponse(
            "Found. Redirecting to /matches", 302, headers={"Location": "/matches"}
        )

    async def matches(_request: Request, _user: User) -> Response:
        return _file("matches.html")

    async def docs(_request: Request) -> Response:
        return _file("docs.html")

    async def openapi(_request: Request) -> Response:
        return FileResponse(
            Path(__file__).with_name("openapi.json"), media_type="application/json; charset=utf-8"
        )

    async def asset(request: Request) -> Response:
        name = request.path_params["name"]
        return _file(name) if name in ASSETS else not_found(request)

    return [
        Route("/", guard.open(root), methods=["GET"]),
        Route("/matches", guard.known(matches), methods=["GET"]),
        Route("/docs", guard.open(docs), methods=["GET"]),
        Route("/api", guard.open(openapi), methods=["GET"]),
        Route("/page/{name}", guard.open(asset), methods=["GET"]),
    ]


def _file(name: str) -> Response:
    return FileResponse(FOLDER / name, headers=SECURITY_HEADERS)

"""The organiser's page: behind a password, for this machine alone, and without any script.

Every act is asked for by a form, confirmed on a page of its own, and then done. What is confirmed
is sealed with the number of acts that there were: so nobody else's page can send it, it can be sent
once, and it is refused where somebody has acted meanwhile.
"""

import base64
import hmac
import json
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import cache
from http import HTTPStatus
from pathlib import Path
from string import Formatter
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from cardsharp.access import REALM
from cardsharp.cloud.clock import utc_now
from cardsharp.contest.acts import Desk
from cardsharp.contest.formats import FORMATS
from cardsharp.contest.freeze import freeze_of
from cardsharp.contest.pages import file_page
from cardsharp.contest.status import Status
from cardsharp.deadmansdraw.arena.limits import Guesses, MemoryCounts
from cardsharp.deadmansdraw.arena.players import ADMIN
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games import games
from cardsharp.time_zones import to_local
from cardsharp.viewer.assets import ASSETS, HEADERS, asset
from cardsharp.viewer.base import Site, templates
from cardsharp.web.route import Refused
from workbench.contest.organiser import DEEDS, Doing
from workbench.contest.showing import csv_text, match_rows
from workbench.contest.venue import Venue
from workbench.listening import HOST, Background
from workbench.table.pages import Form, form_of

LARGEST = 20_000  # bytes of a form: the names of 64 teams have room in it

_NEW = {**HEADERS, "Cache-Control": "no-store"}
_SITE = Site("Cardsharp", matches="/", links=(("Contests", "/"),))
_FOLDER = Path(__file__).with_name("page")
_STYLE, _SEAT = "organiser.css", "seat"


class OrganiserSite:
    """The pages over a venue, for whoever knows the password."""

    def __init__(self, venue: Venue, password: str, clock: Callable[[], datetime]) -> None:
        self._venue, self._password = venue, password
        self._seal, self._seats = secrets.token_bytes(32), set[str]()
        # A browser that was let in is known by a seat: all others here have the same address.
        self._guesses = Guesses(MemoryCounts(clock), clock, waits=False)

    def application(self) -> Starlette:
        """The pages as an application that answers to this machine's names alone."""
        routes = [
            Route("/", self._known(self._contests)),
            Route("/contests/{name}", self._known(self._contest)),
            Route("/contests/{name}/results.csv", self._known(self._csv)),
            Route("/contests/{name}/page", self._known(self._page)),
            Route("/ask", self._known(self._ask)),
            Route("/do", self._known(self._do), methods=["POST"]),
            *(Route(f"/page/{name}", _asset) for name in (*ASSETS, _STYLE)),
        ]
        # A page of somebody else's whose name leads here is not answered.
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
        return Starlette(routes=routes, middleware=[hosts])

    def _known(self, handler: Callable[[Request, Form], Response]) -> Callable[[Request], object]:
        async def endpoint(request: Request) -> Response:
            refused = self._refused(request)
            if refused is not None:
                return refused
            form: Form = {}
            try:
                form = await _form(request)
                answer = await run_in_threadpool(handler, request, form)
            except CardsharpError as error:
                text = _drawn("refused.html", message=str(error), back=_back(form))
                answer = HTMLResponse(text, HTTPStatus.CONFLICT, headers=_NEW)
            if request.cookies.get(_SEAT) not in self._seats:
                seat = secrets.token_urlsafe(18)
                self._seats.add(seat)
                self._guesses.right(seat, ADMIN)
                answer.set_cookie(_SEAT, seat, httponly=True, samesite="strict")
            return answer

        return endpoint

    def _refused(self, request: Request) -> Response | None:
        """What is answered to whoever is not the organiser, or may have guessed who is."""
        given, seat = request.headers.get("authorization", ""), request.cookies.get(_SEAT, "")
        seat = seat if seat in self._seats else ""
        status, more, message = HTTPStatus.UNAUTHORIZED, {}, "This page is the organiser's."
        try:
            self._guesses.check(seat, ADMIN)
        except Refused as error:
            status, message = HTTPStatus(error.status), str(error)
        else:
            scheme, _, token = given.partition(" ")
            right = base64.b64encode(f"{ADMIN}:{self._password}".encode())
            if hmac.compare_digest(token.strip().encode(), right) and scheme.lower() == "basic":
                return None
            more = {"WWW-Authenticate": f'Basic realm="{REALM}", charset="UTF-8"'}
            if given:
                self._guesses.wrong(seat, ADMIN)
        text = _drawn("refused.html", message=message, back="/")
        return HTMLResponse(text, status, {**_NEW, **more})

    def _contests(self, _request: Request, _form: Form) -> Response:
        """GET /."""
        found = []
        for name in self._venue.names():
            with self._venue.records(name) as records:
                found.append((name, Status(records), self._venue.holder(name)))
        names = [one.name for one in games()]
        return _shown("contests.html", contests=found, formats=list(FORMATS), games=names)

    def _contest(self, request: Request, _form: Form) -> Response:
        """GET /contests/{name}."""
        name = request.path_params["name"]
        with self._venue.records(name) as records:
            acts = Desk(records, utc_now).history()
            last = next((act for act in acts[::-1] if act.changes and not act.undone), None)
            told = {"contest": name, "records": records, "status": Status(records), "last": last}
            told |= {"holder": self._venue.holder(name), "freeze": freeze_of(records)}
            return _shown("organiser.html", **told, acts=acts[::-1])

    def _csv(self, request: Request, _form: Form) -> Response:
        """GET /contests/{name}/results.csv: a row for each match."""
        with self._venue.records(request.path_params["name"]) as records:
            names = records.names()
            rows = [row for result in records.listed() for row in match_rows(result, names)]
        return Response(csv_text(rows), headers=_NEW, media_type="text/csv")

    def _page(self, request: Request, _form: Form) -> Response:
        """GET /contests/{name}/page: the contest's page as one file."""
        with self._venue.records(request.path_params["name"]) as records:
            text = file_page(records)
        # What it may load and do it says itself, being one file.
        return HTMLResponse(text, headers={"X-Content-Type-Options": "nosniff"})

    def _ask(self, _request: Request, form: Form) -> Response:
        """GET /ask: the question of an act, with what does it."""
        question, _, fields = _deed(form)
        seal = self._sealed(form)
        text = question.format(**fields)
        return _shown("ask.html", question=text, form=form, back=_back(form), seal=seal)

    def _do(self, request: Request, form: Form) -> Response:
        """POST /do: do what was confirmed; then its contest's page, or sheets to be printed."""
        sent = {name: value for name, value in form.items() if name != "seal"}
        same_site = request.headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}
        if not same_site or not hmac.compare_digest(form.get("seal", ""), self._sealed(sent)):
            raise ConfigError("The contest has gone on since that was asked; look again, please.")
        _, does, fields = _deed(sent)
        sheets = does(self._venue, sent.get("contest", ""), **fields)
        contest = sent.get("contest") or fields["name"]
        if sheets:
            holder = self._venue.holder(contest)
            url = "" if holder is None else holder.url
            return _shown("sheets.html", contest=contest, sheets=sheets, url=url)
        return RedirectResponse(f"/contests/{quote(contest)}", HTTPStatus.SEE_OTHER, headers=_NEW)

    def _sealed(self, form: Form) -> str:
        """What proves that this act was asked for here, and when."""
        acts = 0
        if contest := form.get("contest"):
            with self._venue.records(contest) as records:
                acts = records.ruled
        text = json.dumps([sorted(form.items()), acts])
        return hmac.digest(self._seal, text.encode(), "sha256").hex()


@contextmanager
def organiser_served(
    venue: Venue, password: str, port: int, clock: Callable[[], datetime] = utc_now
) -> Iterator[str]:
    """The address of the organiser's page, served while the block runs; raises `ConfigError`."""
    app = OrganiserSite(venue, password, clock).application()
    with Background("The organiser's page", app, port=port) as server:
        yield server.url


async def _form(request: Request) -> Form:
    """The fields of a form, or of a query."""
    is_sent = request.method == "POST"
    form = await form_of(request, LARGEST, 16) if is_sent else request.query_params
    return {name: value.replace("\r\n", "\n") for name, value in form.items() if value}


def _deed(form: Form) -> tuple[str, Doing, Form]:
    """The question of the act that a form asks for, what does it, and the fields that it names."""
    if form.get("act") not in DEEDS:
        raise ConfigError("There is no such act.")
    question, does = DEEDS[form["act"]]
    names = [name for _, name, _, _ in Formatter().parse(question) if name]
    fields = {name: form.get(name, "").strip() for name in names}
    for name, value in fields.items():
        if not value:
            raise ConfigError(f"Fill in the field {name}, please.")
    return question, does, fields


def _back(form: Form) -> str:
    contest = form.get("contest", "")
    return f"/contests/{quote(contest, safe='')}" if contest else "/"


def _asset(request: Request) -> Response:
    name = request.url.path.rpartition("/")[2]
    own = name == _STYLE
    text = (_FOLDER / name).read_text(encoding="utf-8") if own else asset(name)
    return Response(text, headers=HEADERS, media_type="text/css" if own else ASSETS[name])


def _shown(template: str, **content: object) -> Response:
    return HTMLResponse(_drawn(template, **content), headers=_NEW)


def _drawn(template: str, **content: object) -> str:
    return _templates().get_template(template).render(site=_SITE, alone=None, **content)


@cache
def _templates() -> Environment:
    made = templates(FileSystemLoader(_FOLDER))
    made.filters["local"] = to_local
    made.globals["asked"] = lambda act, contest="", **fields: (
        "/ask?" + urlencode({"contest": contest, "act": act, **fields})
    )
    return made

"""The organiser's page: behind a password, for this machine alone, and without any script.

A form asks for an action, a page of its own asks to confirm it, and only then is it done. The
confirmation carries a seal: a signature of the form and of the number of actions so far. So no
other site can forge it, it works only once, and it is rejected if somebody else acted meanwhile.
"""

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
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from cardsharp.contest.admin import ContestAdmin
from cardsharp.contest.formats.base import FORMATS_BY_NAME
from cardsharp.contest.freeze import active_or_scheduled_freeze
from cardsharp.contest.view.overview import ContestOverview
from cardsharp.contest.view.pages import standalone_contest_page
from cardsharp.core.clock import utc_now
from cardsharp.core.credentials import DIGEST_REALM
from cardsharp.core.time_zones import to_local
from cardsharp.errors import CardsharpError, ConfigError
from cardsharp.games.deadmansdraw.arena.access.auth import Authenticator
from cardsharp.games.deadmansdraw.arena.access.request_guard import parse_auth_request
from cardsharp.games.deadmansdraw.arena.access.sign_in import SignIn
from cardsharp.games.deadmansdraw.arena.access.throttling import (
    LoginThrottle,
    MemoryWindowCounter,
)
from cardsharp.games.deadmansdraw.arena.access.users import ADMIN_USER, UserDirectory
from cardsharp.games.deadmansdraw.arena.errors import TooManyWrongPasswords
from cardsharp.pages.assets import HEADERS, AssetFolder, AssetSet
from cardsharp.pages.templates import SiteInfo, template_environment
from cardsharp.play.catalog import all_games
from cardsharp.server.asset_response import asset_endpoint
from cardsharp.server.forms import Form, read_form
from cardsharp.server.request_origin import is_cross_site_change
from cardsharp.server.web_application import THIS_MACHINE, WebSettings, build_web_application
from cardsharp_tools.contest.admin_actions import ADMIN_ACTIONS, AdminHandler
from cardsharp_tools.contest.contest_manager import ContestManager
from cardsharp_tools.contest.reports import csv_text, match_rows
from cardsharp_tools.local_server.http_server import BackgroundServer

MAX_FORM_BYTES = 20_000  # bytes of a form, enough for the names of 64 teams

_NO_STORE_HEADERS = {**HEADERS, "Cache-Control": "no-store"}
_SITE = SiteInfo("Cardsharp", matches_path="/", links=(("Contests", "/"),))
_TEMPLATE_FOLDER = Path(__file__).with_name("templates")
_ASSETS = AssetSet(AssetFolder("cardsharp_tools.contest", "templates", ("organiser.css",)))
_BROWSER_COOKIE = "seat"


class AdminPages:
    """Organiser's pages over a `ContestManager`, protected by a password."""

    def __init__(
        self, manager: ContestManager, password: str, clock: Callable[[], datetime]
    ) -> None:
        self._manager = manager
        self._signing_key, self._browser_ids = secrets.token_bytes(32), set[str]()
        # Wrong passwords are limited. All clients on this machine have the same address, so a
        # browser that has signed in gets a cookie. Others' wrong passwords then do not lock it out.
        self._sign_in = SignIn(
            Authenticator(
                UserDirectory(dict, lambda: SecretStr(password)), clock, lambda: self._signing_key
            ),
            LoginThrottle(MemoryWindowCounter(clock), clock, delays_response=False),
        )

    def application(self) -> Starlette:
        """Return the pages as an application that accepts only this machine's host names."""
        routes = [
            Route("/", self._with_authorization(self._serve_contests)),
            Route("/contests/{name}", self._with_authorization(self._serve_contest)),
            Route(
                "/contests/{name}/results.csv", self._with_authorization(self._serve_results_csv)
            ),
            Route("/contests/{name}/page", self._with_authorization(self._serve_standalone_page)),
            Route("/ask", self._with_authorization(self._serve_confirmation)),
            Route("/do", self._with_authorization(self._run_action), methods=["POST"]),
            Route(f"{_SITE.assets_path}/{{name}}", asset_endpoint(_ASSETS)),
        ]
        # The origin is checked with the seal, so that the page can say what to do.
        return build_web_application(routes, WebSettings(hosts=THIS_MACHINE, checks_origin=False))

    def _with_authorization(
        self, handler: Callable[[Request, Form], Response]
    ) -> Callable[[Request], object]:
        async def endpoint(request: Request) -> Response:
            """Answer the organiser; a command that fails is shown as a page with its reason."""
            rejection = self._rejection_for(request)
            if rejection is not None:
                return rejection
            form_data: Form = {}
            try:
                form_data = await _read_form_data(request)
                response = await run_in_threadpool(handler, request, form_data)
            except CardsharpError as error:
                text = _render("refused.html", message=str(error), back=_back_link(form_data))
                response = HTMLResponse(text, HTTPStatus.CONFLICT, headers=_NO_STORE_HEADERS)
            if request.cookies.get(_BROWSER_COOKIE) not in self._browser_ids:
                seat = secrets.token_urlsafe(18)
                self._browser_ids.add(seat)
                self._sign_in.trust_address(ADMIN_USER, seat)
                response.set_cookie(_BROWSER_COOKIE, seat, httponly=True, samesite="strict")
            return response

        return endpoint

    def _rejection_for(self, request: Request) -> Response | None:
        """Return a rejection if the request is forged or not from the organiser, else None."""
        auth_request = parse_auth_request(request)
        seat = request.cookies.get(_BROWSER_COOKIE, "")
        seat = seat if seat in self._browser_ids else ""
        status, more = HTTPStatus.UNAUTHORIZED, {}
        message = "This page needs the organiser's password."
        try:
            if self._sign_in.identify(auth_request, seat) is not None:
                return None
        except TooManyWrongPasswords as error:
            status, message = HTTPStatus.TOO_MANY_REQUESTS, str(error)
        else:
            self._sign_in.count_failure(auth_request, seat)
            more = {"WWW-Authenticate": f'Basic realm="{DIGEST_REALM}", charset="UTF-8"'}
        text = _render("refused.html", message=message, back="/")
        return HTMLResponse(text, status, {**_NO_STORE_HEADERS, **more})

    def _serve_contests(self, _request: Request, _form: Form) -> Response:
        """Serve GET /: the list of contests."""
        contests = []
        for name in self._manager.contest_names():
            with self._manager.records(name) as records:
                contests.append(
                    (name, ContestOverview(records), self._manager.running_command(name))
                )
        game_names = [game.name for game in all_games()]
        return _html_response(
            "contests.html", contests=contests, formats=list(FORMATS_BY_NAME), games=game_names
        )

    def _serve_contest(self, request: Request, _form: Form) -> Response:
        """Serve GET /contests/{name}: the contest's page for the organiser."""
        name = request.path_params["name"]
        with self._manager.records(name) as records:
            acts = ContestAdmin(records, utc_now).action_history()
            last_change = next((act for act in acts[::-1] if act.changes and not act.undone), None)
            context = {
                "contest": name,
                "records": records,
                "status": ContestOverview(records),
                "last": last_change,
            }
            context |= {
                "holder": self._manager.running_command(name),
                "freeze": active_or_scheduled_freeze(records),
            }
            return _html_response("organiser.html", **context, acts=acts[::-1])

    def _serve_results_csv(self, request: Request, _form: Form) -> Response:
        """Serve GET /contests/{name}/results.csv: a row for each match."""
        with self._manager.records(request.path_params["name"]) as records:
            team_names = records.team_names_with_removed()
            rows = [
                row
                for result in records.results_with_discarded()
                for row in match_rows(result, team_names)
            ]
        return Response(csv_text(rows), headers=_NO_STORE_HEADERS, media_type="text/csv")

    def _serve_standalone_page(self, request: Request, _form: Form) -> Response:
        """Serve GET /contests/{name}/page: the contest's page as one file."""
        with self._manager.records(request.path_params["name"]) as records:
            text = standalone_contest_page(records)
        # The file contains its own Content-Security-Policy, so no header is needed.
        return HTMLResponse(text, headers={"X-Content-Type-Options": "nosniff"})

    def _serve_confirmation(self, _request: Request, form_data: Form) -> Response:
        """Serve GET /ask: the confirmation of an action."""
        question_template, _, fields = _parse_action(form_data)
        seal = self._sign_action(form_data)
        text = question_template.format(**fields)
        return _html_response(
            "ask.html", question=text, form=form_data, back=_back_link(form_data), seal=seal
        )

    def _run_action(self, request: Request, form_data: Form) -> Response:
        """Serve POST /do: run a confirmed action.

        The response is the contest's page, or sheets to print.
        """
        form_fields = {name: value for name, value in form_data.items() if name != "seal"}
        same_site = request.headers.get("sec-fetch-site", "same-origin") in {"same-origin", "none"}
        if (
            is_cross_site_change(request)
            or not same_site
            or not hmac.compare_digest(form_data.get("seal", ""), self._sign_action(form_fields))
        ):
            raise ConfigError(
                "The contest has changed since you opened this page. Reload it and try again."
            )
        _, does, fields = _parse_action(form_fields)
        sheets = does(self._manager, form_fields.get("contest", ""), **fields)
        contest = form_fields.get("contest") or fields["name"]
        if sheets:
            holder = self._manager.running_command(contest)
            url = "" if holder is None else holder.url
            return _html_response("sheets.html", contest=contest, sheets=sheets, url=url)
        return RedirectResponse(
            f"/contests/{quote(contest)}", HTTPStatus.SEE_OTHER, headers=_NO_STORE_HEADERS
        )

    def _sign_action(self, form_data: Form) -> str:
        """Return a signature of an action in the current state of its contest.

        It proves that our page offered this action in this state.
        """
        acts = 0
        if contest := form_data.get("contest"):
            with self._manager.records(contest) as records:
                acts = records.admin_action_count
        text = json.dumps([sorted(form_data.items()), acts])
        return hmac.digest(self._signing_key, text.encode(), "sha256").hex()


@contextmanager
def serve_admin_pages(
    manager: ContestManager, password: str, port: int, clock: Callable[[], datetime] = utc_now
) -> Iterator[str]:
    """Serve the organiser's page while the block runs; yield its address.

    Raises `ConfigError` if the port is taken.
    """
    app = AdminPages(manager, password, clock).application()
    with BackgroundServer("The organiser's page", app, port=port) as server:
        yield server.url


async def _read_form_data(request: Request) -> Form:
    """Return the fields of a form or of a query string, without the empty ones."""
    is_sent = request.method == "POST"
    form_data = await read_form(request, MAX_FORM_BYTES, 16) if is_sent else request.query_params
    return {name: value.replace("\r\n", "\n") for name, value in form_data.items() if value}


def _parse_action(form_data: Form) -> tuple[str, AdminHandler, Form]:
    """Return the question of the requested action, its handler, and the fields that it uses."""
    if form_data.get("act") not in ADMIN_ACTIONS:
        raise ConfigError("This page has no such action.")
    question_template, does = ADMIN_ACTIONS[form_data["act"]]
    field_names = [name for _, name, _, _ in Formatter().parse(question_template) if name]
    fields = {name: form_data.get(name, "").strip() for name in field_names}
    for name, value in fields.items():
        if not value:
            raise ConfigError(f"The field {name} is empty. Fill it in.")
    return question_template, does, fields


def _back_link(form_data: Form) -> str:
    contest = form_data.get("contest", "")
    return f"/contests/{quote(contest, safe='')}" if contest else "/"


def _html_response(template: str, **content: object) -> Response:
    return HTMLResponse(_render(template, **content), headers=_NO_STORE_HEADERS)


def _render(template: str, **content: object) -> str:
    return _load_templates().get_template(template).render(site=_SITE, alone=None, **content)


@cache
def _load_templates() -> Environment:
    environment = template_environment(FileSystemLoader(_TEMPLATE_FOLDER))
    environment.filters["local"] = to_local
    environment.globals["asked"] = lambda act, contest="", **fields: (
        "/ask?" + urlencode({"contest": contest, "act": act, **fields})
    )
    return environment

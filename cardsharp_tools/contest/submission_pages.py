"""The page `/submit`, where a team submits its code and reads the results of its matches."""

import hmac
import logging
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.parser import BytesParser
from email.policy import HTTP
from pathlib import Path

from jinja2 import FileSystemLoader
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from cardsharp.contest.formats.pairing import TeamId
from cardsharp.contest.match_host import format_points
from cardsharp.contest.models import TeamEntry, TeamFaults
from cardsharp.contest.repository import ContestRepository
from cardsharp.contest.results import ContestRecords
from cardsharp.core.clock import utc_now
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.access.path_matching import CaseInsensitiveRoute
from cardsharp.games.deadmansdraw.arena.access.request_guard import RequestGuard, not_found_response
from cardsharp.games.deadmansdraw.arena.access.users import User
from cardsharp.games.deadmansdraw.arena.storage.match_repository import MatchRepository
from cardsharp.games.deadmansdraw.contest.page_routes import ContestPages
from cardsharp.pages.assets import HEADERS
from cardsharp.pages.templates import SiteInfo, template_environment
from cardsharp.play.catalog import get_game
from cardsharp.server.limited_body import read_limited_body
from cardsharp.server.routing import HttpError
from cardsharp_tools.contest.open_contest import OpenContest
from cardsharp_tools.executors.sandbox import check_sandbox
from cardsharp_tools.executors.sandbox_supervisor import MAX_SANDBOX_BYTES, escape_control_chars
from cardsharp_tools.executors.strategy_reference import Submission, parse_strategy
from cardsharp_tools.executors.submission import (
    DEFAULT_ISOLATION,
    LARGEST,
    read_upload_contents,
    team_submissions,
)

_MAX_FORM_FIELD_BYTES = 10_000  # bytes of a form without its file
_MAX_RECENT_MATCHES = 20  # number of matches that are shown

_log = logging.getLogger(__name__)
_TEMPLATES = template_environment(FileSystemLoader(Path(__file__).with_name("templates")))


class LocalContestPages(ContestPages):
    """The pages of a contest on this machine: those of all contests, and `/submit`."""

    def __init__(self, contest: OpenContest) -> None:
        self._contest, self._records = contest, contest.records
        super().__init__(lambda: ContestRepository(contest.records.documents))
        self._submitting_teams = set[TeamId]()

    def build_routes(
        self, site: Callable[[], SiteInfo], matches: MatchRepository, guard: RequestGuard
    ) -> list[Route]:
        """The routes of the pages and of what they load."""

        async def look(request: Request, user: User) -> Response:
            team = self._find_team(user)
            if team is None:
                return not_found_response(request)
            return await run_in_threadpool(self._render_page, site(), team)

        async def submit(request: Request, user: User) -> Response:
            team = self._find_team(user)
            if team is None:
                return not_found_response(request)
            name, raw = await run_in_threadpool(
                _parse_upload, request, await _read_form_body(request), team
            )
            message = "Your previous submission is still being tested. Wait some seconds and retry."
            if team.id not in self._submitting_teams:
                self._submitting_teams.add(team.id)
                try:
                    message = await run_in_threadpool(self._store_submission, team, name, raw)
                finally:
                    self._submitting_teams.discard(team.id)
            if message:
                return await run_in_threadpool(self._render_page, site(), team, message)
            return RedirectResponse("/submit", 303)

        return [
            *super().build_routes(site, matches, guard),
            CaseInsensitiveRoute("/submit", guard.authenticated(look), "GET"),
            CaseInsensitiveRoute(
                "/submit", guard.authenticated(submit, reads=False, has_form_token=True), "POST"
            ),
        ]

    def _find_team(self, user: User) -> TeamEntry | None:
        return next((team for team in self._records.teams() if team.id == user.id), None)

    def _store_submission(self, team: TeamEntry, name: str, raw: bytes) -> str:
        """Store a version of a submission; return an error message, or "" on success."""
        closed = _find_closed_reason(team)
        try:
            if not closed:
                versions = team_submissions(
                    self._contest.folder, team.id, _isolation_of(team) or DEFAULT_ISOLATION
                )
                versions.add_version(
                    read_upload_contents(name, raw), get_game(self._records.settings.game)
                )
        except ConfigError as error:
            closed = f"The submission was rejected: {error}"
            message = escape_control_chars(closed.splitlines()[0])
            self._records.add_team_fault(team.id, message, utc_now())
            _log.warning("A submission of %s: %s", team.name, message)
        return closed

    def _render_page(self, site: SiteInfo, team: TeamEntry, message: str = "") -> Response:
        closed = _find_closed_reason(team)
        versions = [
            {
                "number": version.name,
                "at": f"{datetime.fromtimestamp(version.stat().st_mtime, UTC):%d %b %H:%M:%S} UTC",
                "files": ", ".join(sorted(file.name for file in version.iterdir())),
            }
            for version in reversed(self._contest.submissions_of(team.id).version_folders)
        ]
        text = _TEMPLATES.get_template("submit.jinja").render(
            site=site,
            alone=None,
            team=team,
            said=message,
            open=not closed,
            closed=closed,
            token=_compute_form_token(team),
            largest=LARGEST // 10**6,
            memory=MAX_SANDBOX_BYTES >> 20,
            versions=versions,
            matches=list(_list_finished_matches(self._records, team.id))[:_MAX_RECENT_MATCHES],
            faults=self._records.faults_by_team().get(team.id, TeamFaults()),
        )
        return HTMLResponse(text, 400 if message else 200, {**HEADERS, "Cache-Control": "no-store"})


def _isolation_of(team: TeamEntry) -> Submission | None:
    """Return how a team's uploads are isolated; None if the team cannot upload anything."""
    strategy = parse_strategy(team.strategy or "")
    return strategy if isinstance(strategy, Submission) and strategy.is_sandboxed else None


def _find_closed_reason(team: TeamEntry) -> str:
    """Return the reason why a team cannot submit here, or "" if it can."""
    isolation = _isolation_of(team)
    if isolation is None:
        return (
            "Your team was not entered for submissions. To submit here, ask your organiser to "
            "enter it with `--strategy submission`."
        )
    try:
        check_sandbox(needs_kernel_limits=isolation.needs_kernel_limits)
    except ConfigError:
        return (
            "Submissions are closed, because this machine cannot start a sandbox. Tell your "
            "organiser."
        )
    return ""


def _compute_form_token(team: TeamEntry) -> str:
    """Return the form token that only our pages can send.

    It protects against forged requests from a browser that has stored the password.
    """
    return hmac.digest(team.ha1.encode(), b"submit", "sha256").hex()


async def _read_form_body(request: Request) -> bytes:
    """Return the body of a form; raise `HttpError` if it is too large."""
    raw = await read_limited_body(request, LARGEST + _MAX_FORM_FIELD_BYTES)
    if raw is None:
        raise HttpError(413, f"A submission may have at most {LARGEST // 10**6} MB.")
    return raw


def _parse_upload(request: Request, raw: bytes, team: TeamEntry) -> tuple[str, bytes]:
    """Return the name and contents of the file in a form.

    Raise `HttpError` if the form cannot be read or was not sent from our page.
    """
    kind = request.headers.get("content-type", "").encode("latin-1", "replace")
    try:
        message = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind + b"\r\n\r\n" + raw)
    except (ValueError, LookupError, RecursionError):
        raise HttpError(400, "The form cannot be read.") from None
    parts_by_name = {
        str(part.get_param("name", "", "content-disposition")): part
        for part in (message.iter_parts() if message.is_multipart() else ())
    }
    token = parts_by_name["token"].get_payload(decode=True) if "token" in parts_by_name else b""
    # A browser sends an Origin header, and its form must then come from our page. curl sends none
    # and cannot be tricked into a request by another page, so it needs no token.
    is_own_form = isinstance(token, bytes) and hmac.compare_digest(
        token, _compute_form_token(team).encode()
    )
    if "origin" in request.headers and not is_own_form:
        raise HttpError(403, "The form was not sent from this page. Open the page and try again.")
    if "file" not in parts_by_name:
        raise HttpError(
            400, "The form has no field `file`. `curl -F file=@bot.py` sends a valid one."
        )
    content = parts_by_name["file"].get_payload(decode=True)
    return parts_by_name["file"].get_filename() or "", content if isinstance(
        content, bytes
    ) else b""


def _list_finished_matches(records: ContestRecords, team: TeamId) -> Iterator[tuple[str, ...]]:
    """Yield a team's finished matches, the latest first.

    Each row has the match id, the part of the contest, the opponents, the points and the
    result.
    """
    team_names = records.team_names_with_removed()
    played = [
        (match, f"pairing {result.pairing}", result.teams, facts)
        for result in reversed(records.results())
        for match, facts in reversed(result.finished_match_ids_and_facts)
    ]
    met = reversed(records.practice_matches())
    played += [
        (practice_match.match, "practice", practice_match.teams, practice_match.facts)
        for practice_match in met
    ]
    for match, contest_part, teams, facts in played:
        if team in teams:
            team_index = teams.index(team)
            end = (
                "drawn" if facts.winner is None else "won" if facts.winner == team_index else "lost"
            )
            opponents = ", ".join(
                team_names.get(opponent, opponent) for opponent in teams if opponent != team
            )
            opponent_points = (*facts.points[:team_index], *facts.points[team_index + 1 :])
            points = ":".join(map(format_points, (facts.points[team_index], *opponent_points)))
            yield match, contest_part, opponents, points, end

"""The page `/submit`, where a team submits what is played for it, and reads how that goes."""

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

from cardsharp.cloud.clock import utc_now
from cardsharp.contest.entries import Entrant, Faults
from cardsharp.contest.kept import ContestsKept
from cardsharp.contest.pairing import Team
from cardsharp.contest.records import Records
from cardsharp.contest.tables import shown
from cardsharp.deadmansdraw.arena.http import Guard, LooseRoute, not_found
from cardsharp.deadmansdraw.arena.lobby import Lobby
from cardsharp.deadmansdraw.arena.players import User
from cardsharp.deadmansdraw.contest.page_routes import ContestPages
from cardsharp.errors import ConfigError
from cardsharp.games import game
from cardsharp.viewer.assets import HEADERS
from cardsharp.viewer.base import Site, templates
from cardsharp.web.route import Refused
from workbench.sandbox import check_sandbox
from workbench.submission import LARGEST, SANDBOXED, submitted, unpacked
from workbench.warden import MEMORY, plain

_ROOM = 10_000  # bytes that a form has beside its file
_LAST = 20  # matches that are shown

_log = logging.getLogger(__name__)
_PAGES = templates(FileSystemLoader(Path(__file__).with_name("page")))


class HomePages(ContestPages):
    """The pages of a contest on this machine: those of all contests, and `/submit`."""

    def __init__(self, records: Records, folder: Path) -> None:
        super().__init__(lambda: ContestsKept(records.documents))
        self._records, self._folder = records, folder
        self._busy = set[Team]()

    def routes(self, site: Callable[[], Site], lobby: Lobby, guard: Guard) -> list[Route]:
        """The routes of the pages and of what they load."""

        async def look(request: Request, user: User) -> Response:
            team = self._team(user)
            if team is None:
                return not_found(request)
            return await run_in_threadpool(self._page, site(), team)

        async def submit(request: Request, user: User) -> Response:
            team = self._team(user)
            if team is None:
                return not_found(request)
            name, raw = await run_in_threadpool(_uploaded, request, await _read(request), team)
            said = "What you submitted before is still being tried; wait a moment."
            if team.id not in self._busy:
                self._busy.add(team.id)
                try:
                    said = await run_in_threadpool(self._submit, team, name, raw)
                finally:
                    self._busy.discard(team.id)
            if said:
                return await run_in_threadpool(self._page, site(), team, said)
            return RedirectResponse("/submit", 303)

        return [
            *super().routes(site, lobby, guard),
            LooseRoute("/submit", guard.known(look), "GET"),
            LooseRoute("/submit", guard.known(submit, reads=False), "POST"),
        ]

    def _team(self, user: User) -> Entrant | None:
        return next((team for team in self._records.teams() if team.id == user.id), None)

    def _submit(self, team: Entrant, name: str, raw: bytes) -> str:
        """Keep a version; what is wrong with it, in a sentence."""
        closed = _closed(team)
        try:
            if not closed:
                versions = submitted(self._folder, team.id, team.strategy)
                versions.submit(unpacked(name, raw), game(self._records.settings.game))
        except ConfigError as error:
            closed = f"Not taken: {error}"
            what = plain(closed.splitlines()[0])
            self._records.note_fault(team.id, what, utc_now())
            _log.warning("%s has submitted something. %s", team.name, what)
        return closed

    def _page(self, site: Site, team: Entrant, said: str = "") -> Response:
        closed = _closed(team)
        versions = [
            {
                "number": one.name,
                "at": f"{datetime.fromtimestamp(one.stat().st_mtime, UTC):%d %b %H:%M:%S} UTC",
                "files": ", ".join(sorted(file.name for file in one.iterdir())),
            }
            for one in reversed(submitted(self._folder, team.id, team.strategy).versions)
        ]
        text = _PAGES.get_template("submit.jinja").render(
            site=site,
            alone=None,
            team=team,
            said=said,
            open=not closed,
            closed=closed,
            token=_token(team),
            largest=LARGEST // 10**6,
            memory=MEMORY >> 20,
            versions=versions,
            matches=list(_matches(self._records, team.id))[:_LAST],
            faults=self._records.faults().get(team.id, Faults()),
        )
        return HTMLResponse(text, 400 if said else 200, {**HEADERS, "Cache-Control": "no-store"})


def _closed(team: Entrant) -> str:
    """Why a team cannot submit here, if it cannot."""
    if team.strategy != SANDBOXED:
        return "Your team plays in another way. To submit here, ask your organiser to enter it so."
    try:
        check_sandbox()
    except ConfigError:
        return "Nothing can be submitted here: this arena has no sandbox. Tell your organiser."
    return ""


def _token(team: Entrant) -> str:
    """What only a page of ours can send, whatever a browser that knows the password is told."""
    return hmac.digest(team.ha1.encode(), b"submit", "sha256").hex()


async def _read(request: Request) -> bytes:
    """The body of a form; raises `Refused` where it is too large."""
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST + _ROOM:
            raise Refused(413, f"A submission has {LARGEST // 10**6} MB at most.")
    return bytes(raw)


def _uploaded(request: Request, raw: bytes, team: Entrant) -> tuple[str, bytes]:
    """Name and content of the file in a form; raises `Refused` if another site sends it."""
    kind = request.headers.get("content-type", "").encode("latin-1", "replace")
    try:
        form = BytesParser(policy=HTTP).parsebytes(b"Content-Type: " + kind + b"\r\n\r\n" + raw)
    except (ValueError, LookupError, RecursionError):
        raise Refused(400, "The form cannot be read.") from None
    parts = {
        str(part.get_param("name", "", "content-disposition")): part
        for part in (form.iter_parts() if form.is_multipart() else ())
    }
    token = parts["token"].get_payload(decode=True) if "token" in parts else b""
    # A browser names where a form comes from, and then it must be our page; curl has none.
    if "origin" in request.headers and token != _token(team).encode():
        raise Refused(403, "Another site may not ask for this.")
    if "file" not in parts:
        raise Refused(400, "A form with a `file` is expected, as `curl -F file=@bot.py` sends it.")
    content = parts["file"].get_payload(decode=True)
    return parts["file"].get_filename() or "", content if isinstance(content, bytes) else b""


def _matches(records: Records, team: Team) -> Iterator[tuple[str, ...]]:
    """Yield a team's matches that have ended, the last first: id, part, others, points, end."""
    names = records.names()
    played = [
        (match, f"pairing {result.pairing}", result.teams, facts)
        for result in reversed(records.results())
        for match, facts in reversed(result.ended)
    ]
    met = reversed(records.meetings())
    played += [(one.match, "practice", one.teams, one.facts) for one in met]
    for match, part, teams, facts in played:
        if team in teams:
            own = teams.index(team)
            end = "drawn" if facts.winner is None else "won" if facts.winner == own else "lost"
            others = ", ".join(names.get(other, other) for other in teams if other != team)
            theirs = (*facts.points[:own], *facts.points[own + 1 :])
            points = ":".join(map(shown, (facts.points[own], *theirs)))
            yield match, part, others, points, end

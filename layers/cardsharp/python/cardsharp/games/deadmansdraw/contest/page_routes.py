"""Routes of the contest pages at their arena, and the access to them."""

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from cardsharp.contest.match_host import LiveMatch
from cardsharp.core.clock import TimeSource, utc_now
from cardsharp.errors import StoreError
from cardsharp.games.deadmansdraw.arena.access.path_matching import CaseInsensitiveRoute
from cardsharp.games.deadmansdraw.arena.access.request_guard import (
    Endpoint,
    RequestGuard,
    not_found_response,
    with_etag,
)
from cardsharp.games.deadmansdraw.arena.access.users import User
from cardsharp.games.deadmansdraw.arena.match import ArenaMatch
from cardsharp.games.deadmansdraw.arena.storage.match_repository import MatchRepository
from cardsharp.pages.assets import HEADERS, AssetFolder

if TYPE_CHECKING:
    from cardsharp.contest.models import ContestSettings
    from cardsharp.contest.repository import ContestRepository
    from cardsharp.contest.results import ContestRecords
    from cardsharp.pages.templates import SiteInfo

# Named here, because to import `contest.view.pages` takes long and no player needs it.
CONTEST_ASSETS = AssetFolder("cardsharp.contest.view", "page", ("contest.css", "contest.js"))
CACHE_TIME = timedelta(seconds=10)  # in which a contest's start and a new team are noticed


class _OpenContest(NamedTuple):
    """A contest that is not over: its settings, its stage and its teams."""

    settings: "ContestSettings"
    is_practising: bool
    teams: frozenset[str]


class ContestPages:
    """Contest pages, as additional pages of their arena; `?name=` selects the contest.

    `contests` opens the contests for a page. If one is frozen, all but the organiser see its
    state at the freeze.
    """

    title, path, assets = "Contest", "/contest", CONTEST_ASSETS

    def __init__(
        self, contests: "Callable[[], ContestRepository]", clock: TimeSource = utc_now
    ) -> None:
        self._contests, self._clock = contests, clock
        self._open_contests: list[_OpenContest] = []
        self._cache_expiry = datetime.min.replace(tzinfo=UTC)

    def hidden_match_predicate(self) -> Callable[[ArenaMatch], bool]:
        """Return a function that is True for the matches to hide.

        Only the organiser and their players may see them.
        """
        # Slow to load, and needed by no player.
        from cardsharp.contest.freeze import build_freeze_filter  # noqa: PLC0415

        contests = self._contests()
        freeze = build_freeze_filter(map(contests.get, contests.contest_names()), self._clock())

        def hidden(match: ArenaMatch) -> bool:
            team = match.pairing.creator
            if team is None:
                return freeze.hides_organiser_match(match.params.tags or (), match.id)
            # Which tags a team gives to its own matches is up to it.
            return freeze.hides_match_begun_by(
                team, match.last_move_at if match.is_finished else None
            )

        return hidden

    def tag_notice(self, player: str, tags: AbstractSet[str]) -> str | None:
        """Return what is wrong with the tags for which a team waits, or None."""
        # Slow to load, and needed by no player whose matches begin.
        from cardsharp.contest.team_presence import finds_matches, tag_notice  # noqa: PLC0415

        for contest in self._load_open_contests():
            if player in contest.teams:
                is_right = finds_matches(contest.settings, tags, is_practice=contest.is_practising)
                return None if is_right else tag_notice(contest.settings)
        return None

    def _load_open_contests(self) -> "list[_OpenContest]":
        """Return the contests that are not over, as they were at most `CACHE_TIME` ago."""
        from cardsharp.contest.models import ContestStage  # noqa: PLC0415 - as above
        from cardsharp.contest.team_presence import is_practising  # noqa: PLC0415 - as above

        current_time = self._clock()
        if current_time >= self._cache_expiry:
            self._cache_expiry = current_time + CACHE_TIME
            contests = self._contests()
            with suppress(StoreError):  # the next poll reads it again
                self._open_contests = [
                    _OpenContest(
                        records.settings,
                        is_practising(records),
                        frozenset(team.id for team in records.teams()),
                    )
                    for records in map(contests.get, contests.contest_names())
                    if records.stage is not ContestStage.OVER
                ]
        return self._open_contests

    def build_routes(
        self, site: "Callable[[], SiteInfo]", matches: MatchRepository, guard: RequestGuard
    ) -> list[Route]:
        """Return the routes of the pages."""

        def contest_endpoint(*, is_full_page: bool) -> Endpoint:
            """Return the endpoint of a contest's page, or of its running matches alone."""

            def respond(request: Request, user: User, running: list[LiveMatch]) -> Response:
                contests = self._contests()
                names = contests.contest_names()
                name = request.query_params.get("name", *names[:1])
                if name not in names:
                    return not_found_response(request)
                other_names = [other_name for other_name in names if other_name != name]
                # What draws is loaded for the first page: see the arena's page_routes.
                from cardsharp.contest.freeze import spectator_records  # noqa: PLC0415
                from cardsharp.contest.view.pages import (  # noqa: PLC0415
                    ContestPageView,
                    contest_page,
                    running_matches_fragment,
                )

                records = contests.get(name)
                if not user.is_admin:
                    records = spectator_records(records, self._clock())
                draw = contest_page if is_full_page else running_matches_fragment
                is_board = request.query_params.get("view") == "board"
                notices = _build_tag_notices(contests.get(name), user)
                view = ContestPageView(site(), other_names, is_board, self._clock(), notices)
                html = draw(view, records, () if records.frozen_at else running)
                return with_etag(HTMLResponse(html, headers=HEADERS))

            async def endpoint(request: Request, user: User) -> Response:
                # Beside the loop, so that no player waits for it.
                running = list(map(to_live_match, matches.running_matches()))
                return await run_in_threadpool(respond, request, user, running)

            return guard.authenticated_or_spectator(endpoint)

        return [
            CaseInsensitiveRoute("/contest", contest_endpoint(is_full_page=True), "GET"),
            CaseInsensitiveRoute("/contest/running", contest_endpoint(is_full_page=False), "GET"),
        ]


def to_live_match(match: ArenaMatch) -> LiveMatch:
    """A match as a spectator may see it."""
    state = match.state
    return LiveMatch(
        id=match.id,
        teams=match.pairing.players,
        tags=match.params.tags or (),
        points=state.scores,
        team_to_act=match.active_player,
        turn=match.turn,
        note=f"{len(state.play_area)} in play · {len(state.draw_pile)} left to draw",
        # Teams may give their own practice matches any tag.
        is_foreign=match.pairing.creator is not None,
    )


def _build_tag_notices(records: "ContestRecords", user: User) -> list[str]:
    """Return what the page tells a team about its tags, and the organiser about all teams."""
    from cardsharp.contest.team_presence import tag_notice, wrong_tags_line  # noqa: PLC0415 - as above

    wrong_tags = records.wrong_tags_by_team()
    if user.is_admin:
        names = records.team_names_with_removed()
        return [
            wrong_tags_line(records.settings, names.get(team, team), tags)
            for team, tags in wrong_tags.items()
        ]
    return [tag_notice(records.settings)] if user.id in wrong_tags else []

"""`ArenaClient`: everything that a player can ask of an arena of Dead Man's Draw."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import timedelta
from typing import TypeVar

from cardsharp.access import Address, Credentials, Limits
from cardsharp.budget import Purpose
from cardsharp.contact import Contact
from cardsharp.deadmansdraw import wire, wire_views
from cardsharp.deadmansdraw.actions import Action, action_body
from cardsharp.errors import Garbled, MatchOver, NotFound, NotYourTurn, TooLong, Unreachable
from cardsharp.exchange import Call, Client, Exchange

_T = TypeVar("_T")
_OK, _GONE = 200, 410

_NEWEST = "20"
"""Asked for so many, an arena lists the newest 201: more than anybody plays at once, and within
the size of an answer (docs/spec/arena.md section 4). Asked for only where the whole list is too
long, as an arena may count before it leaves out the matches that wait for nobody."""

DUMMY_ID = "000000000000000000000000"  # accepts any match (docs/spec/arena.md section 4)


class ArenaClient(Client):
    """A player's session at an arena; for one thread at a time, closed by `with`.

    Every method raises `ArenaError` (see `cardsharp.errors`). Reads are repeated while that can
    help; `act`, `create_match` and `terminate` are sent exactly once, and an error of theirs
    with `doubtful` set means: read the match again and compare before anything else.

    Args:
        address: `https://...`; `http://` to this machine only, else ConfigError. As an `Address`
            it can say more.
        credentials: the player's id and password, or the admin's.
        limits: of time and size.
        digest: answer Digest challenges rather than send Basic at once.
        contact: what is known of this arena, where other sessions of the same user share it.
    """

    def __init__(
        self,
        address: str | Address,
        credentials: Credentials,
        limits: Limits = Limits(),  # noqa: B008 - frozen, and the defaults show in help()
        digest: bool = False,
        contact: Contact | None = None,
    ) -> None:
        super().__init__(Exchange(address, credentials, limits, digest, contact), limits)
        self._lists_newest = False

    def sign_in(self, credentials: Credentials) -> None:
        """Ask by these credentials from now on, as after a new password."""
        self._exchange.sign_in(credentials)

    @property
    def contact(self) -> Contact:
        """What this session and those that share it have learnt of the arena."""
        return self._exchange.contact

    def hello(self) -> str:
        """The arena's greeting; needs no valid password."""
        call = Call(kind="hello", path="/api/hello", limit=self._limits.read)
        return self._ask(call, wire.parse_hello).message

    def whoami(self) -> wire_views.WhoAmI:
        """Who the arena takes us for; raises `Unauthorized`, or `Garbled` if it is none."""
        # Not /api/whoami: an arena that has spectators answers that without asking for a password.
        call = Call(kind="whoami", path="/api/sessioninfo", limit=self._limits.read)
        try:
            return self._ask(call, wire.parse_whoami)
        except NotFound:
            raise Garbled("Something answers, but it is no arena; check the address.") from None

    def players(self) -> list[wire_views.PlayerRecord]:
        """All players of the arena, each with how long it has been idle; only the admin is told."""
        params = {"idle": "true"}
        call = Call(kind="players", path="/api/players", params=params, limit=self._limits.read)
        return self._ask(call, wire.parse_players)

    def matches(
        self,
        tags: Iterable[str] = (),
        ids: Iterable[str] = (),
        *,
        active: bool = False,
        wait: bool = False,
        **more: str,
    ) -> list[wire_views.MatchView]:
        """Our matches (the admin's: all), newest first, without their moves.

        `tags` are alternatives; no tags or ids mean any. `active` keeps those in which we are to
        move. `wait` polls until there is one, or [] at its end; without `active` any old match
        fulfils that, and a match against oneself always. It returns at once for as long as there is
        one, so who attends them all must ask at a calm pace. `more` are further parameters of the
        request.
        """
        flags = {"active": active, "wait": wait}
        lists = {"tags": ",".join(tags), "id": ",".join(ids)}
        params = {name: "true" for name, on in flags.items() if on}
        params |= more | {name: value for name, value in lists.items() if value}
        call = Call(
            kind="list_wait" if wait else "list",
            path="/api/matches",
            params=params,
            limit=self._limits.long_poll if wait else self._limits.read,
            waits=wait,
            purpose=Purpose.LIST,
            patience=timedelta(seconds=1.5),
        )
        if not self._lists_newest:
            try:
                return self._ask(call, wire.parse_views)
            except TooLong:
                self._lists_newest = True
        newest = replace(call, params={**params, "limit": _NEWEST})
        return self._ask(newest, wire.parse_views)

    def latest(self, tags: Iterable[str] = ()) -> list[wire_views.MatchView]:
        """Our latest matches, a hundred or fewer, also those that have ended."""
        return self.matches(tags, limit="10")  # eleven times as many, by the arena's own fault

    def newer(self, match_id: str, tags: Iterable[str] = ()) -> list[wire_views.MatchView]:
        """Our matches that were created after that one, once there are any; [] at a poll's end."""
        return self.matches(tags, wait=True, offset=match_id, limit="10", sortasc="true")

    def view(self, match_id: str, events: bool = True, debug: bool = False) -> wire_views.MatchView:
        """The match as it is now, with all its moves if `events`.

        With `debug` its creator and the organiser are told what each move asked for.
        """
        params = {"showevents": "true"} if events else {}
        params |= {"showdebug": "true"} if debug else {}
        path, limit = _match_path(match_id), self._limits.read
        parse = wire.parse_whole_view if events else wire.parse_view
        return self._ask(Call(kind="view", path=path, params=params, limit=limit), parse)

    def wait_for_turn(
        self, match_id: str, patience: timedelta = timedelta(seconds=2)
    ) -> wire_views.MatchView | None:
        """The match with all its moves once we are to move or it has ended.

        A long poll of up to the server's 30 s, which begins within our own `patience`; None if that
        took too long.
        """
        call = Call(
            kind="view_wait",
            path=_match_path(match_id),
            params={"waitactive": "true", "showevents": "true"},
            limit=self._limits.long_poll,
            waits=True,
            purpose=Purpose.WAIT,
            patience=patience,
            accept=frozenset({_OK, _GONE}),
        )
        try:
            answer = self._exchange.send(call)
        except NotYourTurn:
            return None
        parse = wire.parse_view if answer.status == _GONE else wire.parse_whole_view
        return parse(answer.body)

    @property
    def act_limit(self) -> timedelta:
        """How long an action that is sent now may be under way: longer while the arena slows us."""
        limits = self._limits
        return limits.act + limits.slow_down if self.contact.is_slowed else limits.act

    def act(
        self, match_id: str, action: Action, within: timedelta | None = None
    ) -> list[wire_views.EventView]:
        """What `action` of ours caused, in order; sent exactly once, whatever happens.

        It arrives `within` that time or not at all, as far as our side of the network goes. Raises
        `Unreachable`, not `doubtful`, if no time was left to send it; `MatchOver`; `NotYourTurn` or
        `Rejected`, whose `message` says why nothing was carried out; any other `ArenaError` that is
        `doubtful` if it may have been carried out: read the match again.
        """
        limit = self._limits.act if within is None else min(within, self._limits.act)
        call = Call(
            kind="act",
            method="POST",
            path=_match_path(match_id),
            body=action_body(action),
            limit=limit,
            purpose=Purpose.ACT,
            most=timedelta.max if within is None else within,
            accept=frozenset({_OK, _GONE}),
        )
        if limit <= timedelta(0):
            raise Unreachable(f"{call}: not sent, for it would arrive too late.")
        return self._ask(call, wire.parse_events)

    def create_match(self, params: wire.MatchParams) -> wire_views.MatchCreated:
        """The id of a new match; sent once, as a second one would be a second match."""
        call = Call(
            kind="create",
            method="POST",
            path="/api/matches",
            body=wire.params_body(params),
            limit=self._limits.read,
        )
        return self._ask(call, wire.parse_created)

    def terminate(
        self, match_id: str, winner_id: str | None = None, comment: str | None = None
    ) -> wire_views.MatchView:
        """The match after it was ended by decision; without `winner_id` it is a tie."""
        said = {"winnerId": winner_id, "comment": comment}
        call = Call(
            kind="terminate",
            method="DELETE",
            path=f"{_match_path(match_id)}/terminate",
            body={name: value for name, value in said.items() if value is not None},
            limit=self._limits.read,
        )
        return self._ask(call, wire.parse_view)

    def _ask(self, call: Call, parse: Callable[[object], _T]) -> _T:
        """The parsed answer; an unreadable answer to a write leaves its effect in doubt."""
        answer = self._exchange.send(call)
        try:
            if answer.status == _GONE:
                wire.parse_ending(answer.body)
                raise MatchOver
            return parse(answer.body)
        except Garbled as error:
            error.doubtful = call.writes
            raise


def _match_path(match_id: str) -> str:
    """The path of a match; an id that could lead elsewhere is refused without asking."""
    if not (match_id.isascii() and match_id.isalnum()):
        raise NotFound(404, "a match id has letters and digits only; check it")
    return f"/api/matches/{match_id}"

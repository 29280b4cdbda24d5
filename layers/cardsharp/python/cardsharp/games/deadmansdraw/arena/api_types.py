"""Types of the bodies of the REST API (docs/spec/arena.md sections 3 and 4).

The OpenAPI document has a schema for each type, named as the class without `Json`. Requests are
parsed elsewhere (`request_body`), because the original accepts more than a type can say. The
client has models of its own (`arena_bot/wire_views.py`): they tolerate a newer server, and they
leave out the secrets that these types describe.

The types are dictionaries, so that a response costs no validation. `typing_extensions` has them
in the form that pydantic needs before Python 3.12.
"""

from typing import Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, WithJsonSchema, with_config
from typing_extensions import TypeAliasType, TypedDict

from cardsharp.games.deadmansdraw.actions import ActionType, EffectType
from cardsharp.games.deadmansdraw.cards import Suit
from cardsharp.games.deadmansdraw.events import EventType

Id = TypeAliasType(
    "Id", Annotated[str, Field(pattern="^[0-9a-f]{24}$", examples=["111111111111111111111111"])]
)
Flag = TypeAliasType(
    "Flag",
    Annotated[Literal["0", "1", "true", "false"], Field(description="Only 1 and true are true.")],
)
Moment = Annotated[str, WithJsonSchema({"type": "string", "format": "date-time"})]
BusyDay = Annotated[str, Field(examples=["Fri Nov 20 2026"])]

# --- the table -----------------------------------------------------------------------------------


@with_config(ConfigDict(json_schema_extra={"examples": [{"suit": "Mermaid", "value": 9}]}))
class CardJson(TypedDict):
    """A card."""

    suit: Suit
    value: Annotated[int, Field(ge=2, le=9)]


GivenCardJson = TypeAliasType(
    "GivenCardJson",
    Annotated[
        CardJson
        | Annotated[list[Any], Field(min_length=2, max_length=2, examples=[["Hook", 3]])]
        | Annotated[dict[str, Any], Field(min_length=1, max_length=1, examples=[{"Hook": 3}])],
        Field(description="A card in a request, in one of three forms."),
    ],
)
BankJson = TypeAliasType(
    "BankJson",
    Annotated[
        dict[str, list[int]],
        Field(
            description="Values by suit, both in the order in which they were banked.",
            examples=[{"Mermaid": [5, 9], "Key": [3]}],
        ),
    ],
)


class EffectJson(TypedDict):
    """A pending effect.

    The cards are the card that an Oracle shows, with null for not taking it, or the cards that a
    Map offers. `krakenCount` is the number of draws that a Kraken still asks for.
    """

    effectType: EffectType
    cards: NotRequired[list[CardJson | None]]
    krakenCount: NotRequired[int]


class StackDeltaJson(TypedDict, total=False):
    """Cards that came to and left one pile."""

    added: list[CardJson]
    removed: list[CardJson]


class DeltaJson(TypedDict, total=False):
    """The changes of a whole turn; empty before the first turn."""

    drawPile: StackDeltaJson
    discardPile: StackDeltaJson
    banks: list[StackDeltaJson]


class EventJson(TypedDict):
    """An event, with the fields of its type; responses to an action have no `playerIndex`."""

    eventType: EventType
    matchStartedSeed: NotRequired[
        Annotated[str, Field(description="Only for the match's creator and the admin.")]
    ]
    turnStartedDelta: NotRequired[DeltaJson]
    drawCard: NotRequired[CardJson]
    cardPlayedEffect: NotRequired[EffectJson]
    cardPlacedToPlayAreaCard: NotRequired[CardJson]
    cardRemovedFromBankCard: NotRequired[CardJson]
    cardRemovedFromBankIndex: NotRequired[int]
    responseToEffectType: NotRequired[str]
    responseToEffectCard: NotRequired[CardJson | None]
    turnEndedIsSuccessful: NotRequired[bool]
    turnEndedBonusCards: NotRequired[list[CardJson]]
    turnEndedDelta: NotRequired[DeltaJson]
    matchEndedScores: NotRequired[list[int]]
    matchEndedWinnerIdx: NotRequired[int | None]
    matchEndedTerminated: NotRequired[bool]
    comment: NotRequired[str]
    playerIndex: NotRequired[int]


class StateJson(TypedDict):
    """The table.

    Between turns `currentPlayerIndex` still names the player who has just played. The player to
    act is `activePlayerIndex` of the match.
    """

    banks: list[BankJson]
    drawPile: NotRequired[list[CardJson]]
    discardPile: NotRequired[list[CardJson]]
    playArea: list[CardJson]
    currentPlayerIndex: int | None
    pendingEffect: NotRequired[EffectJson]
    winnerIdx: NotRequired[int | None]
    timeoutCount: NotRequired[int]


# --- requests ------------------------------------------------------------------------------------


class EffectResponseJson(TypedDict):
    """The answer to a pending effect; the card null refuses the card of an Oracle."""

    effectType: EffectType
    card: NotRequired[GivenCardJson | None]


_ACTION_EXAMPLES: list[Any] = [
    {"etype": "Draw"},
    {"etype": "EndTurn"},
    {"etype": "ResponseToEffect", "effect": {"effectType": "Hook", "card": ["Mermaid", 5]}},
    {"etype": "ResponseToEffect", "effect": {"effectType": "Oracle", "card": None}},
    {"etype": "Draw", "autopick": True},
]


@with_config(ConfigDict(json_schema_extra={"examples": _ACTION_EXAMPLES}))
class ActionJson(TypedDict):
    """An action; with `autopick` the arena answers pending effects first."""

    etype: ActionType
    effect: NotRequired[EffectResponseJson]
    autopick: NotRequired[bool]


_CREATION_EXAMPLES: list[Any] = [
    {},
    {"tags": ["practice"], "randomSeed": "20221105HelloWorld"},
    {
        "drawPile": [["Oracle", 4], ["Anchor", 4], ["Mermaid", 5]],
        "discardPile": [["Mermaid", 4], ["Hook", 2]],
    },
]
_SEED = "The same seed makes the same match; norandom always takes the first card."


@with_config(ConfigDict(json_schema_extra={"examples": _CREATION_EXAMPLES}))
class CreationParamsJson(TypedDict, total=False):
    """The parameters of a match, as they were sent: a field that was null is null."""

    playerids: list[Id] | None
    tags: list[str] | None
    playArea: list[GivenCardJson] | None
    drawPile: list[GivenCardJson] | None
    discardPile: list[GivenCardJson] | None
    banks: list[list[GivenCardJson]] | None
    randomSeed: Annotated[str | float | None, Field(description=_SEED)]
    timeout: Annotated[
        float | None, Field(description="Seconds that a player may take for a move.")
    ]


_TERMINATION_EXAMPLES: list[Any] = [
    {"winnerId": "111111111111111111111111", "comment": "the other team gave up"}
]


@with_config(ConfigDict(json_schema_extra={"examples": _TERMINATION_EXAMPLES}))
class TerminationJson(TypedDict, total=False):
    """The decision that ends a match; without a winner it is a tie."""

    winnerId: Id
    comment: str


# --- responses -----------------------------------------------------------------------------------


class MoveJson(TypedDict):
    """An accepted request and the events that it caused."""

    sequenceId: int
    sequenceInTurnId: int
    turnId: int
    at: Moment
    userAction: NotRequired[ActionJson]
    clientIP: NotRequired[str]
    events: list[EventJson]


class MatchJson(TypedDict):
    """A match; a list has neither names nor moves."""

    playerids: list[Id]
    createdByPlayerId: Id | None
    creationParams: CreationParamsJson
    _id: Id
    startedAt: Moment
    lastMoveAt: Moment
    moveCount: int
    turnCount: int
    moveCountInTurn: int | None
    state: StateJson
    activePlayerIndex: int | None
    drawPileSize: int
    discardPileSize: int
    playernames: NotRequired[list[str]]
    moves: list[MoveJson]


class HeaderTableJson(TypedDict):
    """The table of a match header: the pending effect, and the number of cards of each pile."""

    effect: NotRequired[str]
    playarea: int
    drawpile: int
    discardpile: int


class HeaderPlayerJson(TypedDict):
    """A player of a match header."""

    active: bool
    winner: bool
    banksize: int
    bankvalue: int


class MatchHeaderJson(TypedDict):
    """A match in short."""

    id: Id
    sequence: Annotated[str, Field(examples=["3.1"])]
    lastmoveat: Moment
    finished: bool
    table: HeaderTableJson
    playerdata: list[HeaderPlayerJson]
    startedat: Moment
    tags: NotRequired[list[str]]
    playernames: list[str]


class CreatedJson(TypedDict):
    """A new match."""

    id: Id
    randomSeed: Annotated[Any, Field(description="The seed as it was sent; a text if none was.")]


class ClosingJson(TypedDict):
    """The events that ended a match."""

    events: list[EventJson]


class PlayerJson(TypedDict):
    """A player; the fields from `idleSeconds` on are there if `idle` was requested.

    `idleSeconds` is null for a player that never came, and `awaitedTags` for one that waits for
    matches with any tag. `client` is the User-Agent of its last request for matches.
    `lastMoveAt` is null for a player that has not acted in a match.
    """

    _id: Id
    name: str
    email: NotRequired[str]
    country: NotRequired[str]
    idleSeconds: NotRequired[float | None]
    awaitedTags: NotRequired[tuple[str, ...] | None]
    client: NotRequired[str | None]
    lastMoveAt: NotRequired[str | None]


class UserJson(TypedDict):
    """The user that the credentials belong to; the admin has no name."""

    username: str
    name: str | None
    role: Literal["player", "admin"]


class SessionJson(TypedDict):
    """The user, where matches are kept, and the address the request came from."""

    username: str
    name: str | None
    role: str
    dbname: str
    ip: str | None
    country: NotRequired[str]


class HelloJson(TypedDict):
    """The greeting."""

    message: str

"""Contests in the arena's DynamoDB table.

| pk           | sk          | attributes                                                     |
|--------------|-------------|----------------------------------------------------------------|
| contests     | NAME        | settings_json, contest_stage, is_paused, entered, ruled        |
| contest#NAME | team#NAME   | team_id, seed, team_ha1, strategy                              |
| contest#NAME | ruling#KEY  | winner, reason, ruled_at                                       |
| contest#NAME | result#0012 | result_json                                                    |
| contest#NAME | meeting#N   | meeting_json: a match of practice, N in seven digits           |
| contest#NAME | standing#N  | standing_json: the ratings after so many matches of practice   |
| players      | ID          | player_name, player_ha1: what the arena reads of its players   |

`entered` and `ruled` count for ever, so that a write is refused where somebody else was first.
Actions used: GetItem, Query, PutItem, UpdateItem, DeleteItem.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cardsharp.cloud.aws import Unmet
from cardsharp.cloud.dynamodb_items import key, number, text
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.deadmansdraw.contest.codec import (
    decode_meeting,
    decode_result,
    decode_settings,
    decode_standing,
    encode_meeting,
    encode_result,
    encode_settings,
    encode_standing,
)
from cardsharp.deadmansdraw.contest.meetings import Meeting, Standing
from cardsharp.deadmansdraw.contest.pairing import Team
from cardsharp.deadmansdraw.contest.records import Entrant, Records, Result, Ruling, Settings, Stage
from cardsharp.errors import ConfigError, Conflict

if TYPE_CHECKING:
    from types_boto3_dynamodb.type_defs import TransactWriteItemTypeDef

    from cardsharp.cloud.dynamodb_items import Item, Value

CONTESTS = "contests"
PLAYERS = "players"
_TRANSACTION = 100
"""Writes that one transaction may hold."""


def under_way(table: DynamoTable) -> Iterator[str]:
    """Yield the names of the contests that have begun and are not over."""
    for item in table.under(CONTESTS):
        if item["contest_stage"]["S"] == Stage.BEGUN:
            yield item["sk"]["S"]


class TableContests:
    """All contests of an arena's table: those under way first, then those to come."""

    _ORDER = (Stage.BEGUN, Stage.OPEN, Stage.OVER)

    def __init__(self, table: DynamoTable) -> None:
        self._table = table

    def names(self) -> list[str]:
        """Their names."""
        found = list(self._table.under(CONTESTS))
        found.sort(key=lambda item: self._ORDER.index(Stage(item["contest_stage"]["S"])))
        return [item["sk"]["S"] for item in found]

    def named(self, name: str) -> Records:
        """One of them; raises `ConfigError` where there is none of that name."""
        return Records(DynamoContest(self._table, name))


class DynamoContest:
    """A `Store`: the contest `name` in an arena's table."""

    def __init__(self, table: DynamoTable, name: str) -> None:
        self._table = table
        self._name = name
        self._key = key(CONTESTS, name)
        if table.get(self._key) is None:
            raise ConfigError(
                f"There is no contest {name} in the stack; `cardsharp contest new` founds one."
            )

    @classmethod
    def found(cls, table: DynamoTable, settings: Settings) -> "DynamoContest":
        """A new contest; raises `ConfigError` where one of that name is."""
        try:
            table.update(
                key(CONTESTS, settings.name),
                "SET settings_json = :body, contest_stage = :open, is_paused = :no, "
                "entered = :none, ruled = :none",
                "attribute_not_exists(pk)",
                {
                    ":body": text(encode_settings(settings)),
                    ":open": text(Stage.OPEN),
                    ":no": {"BOOL": False},
                    ":none": number(0),
                },
            )
        except Unmet:
            raise ConfigError(f"There is a contest {settings.name} in the stack already.") from None
        return cls(table, settings.name)

    def close(self) -> None:
        """Do nothing: nothing is open."""

    def settings(self) -> Settings:
        """What the contest was founded with."""
        return decode_settings(self._contest()["settings_json"]["S"])

    def teams(self) -> list[Entrant]:
        """The teams, the best seed first."""
        found = sorted(self._under("team#"), key=lambda item: int(item["seed"]["N"]))
        return [_team(item) for item in found]

    def add(self, team: Entrant) -> None:
        """Enter a team as the last seed; raises `Conflict`."""
        seed = int(self._contest()["entered"]["N"]) + 1
        item = self._item_of(team, seed)
        self._change_teams(
            "SET entered = :seed",
            {":seed": number(seed), ":before": number(seed - 1)},
            "contest_stage = :open AND entered = :before",
            [self._put(item, fresh=True), self._put(_player(team))],
        )

    def replace(self, team: Entrant) -> None:
        """Keep a team's new password."""
        self._table.update(
            self._at(f"team#{team.name}"),
            "SET team_ha1 = :ha1",
            "attribute_exists(pk)",
            {":ha1": text(team.ha1)},
        )
        self._table.put(_player(team))

    def remove(self, team: Entrant) -> None:
        """Remove a team; raises `Conflict` where the contest has begun."""
        gone = [self._at(f"team#{team.name}"), key(PLAYERS, team.id)]
        self._change_teams(
            "SET entered = entered + :one",
            {":one": number(1)},
            "contest_stage = :open",
            [self._delete(one) for one in gone],
        )

    def seed(self, order: Sequence[Team]) -> None:
        """Let the teams be seeded in this order; raises `Conflict` where the contest has begun."""
        teams = {team.id: team for team in self.teams()}
        entered = int(self._contest()["entered"]["N"])
        self._change_teams(
            "SET entered = :after",
            {":after": number(entered + len(order)), ":before": number(entered)},
            "contest_stage = :open AND entered = :before",
            [
                self._put(self._item_of(teams[team], entered + place))
                for place, team in enumerate(order, 1)
            ],
        )

    def stage(self) -> Stage:
        """How far the contest is."""
        return Stage(self._contest()["contest_stage"]["S"])

    def begin(self) -> None:
        """Let a contest that is open begin."""
        self._turn_to(Stage.BEGUN, "contest_stage = :open", {":open": text(Stage.OPEN)})

    def end(self, ruled: int) -> None:
        """Let the contest be over, unless more than `ruled` rulings were made in it."""
        self._turn_to(Stage.OVER, "ruled <= :ruled", {":ruled": number(ruled)})

    def _turn_to(self, stage: Stage, condition: str, values: "dict[str, Value]") -> None:
        if self.stage() is stage:
            return
        try:
            move = "SET contest_stage = :next"
            self._table.update(self._key, move, condition, {":next": text(stage), **values})
        except Unmet:
            return

    def rule(self, ruling: Ruling) -> None:
        """Keep a ruling in place of an earlier one; a contest that was over goes on."""
        item = {
            **self._at(f"ruling#{ruling.pairing}"),
            "winner": text(ruling.winner),
            "reason": text(ruling.reason),
            "ruled_at": text(datetime.now(UTC).isoformat()),
        }
        counted = self._update(
            "SET contest_stage = :begun, ruled = ruled + :one",
            {":begun": text(Stage.BEGUN), ":one": number(1)},
        )
        self._table.write([self._put(item), counted])

    def rulings(self) -> dict[str, Ruling]:
        """The rulings by pairing."""
        found = [
            Ruling(item["sk"]["S"].partition("#")[2], item["winner"]["S"], item["reason"]["S"])
            for item in self._under("ruling#")
        ]
        return {ruling.pairing: ruling for ruling in found}

    def ruled(self) -> int:
        """How often a ruling was made."""
        return int(self._contest()["ruled"]["N"])

    def paused(self) -> bool:
        """Whether no match is to begin."""
        return self._contest()["is_paused"]["BOOL"]

    def pause(self, *, on: bool) -> None:
        """Let no match begin, or let them begin again."""
        set_ = "SET is_paused = :on"
        self._table.update(self._key, set_, "attribute_exists(pk)", {":on": {"BOOL": on}})

    def keep(self, results: Iterable[Result]) -> None:
        """Keep how the contest stands, in place of how it stood; what has not changed is left."""
        before = {item["sk"]["S"]: item["result_json"]["S"] for item in self._under("result#")}
        after = {
            f"result#{place:05}": encode_result(result) for place, result in enumerate(results)
        }
        writes = [
            self._put({**self._at(place), "result_json": text(body)})
            for place, body in after.items()
            if before.get(place) != body
        ]
        writes += [self._delete(self._at(place)) for place in before.keys() - after.keys()]
        for first in range(0, len(writes), _TRANSACTION):
            self._table.write(writes[first : first + _TRANSACTION])

    def results(self) -> list[Result]:
        """How the contest stood last, the pairings in their order."""
        return [decode_result(item["result_json"]["S"]) for item in self._under("result#")]

    def add_meeting(self, meeting: Meeting) -> None:
        """Keep a match of practice that has ended, by its number."""
        at = self._at(f"meeting#{meeting.number:07}")
        self._table.put({**at, "meeting_json": text(encode_meeting(meeting))})

    def meetings(self) -> list[Meeting]:
        """The matches of practice that have ended, by their numbers."""
        return [decode_meeting(item["meeting_json"]["S"]) for item in self._under("meeting#")]

    def add_standing(self, standing: Standing) -> None:
        """Keep ratings, by how many matches made them."""
        at = self._at(f"standing#{standing.played:07}")
        self._table.put({**at, "standing_json": text(encode_standing(standing))})

    def standings(self) -> list[Standing]:
        """The ratings over time, the oldest first."""
        return [decode_standing(item["standing_json"]["S"]) for item in self._under("standing#")]

    # --- items -----------------------------------------------------------------------------

    def _item_of(self, team: Entrant, seed: int) -> "dict[str, Value]":
        return {
            **self._at(f"team#{team.name}"),
            "team_id": text(team.id),
            "seed": number(seed),
            "team_ha1": text(team.ha1),
            **({} if team.strategy is None else {"strategy": text(team.strategy)}),
        }

    def _contest(self) -> "Item":
        item = self._table.get(self._key)
        if item is None:
            raise ConfigError(f"The contest {self._name} is not in the stack any more.")
        return item

    def _at(self, sort: str) -> "dict[str, Value]":
        return key(f"contest#{self._name}", sort)

    def _under(self, prefix: str) -> "Iterator[Item]":
        return self._table.under(f"contest#{self._name}", prefix)

    def _change_teams(
        self,
        update: str,
        values: "dict[str, Value]",
        condition: str,
        others: "list[TransactWriteItemTypeDef]",
    ) -> None:
        """Write the others if the contest is as the condition says; raises `Conflict`."""
        counted = self._update(update, {**values, ":open": text(Stage.OPEN)}, condition)
        try:
            self._table.write([counted, *others])
        except Unmet:
            told = "The teams were changed by somebody else, or the contest has begun."
            raise Conflict(told) from None

    def _update(
        self, update: str, values: "dict[str, Value]", condition: str = "attribute_exists(pk)"
    ) -> "TransactWriteItemTypeDef":
        return {
            "Update": {
                "TableName": self._table.name,
                "Key": self._key,
                "UpdateExpression": update,
                "ConditionExpression": condition,
                "ExpressionAttributeValues": values,
            }
        }

    def _put(self, item: "dict[str, Value]", *, fresh: bool = False) -> "TransactWriteItemTypeDef":
        if not fresh:
            return {"Put": {"TableName": self._table.name, "Item": item}}
        only = "attribute_not_exists(pk)"
        return {"Put": {"TableName": self._table.name, "Item": item, "ConditionExpression": only}}

    def _delete(self, at: "dict[str, Value]") -> "TransactWriteItemTypeDef":
        return {"Delete": {"TableName": self._table.name, "Key": at}}


def _player(team: Entrant) -> "dict[str, Value]":
    """What the arena's book has of a team."""
    return {
        **key(PLAYERS, team.id),
        "player_name": text(team.name),
        "player_ha1": text(team.ha1),
    }


def _team(item: "Item") -> Entrant:
    strategy = item["strategy"]["S"] if "strategy" in item else None
    name = item["sk"]["S"].partition("#")[2]
    return Entrant(item["team_id"]["S"], name, item["team_ha1"]["S"], strategy)

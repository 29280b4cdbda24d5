"""What directs an arena in the cloud, as its environment describes it.

| variable            | means                                          |
|---------------------|------------------------------------------------|
| CARDSHARP_STORE     | dynamodb:TABLE, the arena's                    |
| CARDSHARP_QUEUE     | the URL of the SQS queue of its ticks          |
| CARDSHARP_KEEP_DAYS | as the arena has it                            |
"""

from collections.abc import Mapping
from functools import cache

from cardsharp.cloud.clock import SystemClock
from cardsharp.cloud.dynamodb_table import DynamoTable
from cardsharp.cloud.sqs import SqsQueue
from cardsharp.contest.kept import ContestsKept
from cardsharp.deadmansdraw.arena.assembly import KEEP_DAYS, STORE, referee_of
from cardsharp.deadmansdraw.arena.ticks import Tick, Ticks
from cardsharp.deadmansdraw.contest.office import Office
from cardsharp.deadmansdraw.contest.tables import ArenaTables
from cardsharp.deadmansdraw.contest.ticking import Ticking
from cardsharp.keep.dynamodb import DynamoKeep


def direct(environment: Mapping[str, str], body: str | None, holder: str) -> bool:
    """Do what is due at the tick of a message, or at the schedule's; whether more ticks follow.

    Raises:
        ConfigError: the environment names no table.
        Malformed: the message is no tick.
        StoreError: the table or the queue failed.
    """
    names = ("CARDSHARP_STORE", "CARDSHARP_QUEUE", KEEP_DAYS)
    work = ticking(*(environment.get(name, "") for name in names))
    return work.look(holder) if body is None else work.tick(Tick.parse(body).ticket, holder)


@cache
def ticking(store: str, queue: str, keep_days: str) -> Ticking:
    """The work of the ticks of an arena; it may remember what cannot change."""
    referee = referee_of({STORE: store, KEEP_DAYS: keep_days})
    table = DynamoTable(store.partition(":")[2])
    contests = ContestsKept(DynamoKeep(table.name, SystemClock()))
    ticks = Ticks(table, SqsQueue(queue), queue)
    return Ticking(ticks, referee, ArenaTables(Office(referee, table)), contests.under_way)

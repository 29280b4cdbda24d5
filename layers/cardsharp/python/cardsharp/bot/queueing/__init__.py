"""Messages of the match queue, orders of an operator, and a queue in memory.

Look first at `MatchMessage`, which names a match that may need a worker. `Order` is the base of
what an operator can ask a game for.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.bot.queueing.memory_queue import MemoryQueue, get_queue, register_queue
    from cardsharp.bot.queueing.messages import (
        MatchMessage,
        parse_match_message,
        records_in_queue_event,
    )
    from cardsharp.bot.queueing.orders import OperatorOrder

__all__ = (
    "MatchMessage",
    "MemoryQueue",
    "OperatorOrder",
    "get_queue",
    "parse_match_message",
    "records_in_queue_event",
    "register_queue",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "MatchMessage": "messages",
        "MemoryQueue": "memory_queue",
        "OperatorOrder": "orders",
        "get_queue": "memory_queue",
        "parse_match_message": "messages",
        "records_in_queue_event": "messages",
        "register_queue": "memory_queue",
    },
)

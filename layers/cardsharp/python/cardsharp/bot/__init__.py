"""A bot that plays matches of any game: it takes a match, plays it and hands it over.

Look first at `Bot`, which runs one session on a match, and at `BotMatch`, the protocol that a game
implements. `MatchSession` plays turn by turn, and `LeaseKeeper` explains why every action meets
the state on which it was decided. `MatchDispatcher` puts matches without a worker on the queue.
"""

from typing import TYPE_CHECKING

from cardsharp.core.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from cardsharp.bot.bootstrap import build_dispatcher, build_queue
    from cardsharp.bot.bot import Bot
    from cardsharp.bot.bot_match import BotMatch, BotTurn, NextRead, Observation
    from cardsharp.bot.duplicate_bot import DuplicateBotDetector
    from cardsharp.bot.fair_semaphore import FairSemaphore
    from cardsharp.bot.lease_keeper import LeaseKeeper
    from cardsharp.bot.lease_observer import LeaseObserver
    from cardsharp.bot.match_dispatcher import MatchDispatcher
    from cardsharp.bot.match_session import MatchSession
    from cardsharp.bot.service_seats import JoinGameOrder, SeatTakingBot, ServiceSeat
    from cardsharp.bot.session_result import SessionResult
    from cardsharp.bot.settings import WorkerSettings
    from cardsharp.bot.timing import DEFAULT_TIMING, SessionTiming

__all__ = (
    "DEFAULT_TIMING",
    "Bot",
    "BotMatch",
    "BotTurn",
    "DuplicateBotDetector",
    "FairSemaphore",
    "JoinGameOrder",
    "LeaseKeeper",
    "LeaseObserver",
    "MatchDispatcher",
    "MatchSession",
    "NextRead",
    "Observation",
    "SeatTakingBot",
    "ServiceSeat",
    "SessionResult",
    "SessionTiming",
    "WorkerSettings",
    "build_dispatcher",
    "build_queue",
)

__getattr__ = lazy_exports(
    __name__,
    {
        "DEFAULT_TIMING": "timing",
        "Bot": "bot",
        "BotMatch": "bot_match",
        "BotTurn": "bot_match",
        "DuplicateBotDetector": "duplicate_bot",
        "FairSemaphore": "fair_semaphore",
        "JoinGameOrder": "service_seats",
        "LeaseKeeper": "lease_keeper",
        "LeaseObserver": "lease_observer",
        "MatchDispatcher": "match_dispatcher",
        "MatchSession": "match_session",
        "NextRead": "bot_match",
        "Observation": "bot_match",
        "SeatTakingBot": "service_seats",
        "ServiceSeat": "service_seats",
        "SessionResult": "session_result",
        "SessionTiming": "timing",
        "WorkerSettings": "settings",
        "build_dispatcher": "bootstrap",
        "build_queue": "bootstrap",
    },
)

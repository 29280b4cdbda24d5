"""Events, contexts and settings for calling the handlers directly."""

from datetime import timedelta
from pathlib import Path

from cardsharp.bot.queueing.messages import MatchMessage
from cardsharp.core.clock import SystemClock
from cardsharp.core.queue import Message
from cardsharp_tools.local_cloud.lambda_events import Event, LocalLambdaContext, sqs_event
from support.arena_server import ALICE, PASSWORDS

EVENTS = Path(__file__).parents[2] / "events"  # one real sample event a case


def invocation_context(seconds: float = 60) -> LocalLambdaContext:
    """Return the context of an invocation that may take that many seconds."""
    return LocalLambdaContext("function", timedelta(seconds=seconds), SystemClock())


def match_event(*bodies: str) -> Event:
    """Return the SQS event that delivers these messages; their ids are "0", "1", ..."""
    sent_at = SystemClock().now()
    messages = [
        Message(body, str(index), f"receipt-{index}", 1, sent_at)
        for index, body in enumerate(bodies)
    ]
    return sqs_event(messages, sent_at)


def match_message_body(match_id: str) -> str:
    """Return the body of a message that names a match."""
    return MatchMessage(match_id=match_id).to_json


def alice_settings(url: str) -> dict[str, str]:
    """Return the settings of a bot that plays as Alice at an arena."""
    return {
        "CARDSHARP_ARENA_URL": url,
        "CARDSHARP_USER": ALICE,
        "CARDSHARP_PASSWORD": PASSWORDS[ALICE],
        "CARDSHARP_PACE_SECONDS": "0.2",
        "CARDSHARP_WATCH_SECONDS": "0.1",
    }

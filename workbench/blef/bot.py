"""What is new of our bot's seat in a game of Blef, told as it comes."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field

from cardsharp.access import Limits
from cardsharp.blef.actions import LOST
from cardsharp.blef.client import BlefClient
from cardsharp.cloud.ports import Body, MatchLog
from workbench.show.lookup import data_folder, open_to_read

_ONCE = Limits(attempts=1)


def check_there(url: str, game: str) -> None:
    """Look at a game once, before anybody waits for what is none.

    Raises:
        ArenaError: it is not there, or nothing that speaks our API is.
    """
    with BlefClient(url, _ONCE) as client:
        client.glance(game)


@dataclass
class News:
    """Tells what is new of a seat: the moves with our reasons, the hands after each round."""

    log: MatchLog
    match_id: str
    tell: Callable[[Mapping[str, object]], None]
    told: set[int] = field(default_factory=set)

    def glance(self) -> bool:
        """Tell what is new; True when the game has ended."""
        record = self.log.match(self.match_id)
        for move in self.log.moves(self.match_id):
            if move.facts is not None and move.sequence not in self.told:
                self.told.add(move.sequence)
                self.tell(told_of(move.facts, move.intent))
        if record is None or record.outcome is None:
            return False
        self.tell(record.outcome)
        return True


def told_of(facts: Body, intent: Body | None) -> dict[str, object]:
    """What happened, with the reason of a move of ours; none for one that came differently."""
    if intent is None or intent["actionId"] != facts["actionId"]:
        return dict(facts)
    return {**facts, "reason": intent["reason"]}


def in_words(news: Mapping[str, object]) -> str:
    """A piece of news as a line."""
    if "result" in news:
        if news["result"] == "unknown":
            return f"No seat for us: {news.get('reason')}."
        winner = news.get("winnerName")
        known = f"{winner} has won." if winner else "We left the table."
        return "We have won!" if news["result"] == "won" else known
    if news["actionId"] == LOST:
        hands = news.get("hands")
        shown = hands.items() if isinstance(hands, dict) else ()
        told = "; ".join(f"{name} {', '.join(cards)}" for name, cards in shown)
        return f"round {news['round']}: {news['player']} loses. {told}"
    reason = f"   ({news['reason']})" if "reason" in news else ""
    return f"round {news['round']}: {news['player']}: {news['action']}{reason}"


def open_archive(store: str | None) -> AbstractContextManager[MatchLog]:
    """The match log that our bot writes where nothing else is said, or the one of that name."""
    return open_to_read(store or f"sqlite:{data_folder() / 'blef.db'}", "cardsharp blef bot")

"""The recorded requests of the real client, and what really happened in those deals."""

from dataclasses import dataclass
from functools import cache

from cardsharp.euchre.actions import PASS, Action, Bid, Defend, Discard, Play
from cardsharp.euchre.cards import SUITS
from support.recorded import Json, recording

DECISIONS = {"suit", "alone", "card", "info"}
"""The fields of an answer that are no echo."""


@dataclass(frozen=True)
class Recorded:
    """A request, and how the recorded server answered it."""

    method: str
    target: str
    body: str | None
    answer: Json

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    @property
    def decides(self) -> bool:
        return self.method == "GET"

    @property
    def query(self) -> dict[str, list[int]]:
        """The numbers of the query string."""
        pairs = [pair.split("=") for pair in self.target.partition("?")[2].split("&")]
        names = dict.fromkeys(name for name, _ in pairs if name != "token")
        return {name: [int(value) for key, value in pairs if key == name] for name in names}

    @property
    def action(self) -> Action:
        """What was answered."""
        if self.path == "/bid":
            suit = self.answer["suit"]
            return Bid(suit, self.answer["alone"]) if suit in SUITS else Bid()
        card = self.answer["card"]
        return Discard(card) if self.path == "/swap" else Play(card)


@dataclass(frozen=True)
class Truth:
    """What really happened in a deal."""

    cards: tuple[int, ...]
    raw: Json

    @property
    def actions(self) -> tuple[Action, ...]:
        """All decisions in order; the discard and the defences are put where they were."""
        raw = self.raw
        # The suit of a pass is -1, that of a seat that was not asked less.
        bids = [Bid(suit, alone) if suit >= 0 else PASS for suit, alone in raw["bids"] if suit > -2]
        laid = [] if raw["discard"] is None else [Discard(raw["discard"])]
        asked = [(raw["caller_pos"] + n) % 4 for n in (1, 3)] if raw["go_alone"] else []
        answers = [Defend(alone=seat == raw["def_pos"]) for seat in asked]
        defences = answers[:1] if answers and answers[0].alone else answers
        plays = [card for trick in raw["tricks"] for _, card in trick["plays"] if card is not None]
        return (*bids, *laid, *defences, *map(Play, plays))


@cache
def requests() -> tuple[Recorded, ...]:
    """All requests in the order in which they were sent."""
    return tuple(
        Recorded(line["method"], line["target"], line.get("body_raw"), line["response"])
        for line in recording("euchre_traffic")
        if line["kind"] == "http"
    )


@cache
def truths() -> dict[tuple[int, ...], Truth]:
    """The deals by their cards."""
    found = (
        Truth((*(card for hand in raw["hands"] for card in hand), raw["turn"], *raw["buries"]), raw)
        for raw in recording("euchre_traffic")
        if raw["kind"] == "truth"
    )
    return {truth.cards: truth for truth in found}


def assert_echo(recorded: Recorded, answer: Json) -> None:
    """Every field that was sent back comes back, with value and type."""
    for name, value in recorded.answer.items():
        if name not in DECISIONS:
            assert answer.get(name) == value, (recorded, answer)
            assert type(answer[name]) is type(value), (recorded, answer)


def assert_legal(recorded: Recorded, answer: Json) -> None:
    """The client would accept the decision."""
    query = recorded.query
    if recorded.path == "/bid":
        turned = query["turnCard"][0] % 4
        # The client says 1 or 2; its recorded answers prove it right.
        first = query["round"] == [1]
        legal = {-1, turned} if first else {-1, *SUITS} - {turned}
        assert answer["suit"] in legal, (recorded, answer)
        assert isinstance(answer["alone"], bool)
    else:
        offered = query.get("playableCards") or query.get("swappableCards") or []
        assert answer["card"] in offered, (recorded, answer)
        assert type(answer["card"]) is int

"""A new entry of `adaptive`'s known opponents, from the matches of a match log."""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import cardsharp.deadmansdraw.strategies as package
from cardsharp.cloud.ports import MatchReader
from cardsharp.deadmansdraw.actions import END_TURN, EffectType
from cardsharp.deadmansdraw.briefing import last_matches
from cardsharp.deadmansdraw.strategies import build
from cardsharp.deadmansdraw.strategies.adaptive_belief import (
    GENERAL,
    MOST_LYING,
    MOST_MISSES,
    Entry,
    Tastes,
    count_of,
    has_gain,
    known_opponents,
    parse_entries,
)
from cardsharp.deadmansdraw.strategies.adaptive_seen import Seen, decisions_of
from cardsharp.deadmansdraw.strategies.choices import choices, lying
from cardsharp.errors import ConfigError
from cardsharp.replay import header_of

ENTRIES = Path(package.__file__).with_name("adaptive_opponents.json")
MODELS = ("champion", "third", "steady", "draw-2", "draw-3", "draw-4")
"""Strategies of ours with which an opponent is compared."""

ALIKE = 0.8
"""From this share of equal decisions on, the weights against a model of ours are used."""

_LOOKED_THROUGH = 10_000


@dataclass(frozen=True, slots=True)
class Study:
    """What the log says of an opponent.

    `agreement` is by model and by `stops` or `answers`: the share of equal decisions.
    """

    entry: Entry
    matches: int
    decisions: int
    agreement: dict[str, dict[str, float]]


def study(log: MatchReader, opponent: str, most: int) -> Study:
    """The study of a player, by id or name, from its last `most` finished matches.

    Raises:
        ConfigError: the log has no finished match against that player, or two players of it.
        StoreError: the log cannot be read.
    """
    player, practice = find_player(log, opponent)
    past = last_matches(log, player, most, _LOOKED_THROUGH, practice)
    if not past:
        raise ConfigError(f"The log has no finished match against '{opponent}'.")
    seen = [one for match in past for one in decisions_of(match)]
    agreement = {name: _agreement(name, seen) for name in MODELS}
    return Study(_entry(opponent, seen, agreement), len(past), len(seen), agreement)


def find_player(log: MatchReader, opponent: str) -> tuple[str, str | None]:
    """The id of the player of that id or name, and which strategy of ours it was, if one.

    A strategy that `cardsharp play` played against is found by the strategy's name.

    Raises:
        ConfigError: there is none, or more than one.
    """
    found = set[tuple[str, str | None]]()
    for record in log.matches(limit=_LOOKED_THROUGH):
        header = header_of(record)
        for index, player in enumerate(header.players):
            by_strategy = header.opponent == opponent and index not in header.seats
            by_name = header.opponent is None and opponent in (player, header.name(index))
            if by_strategy or by_name:
                found.add((player, header.opponent))
    if len(found) != 1:
        many = "several players are" if found else "no player is"
        raise ConfigError(f"In this log {many} called '{opponent}'; give a player's id.")
    return found.pop()


def write_entry(entry: Entry, file: Path = ENTRIES) -> None:
    """Put an entry into a file of known opponents, in place of one of the same name."""
    text = file.read_text(encoding="utf-8") if file.exists() else ENTRIES.read_text("utf-8")
    kept = [one for one in parse_entries(text) if one.name != entry.name]
    lines = ",\n".join(f"    {json.dumps(_document(one))}" for one in (*kept, entry))
    file.write_text(f'{{\n  "version": 1,\n  "opponents": [\n{lines}\n  ]\n}}\n', encoding="utf-8")


def _document(entry: Entry) -> dict[str, object]:
    return {
        "name": entry.name,
        "weights": entry.weights,
        "stops": entry.stops,
        "answers": entry.answers,
    }


def _agreement(name: str, seen: Sequence[Seen]) -> dict[str, float]:
    """How often the strategy `name` decides likewise, by stops and answers."""
    model, equal = build(name, Random(0)), defaultdict[str, list[bool]](list)
    for one in seen:
        what = "stops" if one.position.pending is None else "answers"
        equal[what].append(model.decide(one.position).action == one.action)
    return {what: sum(found) / len(found) for what, found in equal.items()}


def _entry(name: str, seen: Sequence[Seen], agreement: dict[str, dict[str, float]]) -> Entry:
    likest = {
        what: max(MODELS, key=lambda model: agreement[model].get(what, 0.0))
        for what in ("stops", "answers")
    }
    shares = {what: agreement[model].get(what, 0.0) for what, model in likest.items()}
    exact = {what: shares[what] >= 1 - MOST_MISSES and likest[what] != "steady" for what in likest}
    return Entry(
        name=name,
        weights=_weights_against(likest["answers"]) if min(shares.values()) >= ALIKE else GENERAL,
        stops=likest["stops"] if exact["stops"] else _habits(seen),
        answers=likest["answers"] if exact["answers"] else _tastes(seen),
    )


def _weights_against(model: str) -> str:
    found = (entry.weights for entry in known_opponents() if entry.stops == model)
    return next(found, GENERAL)


def _habits(seen: Sequence[Seen]) -> tuple[tuple[float, float], ...]:
    """The chances to stop; what was never seen counts as even."""
    counts = [[[0, 0], [0, 0]] for _ in range(MOST_LYING)]
    for one in seen:
        if one.position.pending is None:
            place = counts[count_of(one.position) - 1][has_gain(one.position)]
            place[one.action == END_TURN] += 1
    shares = [tuple(_share(stops, goes + stops) for goes, stops in row) for row in counts]
    return tuple((without, with_gain) for without, with_gain in shares)


def _tastes(seen: Sequence[Seen]) -> Tastes:
    """How often each suit was chosen where it could be; of an Oracle, what was done with it."""
    could, did = defaultdict[tuple[str, str], int](int), defaultdict[tuple[str, str], int](int)
    for one in seen:
        pending, response = one.position.pending, one.action.response
        if pending is None:
            continue
        card = None if response is None else response.card
        effect = pending.effect_type.value
        if pending.effect_type is EffectType.ORACLE:
            kind = "bust" if pending.cards[0].suit in lying(one.position) else "safe"
            could[effect, kind] += 1
            did[effect, kind] += card is not None
            could[effect, "end"] += card is None
            did[effect, "end"] += one.action == END_TURN
            continue
        for offered in choices(one.position):
            could[effect, offered.suit] += 1
            did[effect, offered.suit] += offered == card
    tastes: Tastes = {}
    for (effect, suit), number in could.items():
        tastes.setdefault(effect, {})[str(suit)] = _share(did[effect, suit], number)
    return tastes


def _share(part: int, whole: int) -> float:
    return round((part + 0.5) / (whole + 1), 4)

"""Contests that were held as far as a test wants, without an arena."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from secrets import token_hex

from cardsharp.contest import pairing as contest_pairing
from cardsharp.contest.entries import Entrant, Meeting, Settings, Standing, result_of
from cardsharp.contest.facts import Facts
from cardsharp.contest.ladder import next_pairings
from cardsharp.contest.pairing import Decision, Score
from cardsharp.contest.practice import ratings_of_meetings
from cardsharp.contest.records import Records
from cardsharp.contest.sqlite import found_in
from cardsharp.deadmansdraw.actions import DRAW, END_TURN, respond
from cardsharp.deadmansdraw.arena.creation import parse_wish
from cardsharp.deadmansdraw.arena.match import Match, Origin, Pairing, act, begin
from cardsharp.deadmansdraw.arena.randomness import Randomness
from support.arena import HandClock

NAMES = (
    "Weekend Bananas", "Pathormous Almasastic", "Goal Diggers", "AAACreaticeCoders", "Kraken Kids",
    "Sword & Sons", "Null Pointers", "Stack Overboard", "The Map Reducers", "Anchors Away",
    "Oracle of Delphi", "Segfault Sailors", "Mermaid Hunters", "Git Happens", "Dead Reckoning",
    "Ctrl Alt Defeat", "Cannon Fodder", "Bits & Pirates", "Hook Line Sinker", "Treasure Trove",
)  # fmt: skip


def teams(number: int) -> list[str]:
    """So many names, all different."""
    return [
        NAMES[place] if place < len(NAMES) else f"{NAMES[place % len(NAMES)]} {place // len(NAMES)}"
        for place in range(number)
    ]


def held(
    folder: Path,
    names: Sequence[str],
    decided: int | None = None,
    settings: Settings | None = None,
    upset: Iterable[str] = (),
) -> tuple[Records, dict[str, Match]]:
    """A contest of which so many pairings are decided, all without a number; and what runs.

    The better seed wins as a rule, but the other one in the pairings `upset`.
    """
    settings = settings or Settings("cup", matches=7, most=21, seed="secret")
    records = found_in(folder, settings)
    for place, name in enumerate(names):
        records.add(Entrant(f"{place:024x}", name, token_hex(16)))
    chance, running = Random(len(names)), dict[str, Match]()
    ends: dict[str, Decision] = {}
    facts: dict[str, list[Facts]] = {}
    records.begin()
    ids = [team.id for team in records.teams()]
    while waiting := [one for one in settings.form.pairings(ids, ends) if one.key not in ends]:
        if decided is not None and len(ends) >= decided:
            break
        pairing = waiting[0]
        played = facts.setdefault(pairing.key, [])
        odds = 0.2 if pairing.key in upset else 0.8
        while (end := _decision(settings, pairing, played)) is None:
            played.append(_facts(chance, odds))
        ends[pairing.key] = end
    results = []
    for number, pairing in enumerate(settings.form.pairings(ids, ends)):
        played = facts.get(pairing.key, [])
        if pairing.key not in ends and number % 3:
            played = [_facts(chance, 0.6) for _ in range(chance.randrange(settings.matches - 1))]
        matches = [f"{number:012x}{place:012x}" for place in range(len(played))]
        if pairing.key not in ends and number % 3:
            match = table(f"{number:012x}{len(played):012x}", pairing, chance)
            matches.append(match.id)
            running[match.id] = match
        results.append(
            result_of(pairing, ends.get(pairing.key), tuple(played), tuple(matches), None)
        )
    records.keep(results)
    return records, running


def table(match_id: str, pairing: contest_pairing.Pairing, chance: Random) -> Match:
    """A match in which some turns were played."""
    clock, origin = HandClock(), Origin(HandClock().now)
    seed = str(chance.randrange(10**6))
    params = parse_wish({"timeout": 7, "randomSeed": seed}, seed).params
    players = Pairing(pairing.teams, None)
    match, _ = begin(match_id, players, params, Randomness.FAIR, origin)
    for _ in range(chance.randrange(40)):
        clock.turn(timedelta(seconds=1))
        effect = match.state.pending
        action = DRAW if chance.random() < 0.6 else END_TURN
        if not match.state.play_area:
            action = DRAW
        if effect is not None:
            action = respond(effect.effect_type)
        if match.finished or effect is not None:
            break
        match, _ = act(match, action, Origin(clock.now))
    return match


def _decision(
    settings: Settings, pairing: contest_pairing.Pairing, played: list[Facts]
) -> Decision | None:
    scores = [Score(facts.points, facts.winner) for facts in played]
    return settings.rules.decision(pairing, scores)


def _facts(chance: Random, odds: float) -> Facts:
    winner = int(chance.random() > odds)
    high, low = 40 + chance.randrange(25), 15 + chance.randrange(25)
    points = (high, low) if winner == 0 else (low, high)
    busts = (chance.randrange(5), chance.randrange(5))
    late = (int(chance.random() < 0.05), int(chance.random() < 0.05))
    return Facts(points, winner, 42 + 60 * chance.random(), 24 + chance.randrange(12), busts, late)


def practised(records: Records, matches: int) -> None:
    """Practice of so many matches, in which the better seed wins more often."""
    chance, ids = Random(matches), [team.id for team in records.teams()]
    known: list[contest_pairing.Pairing] = []
    meetings: list[Meeting] = []
    start = datetime(2026, 11, 20, 12, tzinfo=UTC)
    while len(meetings) < matches:
        for pairing in next_pairings(ids, known, (), {}):
            known.append(pairing)
            number = len(known)
            seeds = [ids.index(team) for team in pairing.teams]
            facts = _facts(chance, 0.5 + 0.45 * (seeds[1] - seeds[0]) / len(ids))
            at = start + timedelta(minutes=number)
            meeting = Meeting(number, pairing.teams, f"{number:024x}", at, facts)
            meetings.append(meeting)
            records.add_meeting(meeting)
            if number % len(ids) == 0:
                records.add_standing(Standing(number, at, ratings_of_meetings(meetings)))

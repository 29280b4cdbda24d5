"""Positions of random deals (`games.euchre.leak_probe`), and complete deals."""

from collections.abc import Iterator, Sequence
from random import Random

from cardsharp.games.euchre.actions import DecisionType
from cardsharp.games.euchre.position import EuchrePosition, current_position
from cardsharp.games.euchre.public_state import pending_decision
from cardsharp.games.euchre.rules import Deal, start
from cardsharp.games.euchre.simulation import EuchreSimulation, SeatedDeal, SimulatedEuchreMatch
from cardsharp.games.euchre.strategies import build
from cardsharp_tools.games.euchre.leak_probe import random_deal_states
from cardsharp_tools.lab.game_adapter import LabPlayer
from cardsharp_tools.lab.match_runner import StrategyPlayer


def random_decision_states(seed: int | str) -> Iterator[Deal]:
    """Yield the states of random deals in which a player has to decide."""
    return (
        deal
        for deal in random_deal_states(Random(seed))
        if pending_decision(deal.public_state) is not None
    )


def random_positions(count: int, *decision_types: DecisionType) -> list[EuchrePosition]:
    """Return the positions of that many random deals with these types of decision, or any type."""
    candidates = (
        current_position(deal) for seed in range(count) for deal in random_decision_states(seed)
    )
    return [
        position
        for position in candidates
        if not decision_types or position.decision_type in decision_types
    ]


def strategy_player(strategy: str) -> LabPlayer:
    """Return the strategy as a player in this process."""
    return StrategyPlayer(EuchreSimulation(), build(strategy))


def play_deal(cards: tuple[int, ...], players: Sequence[LabPlayer]) -> Deal:
    """Play a single deal to its end; `players` are by seat, from the dealer's left."""
    euchre, match = EuchreSimulation(), SimulatedEuchreMatch(SeatedDeal(start(cards), 0))
    while not match.finished:
        seat = euchre.current_seat(match)
        assert seat is not None
        match = euchre.apply_action(match, players[seat].decide(match), Random(0))
    for player in {id(seat_player): seat_player for seat_player in players}.values():
        player.on_match_end(match)
    return match.finished[0].deal

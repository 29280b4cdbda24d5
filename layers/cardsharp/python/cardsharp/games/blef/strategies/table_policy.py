"""Mixed strategy of our tables in rounds of two remaining players."""

from cardsharp.games.blef.position import BlefPosition
from cardsharp.games.blef.strategies import large_round_policy
from cardsharp.games.blef.strategies.bet_probabilities import card_bits
from cardsharp.games.blef.strategies.equilibrium import (
    CHECK_ONLY,
    SOLVED_CARD_COUNTS,
    MixedStrategy,
    solved_mixed_strategy,
    starter_and_other_card_counts,
)
from cardsharp.games.blef.strategies.policy_tables import (
    POLICY_PROBABILITY_SCALE,
    PolicyTables,
    load_policy_tables,
)
from cardsharp.games.blef.strategies.table_lookup import NO_BET, TableShape


def mixed_strategy(position: BlefPosition) -> MixedStrategy | None:
    """Return the mixed strategy for up to eighteen cards in play, or None without a table."""
    if starter_and_other_card_counts(position) in SOLVED_CARD_COUNTS:
        return solved_mixed_strategy(position)
    return look_up_trained_tables(load_policy_tables(), position) or large_round_strategy(
        large_round_policy.load_large_round_policy(), position
    )


def look_up_trained_tables(
    policy_tables: PolicyTables, position: BlefPosition
) -> MixedStrategy | None:
    """Return the mixed strategy of the trained tables, or None without an entry."""
    cards = starter_and_other_card_counts(position)
    if cards not in policy_tables.rounds:
        return None
    shape, role = TableShape(cards), len(position.history) % 2
    bets = (NO_BET, NO_BET, NO_BET, *(move.action for move in position.history))
    if not {NO_BET, *shape.bets}.issuperset(bets[-2:]):
        return CHECK_ONLY if bets[-1] not in shape.bets else None
    row_number = shape.row_index(role, (card.value for card in position.hand), bets[-3:])
    row = policy_tables.rounds[cards][role].find_row_choices(row_number)
    mixed = tuple(
        (shape.action_of_choice(choice), scaled_probability / POLICY_PROBABILITY_SCALE)
        for choice, scaled_probability in row.items()
    )
    return mixed or (CHECK_ONLY if position.history else None)


def large_round_strategy(
    policy: large_round_policy.LargeRoundPolicy, position: BlefPosition
) -> MixedStrategy | None:
    """Return the mixed strategy in a large round, or None without an entry."""
    cards = starter_and_other_card_counts(position)
    player_cards, opponent_cards = cards[::-1] if len(position.history) % 2 else cards
    if (player_cards, opponent_cards) not in policy.rounds:
        return None
    bets = (NO_BET, NO_BET, *(move.action for move in position.history))
    return large_round_policy.mixed_strategy(
        policy, (player_cards, opponent_cards), card_bits(position.hand), bets[-2:]
    )

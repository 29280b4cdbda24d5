"""Start of an arena match from a stored position; the player to decide begins."""

from dataclasses import replace
from random import SystemRandom

from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.arena.randomness import RandomnessMethod, new_seed, seeded_draws
from cardsharp.games.deadmansdraw.arena_bot.wire import MatchParams
from cardsharp.games.deadmansdraw.game import GAME
from cardsharp.store.match_log import MatchStatus
from cardsharp_tools.game_rooms.match_branch import parse_branch_point


def _find_first_player_seed() -> str:
    """Return a seed with which the first player begins, at the original arena and at ours."""
    while True:
        seed = new_seed()
        if not any(seeded_draws(seed, randomness).randrange(2) for randomness in RandomnessMethod):
            return seed


def start_params_from_match(match_ref: str) -> MatchParams:
    """Return match parameters that start at `MATCH@STEP`; without a step at the first decision.

    The first bank is that of the player who begins.

    If the match is over, the draw pile is the real one; otherwise it is a possible one. Raises
    `ConfigError` if there is no such decision, or if an effect is pending there.
    """
    branch_point = parse_branch_point(match_ref, GAME)
    branch_point = replace(
        branch_point, same_cards=branch_point.record.status is MatchStatus.FINISHED
    )
    table = branch_point.restore_actions_and_state(SystemRandom())[1].state
    if table.pending_effect is not None:
        raise ConfigError(
            f"At step {branch_point.step_number} the {table.pending_effect.effect_type} "
            "waits for its "
            "answer, and no match can begin there; choose a step at which a card was drawn or "
            "the turn ended."
        )
    player_bank, opponent_bank = (
        tuple(table.banks[seat]) for seat in (branch_point.seat, 1 - branch_point.seat)
    )
    return MatchParams(
        play_area=table.play_area,
        draw_pile=table.draw_pile,
        discard_pile=table.discard_pile,
        banks=(player_bank, opponent_bank),
        random_seed=_find_first_player_seed(),
    )

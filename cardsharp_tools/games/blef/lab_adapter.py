"""Lab adapter of Blef: it stores the matches of the lab."""

from collections.abc import Iterator

from cardsharp.games.blef.game import GAME
from cardsharp.games.blef.history.log_records import (
    SEQUENCES_PER_ROUND,
    intent_body,
    move_facts_by_sequence,
)
from cardsharp.games.blef.position import position_of
from cardsharp.store.match_log import Body, MatchRecord, MatchStatus, MoveRecord
from cardsharp_tools.lab.game_adapter import LAB_WORKER, LabAdapter, LabMatch


class BlefLabAdapter(LabAdapter):
    """Lab adapter of Blef, which stores matches as the bot does."""

    def match_records(self, match: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """Yield the game move by move, with the hands at the end of each round."""
        twice = {name for name in match.names if match.names.count(name) > 1}
        player_names = [f"{n} {seat}" if n in twice else n for seat, n in enumerate(match.names, 1)]
        intents, facts = dict[int, Body | None](), dict[int, Body]()
        for played in match.actions:  # under the number that its move has in the log
            live, decided = played.state.current_round, played.decision
            position, name = position_of(live, live.turn), match.names[live.turn]
            intents[SEQUENCES_PER_ROUND * live.number + len(live.history)] = (
                decided and intent_body(position, decided, match.started_at, LAB_WORKER, name)
            )
        for over in match.final_state.closed_rounds:
            hands = {
                player_names[seat]: [str(card) for card in over.hands[seat]]
                for seat in over.active_seats
            }
            bets = [(player_names[move.seat], move.action) for move in over.history]
            facts |= move_facts_by_sequence(over.number, bets, hands)
        moves = [MoveRecord(at, intents.get(at), facts[at]) for at in sorted(facts)]
        won = match.final_state.current_round.winner in match.seats
        outcome = {
            "result": "won" if won else "lost",
            "winner": match.final_state.current_round.winner,
            "winnerName": player_names[match.final_state.current_round.winner],
            "turns": len(match.final_state.closed_rounds),
        }
        header = {**match.header(GAME.name), "names": player_names}
        yield (
            MatchRecord(
                match.match_id, MatchStatus.FINISHED, match.started_at, header, outcome=outcome
            ),
            moves,
        )

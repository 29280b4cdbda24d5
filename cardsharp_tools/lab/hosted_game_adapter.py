"""Lab adapter of hosted games: it stores matches like those that the bot has played."""

from collections.abc import Callable, Iterator
from functools import partial

from cardsharp.play.decision_runner import intent_body
from cardsharp.play.strategy import Decision, Option
from cardsharp.server.hosted.bot_match import outcome_of
from cardsharp.server.hosted.hosted_game import HostedGame, load_hosted_game
from cardsharp.server.hosted.wire import HostedGameBody, HostedPastMoveBody
from cardsharp.store.match_log import Body, MatchRecord, MatchStatus, MoveRecord
from cardsharp_tools.executors.external_program import ProtocolCodec
from cardsharp_tools.lab.game_adapter import LAB_WORKER, LabAdapter, LabMatch


def hosted_lab_adapter_factory(folder: str) -> Callable[[], LabAdapter]:
    """Return a factory for the lab adapter of the hosted game in a folder."""
    return partial(HostedLabAdapter, load_hosted_game(folder))


def hosted_program_codec(folder: str) -> ProtocolCodec:
    """Return the codec for external programs of the hosted game in a folder.

    Positions and actions are encoded as in the game's JSON.
    """
    codec, rules = load_hosted_game(folder).json_codecs, load_hosted_game(folder).build_rules()
    return ProtocolCodec(
        position=codec.positions.dump,
        actions=rules.legal_actions_in,
        action=codec.actions.dump,
        decision=Decision,
        option=Option,
    )


class HostedLabAdapter(LabAdapter):
    """Lab adapter of a hosted game, which can store matches."""

    def __init__(self, game: HostedGame) -> None:
        self._house, self._rules = game, game.build_rules()

    def match_records(self, match: LabMatch) -> Iterator[tuple[MatchRecord, list[MoveRecord]]]:
        """Yield the complete match, with its outcome if it has ended."""
        codec, rules = self._house.json_codecs, self._rules
        dump = codec.positions.dump
        ends = [step.state for step in match.actions[1:]] + [match.final_state]
        bodies, moves = [], []
        for move_index, (step, end) in enumerate(zip(match.actions, ends, strict=False)):
            seat = rules.current_seat(step.state) or 0
            body = HostedPastMoveBody(
                seat=seat,
                player=match.names[seat],
                action=codec.actions.dump(step.action),
                words=str(step.action),
                seen=dump(rules.position_for(step.state, seat)),
                left=dump(rules.position_for(end, match.seats[0])),
            )
            intent: Body | None = None
            if step.decision is not None:
                intent = dict(
                    intent_body(step.decision, match.started_at, LAB_WORKER, match.names[seat])
                )
                intent |= {"seat": seat, "turn": move_index + 1, "position": body.seen}
            bodies.append(body)
            moves.append(MoveRecord(move_index, intent, body.model_dump()))
        is_over = rules.current_seat(match.final_state) is None
        final = HostedGameBody(
            seats=len(match.names),
            names=list(match.names),
            count=len(moves),
            moves=bodies,
            turn=None,
            position=None,
            options=[],
            gains=list(rules.returns(match.final_state)) if is_over else None,
            shown=[body.seen for body in bodies],
        )
        status = MatchStatus.FINISHED if is_over else MatchStatus.RUNNING
        header, outcome = match.header(self._house.game.name), outcome_of(final, match.names[0])
        yield MatchRecord(match.match_id, status, match.started_at, header, outcome=outcome), moves

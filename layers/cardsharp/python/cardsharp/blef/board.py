"""How the table of Blef is drawn: what was said in the round, and the hands that are known."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from cardsharp.blef.actions import name_of
from cardsharp.blef.position import Position
from cardsharp.replay import Header, Step, Thought
from cardsharp.viewer.board import NOTHING, SYMBOLS, Board, Parts, french, row, texts, titled


def _parts(header: Header, step: Step) -> Parts:
    """What was said and shown; a hand that only we know is there where we decided."""
    state = step.state
    hands = state.get("hands")
    shown = hands if isinstance(hands, Mapping) else {}
    return {
        "middle": titled(f"Round {step.turn}", _said(state.get("history"))),
        "hands": _hands({str(name): texts(cards) for name, cards in shown.items()})
        or _own(header, step),
    }


def _seen(names: Sequence[str], you: int, seen: Position) -> Parts:
    """The same out of a position, with how many cards everybody has."""
    hands = {names[seat]: [*map(str, hand)] for seat, hand in enumerate(seen.hands) if hand}
    state = {
        "history": [(names[seat], name_of(bet)) for seat, bet in seen.history],
        "hands": hands if seen.round().is_over else {},
    }
    own = Thought(position={"hand": [*map(str, seen.hand)]})
    step = Step(sequence=0, turn=seen.number, seat=you, happened="", state=state, ours=own)
    return {"players": _players(names, seen), **_parts(Header(players=tuple(names)), step)}


def _players(names: Sequence[str], seen: Position) -> Markup:
    """Everybody with as many backs as cards; whoever has none is out."""
    back, line = (
        Markup('<span class="back"></span>'),
        Markup("<li{}><b>{}</b>{}<span>{}</span></li>"),
    )
    return Markup('<ul class="players">{}</ul>').format(
        NOTHING.join(
            line.format(
                Markup(' class="now"') if seat == seen.turn else "",
                names[seat],
                back * number,
                f"{number} of {seen.max_cards}" if number else "out",
            )
            for seat, number in enumerate(seen.n_cards)
        )
    )


def _said(history: object) -> Markup:
    line = Markup("<li><b>{}</b> {}</li>")
    told = history if isinstance(history, list | tuple) else ()
    if not told:
        return Markup('<p class="quiet">Nobody has bet yet.</p>')
    return Markup('<ol class="said">{}</ol>').format(
        NOTHING.join(line.format(name, action) for name, action in told)
    )


def _hands(hands: Mapping[str, list[str]]) -> Markup:
    return NOTHING.join(
        Markup('<section class="hand">{}</section>').format(
            titled(name, row(map(french, cards), "no cards"))
        )
        for name, cards in hands.items()
    )


def _own(header: Header, step: Step) -> Markup:
    """Our hand, where the step is a decision of ours."""
    seen = step.ours.position if step.ours is not None else None
    if not seen:
        return Markup('<p class="quiet">The hands are shown when the round is over.</p>')
    return _hands({header.name(step.seat): texts(seen.get("hand"))})


BOARD = Board(SYMBOLS, _parts, _seen, recap="hands")

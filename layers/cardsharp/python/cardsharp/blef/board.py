"""How the table of Blef is drawn: what was said in the round, and the hands that are known."""

from collections.abc import Mapping

from markupsafe import Markup

from cardsharp.replay import Header, Step
from cardsharp.viewer.board import NOTHING, Board, Parts, row, texts, titled
from cardsharp.viewer.french import SYMBOLS, french


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


def _said(history: object) -> Markup:
    line = Markup("<li><b>{}</b> {}</li>")
    told = history if isinstance(history, list | tuple) else ()
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


BOARD = Board(SYMBOLS, _parts)

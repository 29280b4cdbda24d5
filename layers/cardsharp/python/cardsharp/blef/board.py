"""How the table of Blef is drawn: what was said in the round, and the hands that are known."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from cardsharp.blef.actions import name_of
from cardsharp.blef.position import Position
from cardsharp.replay import Header, Step
from cardsharp.viewer.board import NOTHING, SYMBOLS, Board, Parts, french, row, texts, titled


def _parts(header: Header, step: Step) -> Parts:
    """What was said and shown; a hand that only we know is there where we decided."""
    hands, thought = step.state.get("hands"), step.ours
    shown = hands if isinstance(hands, Mapping) else {}
    if not shown and thought is not None and thought.position:
        shown = {header.name(step.seat): thought.position.get("hand")}
    return _drawn(step.turn, step.state.get("history"), shown)


def _seen(names: Sequence[str], you: int, seen: Position) -> Parts:
    """The same out of a position, with how many cards everybody has."""
    said = [(names[seat], name_of(bet)) for seat, bet in seen.history]
    hands = {names[seat]: hand for seat, hand in enumerate(seen.hands) if hand}
    drawn = _drawn(seen.number, said, hands or {names[you]: seen.hand})
    return {"players": _players(names, seen), **drawn}


def _drawn(number: int | None, said: object, hands: Mapping[str, object]) -> Parts:
    """A round; no hands are shown before it is over."""
    told = "The hands are shown when the round is over."
    shown = NOTHING.join(
        Markup('<section class="hand">{}</section>').format(
            titled(str(name), row(map(french, texts(cards)), "no cards"))
        )
        for name, cards in hands.items()
    )
    return {
        "middle": titled(f"Round {number}", _said(said)),
        "hands": shown or Markup('<p class="quiet">{}</p>').format(told),
    }


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


BOARD = Board(SYMBOLS, _parts, _seen, recap="hands")

"""Board renderer of Blef: the bets of the round, and the hands that are visible."""

from collections.abc import Mapping

from markupsafe import Markup

from cardsharp.analysis.replay import Header, ReplayStep
from cardsharp.games.blef.table_renderer import render_table
from cardsharp.pages.board_renderer import (
    EMPTY_MARKUP,
    SYMBOLS,
    BoardParts,
    BoardRenderer,
    parse_french_card,
    render_part,
    render_row,
    to_text_list,
)


def _render_step(header: Header, step: ReplayStep) -> BoardParts:
    """Render the bets and hands of a step; a hand that only we know appears in our decisions."""
    hands, thought = step.public_state.get("hands"), step.decision
    visible_hands = hands if isinstance(hands, Mapping) else {}
    if not visible_hands and thought is not None and thought.position:
        visible_hands = {header.player_name(step.seat): thought.position.get("hand")}
    return _render_round(step.turn, step.public_state.get("history"), visible_hands)


def _render_round(
    round_number: int | None, history: object, hands: Mapping[str, object]
) -> BoardParts:
    """Render a round. Its hands are shown only after its end, so `hands` is empty before."""
    notice = "The hands are shown when the round is over."
    hands_markup = EMPTY_MARKUP.join(
        Markup('<section class="hand">{}</section>').format(
            render_part(
                str(name), render_row(map(parse_french_card, to_text_list(cards)), "no cards")
            )
        )
        for name, cards in hands.items()
    )
    return {
        "middle": render_part(f"Round {round_number}", _render_bets(history)),
        "hands": hands_markup or Markup('<p class="quiet">{}</p>').format(notice),
    }


def _render_bets(history: object) -> Markup:
    line = Markup("<li><b>{}</b> {}</li>")
    bets = history if isinstance(history, list | tuple) else ()
    if not bets:
        return Markup('<p class="quiet">Nobody has bet yet.</p>')
    return Markup('<ol class="said">{}</ol>').format(
        EMPTY_MARKUP.join(line.format(name, action) for name, action in bets)
    )


BOARD_RENDERER = BoardRenderer(SYMBOLS, _render_step, render_table, round_summary_part="hands")

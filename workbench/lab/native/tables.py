"""Positions as the compiled engine sees them."""

from ctypes import Structure, c_bool, c_double, c_int, c_int8, c_int16, c_uint64

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, Effect, EffectType, respond
from cardsharp.deadmansdraw.cards import SERVER_DECK, SUIT_ORDER
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.search.sets import NO_CARD, NUMBER, SUITS, bits_of

MOST_LYING = SUITS
DRAW_NUMBER, END_NUMBER = 60, 61
SUIT_NUMBER: dict[str, int] = {str(suit): number for number, suit in enumerate(SUIT_ORDER)}


class NativeTable(Structure):
    """`Table` of core.h."""

    _fields_ = (
        ("bank", c_uint64 * 2),
        ("pile", c_uint64),
        ("discard", c_uint64),
        ("area", c_uint64),
        ("entered", (c_int8 * SUITS) * 2),
        ("suits_held", c_int8 * 2),
        ("lying", c_int8 * MOST_LYING),
        ("lying_count", c_int8),
        ("lying_when_drawn", c_int8),
        ("player", c_int8),
        ("pending", c_int8),
        ("owed", c_int8),
        ("offer", c_int8 * 3),
        ("offered", c_int8),
        ("known_top", c_int8),
        ("refused", c_int8),
        ("turn", c_int16),
        ("over", c_bool),
    )


class NativeOption(Structure):
    """`Option` of search.h."""

    _fields_ = (("action", c_int), ("value", c_double))


def table_of(position: Position) -> NativeTable:
    """The table of an ordinary position with at most ten cards in the play area.

    `lying_when_drawn` is left at the size of the play area.
    """
    table = NativeTable()
    me, area = position.me, [NUMBER[card] for card in position.play_area]
    for player, bank in enumerate(position.banks):
        table.bank[player] = bits_of(bank)
        table.suits_held[player] = len(bank.suits)
        for place, suit in enumerate(bank.suits):
            table.entered[player][place] = SUIT_NUMBER[suit]
    table.pile, table.discard = bits_of(position.unseen), bits_of(position.discard_pile)
    table.area = bits_of(position.play_area)
    table.lying[: len(area)] = area
    table.lying_count = table.lying_when_drawn = len(area)
    table.player, table.turn = me, position.turn
    table.known_top = NO_CARD if position.known_top is None else NUMBER[position.known_top]
    table.refused = NO_CARD if position.refused is None else NUMBER[position.refused]
    _set_pending(table, position.pending)
    return table


def _set_pending(table: NativeTable, pending: Effect | None) -> None:
    if pending is None:
        table.pending = -1
        return
    table.pending, table.owed = SUIT_NUMBER[pending.effect_type], pending.kraken_count
    if pending.effect_type is EffectType.MAP:
        table.offered = len(pending.cards)
        table.offer[: len(pending.cards)] = [NUMBER[card] for card in pending.cards]


def action_of(number: int, pending: Effect | None) -> Action:
    """The action that the engine's number stands for."""
    if number == DRAW_NUMBER:
        return DRAW
    if number == END_NUMBER:
        return END_TURN
    if pending is None:
        raise ValueError(f"No effect is pending that {number} could answer.")
    card = SERVER_DECK[number] if number < DRAW_NUMBER else None
    return respond(pending.effect_type, card)

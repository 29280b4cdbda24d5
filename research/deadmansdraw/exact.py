"""The exact solver of the engine: what each option is worth where few cards are unseen."""

import ctypes
from collections.abc import Mapping

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.deadmansdraw.cards import SERVER_DECK, SUIT_ORDER, Suit
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.search.sets import NO_CARD, NUMBER, bits_of
from research.compiling import declare, members
from research.deadmansdraw.engine import Engine, Twin

_NOTHING, _DRAW, _END_TURN, _OFFER = -1, 60, 61, 3
MOST_OPTIONS, _MOST_LOSSES = 12, 500


class _Table(ctypes.Structure):
    """`Table` of core.h."""

    _fields_ = members(
        ".QQQ...bbbbb.bbbh?",
        "bank pile discard area entered suits_held lying lying_count lying_when_drawn player "
        "pending owed offer offered known_top refused turn over",
        ctypes.c_uint64 * 2,
        ctypes.c_int8 * len(SUIT_ORDER) * 2,
        ctypes.c_int8 * 2,
        ctypes.c_int8 * len(SUIT_ORDER),
        ctypes.c_int8 * _OFFER,
    )


class COption(ctypes.Structure):
    """`Option` of search.h."""

    _fields_ = members("id", "action value")


class Lost(ctypes.Structure):
    """`Loss` of loss.c: what a decision lost, below 0 where the solver gave up."""

    _fields_ = members("iiiidq?", "left pending chosen best loss nodes sampled")

    @property
    def kind(self) -> str:
        """The effect that was answered, or whether it was to draw or to stop."""
        return "draw or stop" if self.pending == _NOTHING else SUIT_ORDER[self.pending].value


class Solver:
    """The exact solver, with what it remembers from one position to the next.

    `bits` is the size of the memory, 96 bytes times 2 to its power; a position is given up after
    `nodes` that had to be worked out. A bonus that may turn out in more than `picks` ways is not
    exact: so many are tried. Nor is it with `groups`: of the cards of a suit that a Map may offer,
    one stands for all that bring something.
    """

    def __init__(
        self,
        engine: Engine,
        *,
        bits: int = 20,
        nodes: int = 10_000_000,
        picks: float = 1e9,
        groups: bool = False,
    ) -> None:
        self.library = engine.library
        declare(self.library.exact_free, "P")
        declare(self.library.exact_weigh, "PPP")
        declare(self.library.losses_of, "PPPQQiPi")
        declare(self.library.perfect_new, "PPi", "P")
        self.address = declare(self.library.exact_new, "iqd?", "P")(bits, nodes, picks, groups)

    def __del__(self) -> None:
        self.library.exact_free(self.address)

    def weigh(self, position: Position) -> Mapping[Action, float] | None:
        """Each option of the player to act with its chance; None where it gave up.

        Refusing an Oracle's card is left out, being never better than stopping or taking.
        """
        options, table = (COption * MOST_OPTIONS)(), table_of(position)
        number = self.library.exact_weigh(self.address, ctypes.byref(table), options)
        found = {_action(position, one.action): one.value for one in options[:number]}
        return found or None

    def player(self, before: Twin, cards: int) -> Twin:
        """Who plays perfectly from so many unseen cards on, and as another `before`.

        It must be kept no longer than the solver.
        """
        return Twin(self.library.perfect_new(self.address, before.policy, cards))

    def losses(self, player: Twin, seed: int, number: int, cards: int) -> list[Lost]:
        """What a player loses in that match against itself, from so many unseen cards on."""
        found = (Lost * _MOST_LOSSES)()
        policy = player.policy
        there = self.library.losses_of(
            *(policy, policy, self.address, seed, number, cards, found, _MOST_LOSSES)
        )
        return found[:there]


def _action(position: Position, code: int) -> Action:
    if code in (_DRAW, _END_TURN) or position.pending is None:
        return DRAW if code == _DRAW else END_TURN
    return respond(position.pending.effect_type, SERVER_DECK[code])


def table_of(position: Position) -> _Table:
    """The position as the engine has it."""
    pending, known = position.pending, position.known_top
    kind = None if pending is None else pending.effect_type
    area = [NUMBER[card] for card in position.play_area]
    offer = [NUMBER[card] for card in pending.cards] if pending and kind is EffectType.MAP else []
    table = _Table(
        bank=(bits_of(position.own), bits_of(position.other)),
        pile=bits_of(position.unseen),
        discard=bits_of(position.discard_pile),
        area=bits_of(position.play_area),
        lying_count=len(area),
        pending=_NOTHING if kind is None else SUIT_ORDER.index(Suit(kind.value)),
        owed=0 if pending is None else pending.kraken_count,
        offered=len(offer),
        known_top=NO_CARD if known is None else NUMBER[known],
    )
    for side, bank in enumerate((position.own, position.other)):
        suits = list(dict.fromkeys(SUIT_ORDER.index(card.suit) for card in bank))
        table.entered[side][: len(suits)] = suits
        table.suits_held[side] = len(suits)
    table.lying[: len(area)] = area
    table.offer[: len(offer)] = offer
    return table

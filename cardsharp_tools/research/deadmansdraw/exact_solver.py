"""Exact solver of the compiled engine: the value of each option with few unseen cards."""

import ctypes
from collections.abc import Mapping

from cardsharp.games.deadmansdraw.actions import DRAW, END_TURN, Action, EffectType, respond
from cardsharp.games.deadmansdraw.cards import SERVER_DECK, SUIT_ORDER, Suit
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies.search.card_sets import (
    CARD_NUMBER,
    NO_CARD,
    card_set,
)
from cardsharp_tools.research.c_library import declare_function, struct_fields
from cardsharp_tools.research.deadmansdraw.native import NativeEngine, NativePlayer

_NOTHING, _DRAW, _END_TURN, _OFFER = -1, 60, 61, 3
MAX_OPTIONS, _MAX_LOSSES = 12, 500


class _Table(ctypes.Structure):
    """ctypes structure for `Table` of core.h."""

    _fields_ = struct_fields(
        ".QQQ...bbbbb.bbbh?",
        "bank pile discard area suit_order suit_counts area_cards area_size area_size_after_draw "
        "player pending kraken_draws offer offer_size known_top refused_card turn is_over",
        ctypes.c_uint64 * 2,
        ctypes.c_int8 * len(SUIT_ORDER) * 2,
        ctypes.c_int8 * 2,
        ctypes.c_int8 * len(SUIT_ORDER),
        ctypes.c_int8 * _OFFER,
    )


class NativeOption(ctypes.Structure):
    """ctypes structure for `Option` of search.h: an action and its value."""

    _fields_ = struct_fields("id", "action value")


class DecisionLoss(ctypes.Structure):
    """ctypes structure for `DecisionLoss` of decision_losses.c.

    `loss` is negative if the solver gave up.
    """

    _fields_ = struct_fields(
        "iiiidq?", "unseen_count pending action best_action loss nodes is_sampled"
    )

    @property
    def decision_kind(self) -> str:
        """Effect that was answered, or "draw or stop"."""
        return "draw or stop" if self.pending == _NOTHING else SUIT_ORDER[self.pending].value


class ExactSolver:
    """Exact solver with a cache that is kept between positions.

    The cache has 96 bytes times 2 to the power `bits`. A position is given up after `nodes`
    computed positions. A bonus that can turn out in more than `picks` ways is not exact: only that
    many are sampled. With `groups` the result is not exact either: of the cards of a suit that a
    Map may offer, one represents all that gain something.
    """

    def __init__(
        self,
        engine: NativeEngine,
        *,
        bits: int = 20,
        nodes: int = 10_000_000,
        picks: float = 1e9,
        groups: bool = False,
    ) -> None:
        self.library = engine.library
        declare_function(self.library.exact_free, "P")
        declare_function(self.library.exact_options, "PPP")
        declare_function(self.library.measure_decision_losses, "PPPQQiPi")
        declare_function(self.library.perfect_new, "PPi", "P")
        self.address = declare_function(self.library.exact_new, "iqd?", "P")(
            bits, nodes, picks, groups
        )

    def __del__(self) -> None:
        self.library.exact_free(self.address)

    def option_values(self, position: DeadMansDrawPosition) -> Mapping[Action, float] | None:
        """Return each option's win probability, or None if the solver gave up.

        Refusing an Oracle's card is left out: it is never better than stopping or taking the card.
        """
        options, table = (NativeOption * MAX_OPTIONS)(), to_native_position(position)
        option_count = self.library.exact_options(self.address, ctypes.byref(table), options)
        values = {
            _decode_action(position, option.action): option.value
            for option in options[:option_count]
        }
        return values or None

    def perfect_endgame_player(
        self, opening_player: NativePlayer, max_unseen_cards: int
    ) -> NativePlayer:
        """Return a player that plays perfectly with at most `max_unseen_cards` unseen cards.

        Until then it plays as `opening_player`. It must not outlive the solver.
        """
        return NativePlayer(
            self.library.perfect_new(self.address, opening_player.policy, max_unseen_cards)
        )

    def measure_decision_losses(
        self, player: NativePlayer, seed: int, pair_number: int, max_unseen_cards: int
    ) -> list[DecisionLoss]:
        """Play a match of a player against itself, and return the losses of its decisions.

        Only decisions with at most `max_unseen_cards` unseen cards are measured.
        """
        losses = (DecisionLoss * _MAX_LOSSES)()
        policy = player.policy
        loss_count = self.library.measure_decision_losses(
            *(
                policy,
                policy,
                self.address,
                seed,
                pair_number,
                max_unseen_cards,
                losses,
                _MAX_LOSSES,
            )
        )
        return losses[:loss_count]


def _decode_action(position: DeadMansDrawPosition, action_code: int) -> Action:
    if action_code in (_DRAW, _END_TURN) or position.pending is None:
        return DRAW if action_code == _DRAW else END_TURN
    return respond(position.pending.effect_type, SERVER_DECK[action_code])


def to_native_position(position: DeadMansDrawPosition) -> _Table:
    """Return the position as the engine's structure."""
    pending, top_card = position.pending, position.known_top
    kind = None if pending is None else pending.effect_type
    area = [CARD_NUMBER[card] for card in position.play_area]
    offer = (
        [CARD_NUMBER[card] for card in pending.cards] if pending and kind is EffectType.MAP else []
    )
    table = _Table(
        bank=(card_set(position.own_bank), card_set(position.opponent_bank)),
        pile=card_set(position.unseen),
        discard=card_set(position.discard_pile),
        area=card_set(position.play_area),
        area_size=len(area),
        pending=_NOTHING if kind is None else SUIT_ORDER.index(Suit(kind.value)),
        kraken_draws=0 if pending is None else pending.remaining_draws,
        offer_size=len(offer),
        known_top=NO_CARD if top_card is None else CARD_NUMBER[top_card],
    )
    for side, bank in enumerate((position.own_bank, position.opponent_bank)):
        suits = list(dict.fromkeys(SUIT_ORDER.index(card.suit) for card in bank))
        table.suit_order[side][: len(suits)] = suits
        table.suit_counts[side] = len(suits)
    table.area_cards[: len(area)] = area
    table.offer[: len(offer)] = offer
    return table

"""Position of a player: the public information on a match, and all that a strategy sees.

Everything here comes from public facts: the table, and the events that both players see
(docs/spec/arena.md section 6). The draw pile is the set of the cards that are not seen elsewhere;
only a top card that an Oracle has shown is known. The random seed of the match cannot get here,
because the wire models do not read it.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import NamedTuple

from cardsharp.games.deadmansdraw.actions import Action, EffectType, PendingEffect
from cardsharp.games.deadmansdraw.cards import (
    SERVER_DECK,
    Bank,
    Card,
    anchored_count,
    cards_without,
    deck_sort_key,
    lowest_of_each_suit,
)
from cardsharp.games.deadmansdraw.events import (
    CardDrawn,
    CardPlaced,
    CardRemovedFromBank,
    Comment,
    EffectAnswered,
    EffectPending,
    Event,
    TurnEnded,
)
from cardsharp.games.deadmansdraw.rules import legal_actions
from cardsharp.games.deadmansdraw.state import State, TurnStartPiles

KRAKEN_CARRYING_EFFECTS = (EffectType.CANNON, EffectType.ORACLE)
"""Effects after whose answer a player must still make the draws that a Kraken demanded."""


@dataclass(frozen=True, slots=True)
class PastMove:
    """Recorded move: the events that an action of a player, or the server, caused."""

    turn: int
    player: int | None
    events: tuple[Event, ...]

    @property
    def timed_out_player(self) -> int | None:
        """Player whose turn the arena ended with this move because the time was up, else None.

        Only in this case does a move of a player contain a comment (docs/spec/arena.md section 5).
        """
        return self.player if any(isinstance(event, Comment) for event in self.events) else None


@dataclass(frozen=True, slots=True)
class DeadMansDrawPosition:
    """Position: the table as far as the player at `seat`, who is to act, may know it.

    `unseen` holds the cards that can be in the draw pile, in deck order and not in the pile's.
    `known_top` is the next card if an Oracle has shown it. `refused_oracle_card` is the Oracle's
    card that the player refused with the previous action of this turn.
    """

    seat: int
    banks: tuple[Bank, Bank]
    play_area: tuple[Card, ...]
    pending: PendingEffect | None
    discard_pile: tuple[Card, ...]
    unseen: tuple[Card, ...]
    known_top: Card | None = None
    refused_oracle_card: Card | None = None
    turn: int = 1
    history: tuple[PastMove, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        """Return the public information in a line or two, by the names of the fields."""
        effect = self.pending
        visible_fields: dict[str, Iterable[object]] = {
            "own": self.own_bank,
            "other": self.opponent_bank,
            "play_area": self.play_area,
            "pending": () if effect is None else (effect.effect_type, *effect.cards),
            "known_top": () if self.known_top is None else (self.known_top,),
        }
        parts = (
            f", {name}={' '.join(map(str, cards)) or None}"
            for name, cards in visible_fields.items()
        )
        return f"Position(turn={self.turn}{''.join(parts)})"

    @property
    def own_bank(self) -> Bank:
        """Bank of the player to act."""
        return self.banks[self.seat]

    @property
    def opponent_bank(self) -> Bank:
        """Bank of the opponent."""
        return self.banks[1 - self.seat]

    def to_state(self, draw_pile: Sequence[Card] | None = None) -> State:
        """Return the table as the rules need it.

        `draw_pile` is a guess of the pile's order, the next card first. Without a guess the pile is
        the known top card, followed by the unseen cards in deck order.
        """
        if draw_pile is None:
            draw_pile, top = self.unseen, self.known_top
            if top is not None:
                draw_pile = (top, *(card for card in self.unseen if card != top))
        pile = tuple(draw_pile)
        return State(
            banks=self.banks,
            draw_pile=pile,
            discard_pile=self.discard_pile,
            turn_player=self.seat,
            turn_start=TurnStartPiles(pile, self.discard_pile, self.banks),
            play_area=self.play_area,
            pending_effect=self.pending,
        )

    def legal_actions(self) -> tuple[Action, ...]:
        """Return the actions that the rules allow here."""
        return legal_actions(self.to_state())


class TurnResult(NamedTuple):
    """Result of a turn: True if it busted, and the cards that were drawn in it."""

    is_bust: bool
    cards: tuple[Card, ...]


def remaining_kraken_draws(effect: PendingEffect, draws: int) -> int:
    """Return the draws that a Kraken still demands once this effect is pending.

    Source: docs/spec/arena.md section 7.
    """
    if effect.effect_type is EffectType.KRAKEN:
        return effect.remaining_draws
    return draws if effect.effect_type in KRAKEN_CARRYING_EFFECTS else 0


class PublicInfoTracker:
    """Public information of a match, updated event by event.

    `last_turn_result` is the result of the last turn that ended, with its cards; a card that busted
    the turn is the last of them. The argument `draw_set` has the cards of the draw pile at the
    start in any order, `discard_pile` the discarded cards in order.
    """

    def __init__(
        self,
        draw_set: Iterable[Card] | None = None,
        discard_pile: Sequence[Card] = lowest_of_each_suit(SERVER_DECK),
        play_area: Sequence[Card] = (),
        banks: tuple[Bank, Bank] = (Bank(), Bank()),
    ) -> None:
        if draw_set is None:
            draw_set = cards_without(SERVER_DECK, tuple(discard_pile))
        self.unseen = dict.fromkeys(sorted(draw_set, key=deck_sort_key))
        self.discard_pile = list(discard_pile)
        self.play_area = list(play_area)
        self.banks = list(banks)
        self.pending: PendingEffect | None = None
        self.known_top: Card | None = None
        self.refused_oracle_card: Card | None = None
        self.last_turn_result: TurnResult | None = None
        self._kraken_draws = 0
        self._incoming_card: Card | None = None
        self._map_offer: tuple[Card, ...] = ()

    def copy(self) -> "PublicInfoTracker":
        """Return an independent tracker with the same information."""
        clone = copy(self)
        clone.unseen, clone.discard_pile = self.unseen.copy(), self.discard_pile.copy()
        clone.play_area, clone.banks = self.play_area.copy(), self.banks.copy()
        return clone

    def position_for(
        self, seat: int, turn: int, history: tuple[PastMove, ...]
    ) -> DeadMansDrawPosition:
        """Return the position of the player at `seat`, from the public information so far."""
        return DeadMansDrawPosition(
            seat=seat,
            banks=(self.banks[0], self.banks[1]),
            play_area=tuple(self.play_area),
            pending=self.pending,
            discard_pile=tuple(self.discard_pile),
            unseen=tuple(self.unseen),
            known_top=self.known_top,
            refused_oracle_card=self.refused_oracle_card,
            turn=turn,
            history=history,
        )

    def apply_move(self, move: PastMove) -> None:
        """Update the information by the events of one move."""
        self.refused_oracle_card = None
        for event in move.events:
            self.apply_event(event, move.player)

    def apply_event(self, event: Event, player: int | None) -> None:
        """Update the information by one event of a move of this player."""
        match event:
            case CardDrawn(card):
                self._incoming_card = card
                self.unseen.pop(card, None)
                self.known_top = self.refused_oracle_card = None
                self._kraken_draws = max(0, self._kraken_draws - 1)
                self.pending = None
            case CardPlaced(card):
                self.play_area.append(card)
                self._incoming_card = None
                self.pending = self._pending_kraken()
            case CardRemovedFromBank(card, owner):
                if card in self.banks[owner]:
                    self.banks[owner] = self.banks[owner].without(card)
            case EffectPending(effect):
                self._apply_effect(effect)
            case EffectAnswered():
                self._apply_answer(event)
            case TurnEnded():
                self._apply_turn_end(event, player)

    def _pending_kraken(self) -> PendingEffect | None:
        return (
            PendingEffect(EffectType.KRAKEN, (), self._kraken_draws) if self._kraken_draws else None
        )

    def _apply_effect(self, effect: PendingEffect) -> None:
        if effect.effect_type is EffectType.ORACLE:
            self.known_top = next(iter(effect.cards), None)
        elif effect.effect_type is EffectType.MAP:
            self._map_offer = effect.cards
            self._remove_from_discard_pile(effect.cards)
        self._kraken_draws = remaining_kraken_draws(effect, self._kraken_draws)
        self.pending = PendingEffect(effect.effect_type, effect.cards, self._kraken_draws)

    def _apply_answer(self, answer: EffectAnswered) -> None:
        if answer.effect_type == EffectType.ORACLE and answer.card is not None:
            return  # the effect stays pending until the next event, the draw of that card
        if answer.effect_type == EffectType.MAP:
            self.discard_pile += [card for card in self._map_offer if card != answer.card]
        elif answer.effect_type == EffectType.CANNON and answer.card is not None:
            self.discard_pile.append(answer.card)
        elif answer.effect_type == EffectType.ORACLE:
            self.refused_oracle_card = self.known_top
        if answer.effect_type not in KRAKEN_CARRYING_EFFECTS:
            self._kraken_draws, self._incoming_card = 0, answer.card
        self.pending = self._pending_kraken()

    def _apply_turn_end(self, event: TurnEnded, player: int | None) -> None:
        area, bonus = self.play_area, event.bonus or ()
        fallen = [] if self._incoming_card is None else [self._incoming_card]
        self.last_turn_result = TurnResult(not event.is_banked, (*area, *fallen))
        saved = len(area) if event.is_banked else anchored_count(area)
        if not event.is_banked and self._incoming_card is not None:
            self.discard_pile += [self._incoming_card, *area[saved:]]
        if player is not None:
            self.banks[player] = self.banks[player].with_cards((*area[:saved], *bonus))
        self._remove_from_discard_pile(bonus)
        self.play_area = []
        self.pending = self._incoming_card = self.refused_oracle_card = None
        self._kraken_draws = 0

    def _remove_from_discard_pile(self, removed_cards: tuple[Card, ...]) -> None:
        self.discard_pile = [card for card in self.discard_pile if card not in removed_cards]

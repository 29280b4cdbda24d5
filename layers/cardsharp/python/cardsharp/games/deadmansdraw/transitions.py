"""Transitions of a state: the steps that actions, effects and timeouts share.

Source: docs/spec/arena.md section 7.
"""

from collections.abc import Iterable
from dataclasses import replace

from cardsharp.errors import IllegalAction
from cardsharp.games.deadmansdraw.actions import (
    Action,
    ActionType,
    EffectResponse,
    EffectType,
    PendingEffect,
)
from cardsharp.games.deadmansdraw.cards import Bank, Card, Suit, anchored_count
from cardsharp.games.deadmansdraw.events import (
    CardDrawn,
    CardPlaced,
    CardRemovedFromBank,
    EffectAnswered,
    EffectPending,
    Event,
    MatchEnded,
    TurnDelta,
    TurnEnded,
    TurnStarted,
    delta_between_piles,
)
from cardsharp.games.deadmansdraw.state import CardPicker, State, TurnStartPiles

MATCH_IS_OVER = "No action possible on finished matches."  # in the arena's own words
MAP_OFFER_SIZE = 3
KRAKEN_DRAWS = 2


def sword_targets(own_bank: Bank, opponent_bank: Bank) -> tuple[Card, ...]:
    """Return the cards that a Sword may take.

    They are the opponent's top cards of suits that the player's own bank lacks. Suits in the play
    area are allowed.
    """
    return tuple(card for card in opponent_bank.top_cards() if card.suit not in own_bank.suits)


def effect_targets(pending: PendingEffect, own_bank: Bank, opponent_bank: Bank) -> tuple[Card, ...]:
    """Return the cards with which a Hook, Cannon, Sword or Map may be answered."""
    match pending.effect_type:
        case EffectType.HOOK:
            return own_bank.top_cards()
        case EffectType.CANNON:
            return opponent_bank.top_cards()
        case EffectType.SWORD:
            return sword_targets(own_bank, opponent_bank)
        case _:
            return pending.cards


def autopick(
    pending: PendingEffect, own_bank: Bank, opponent_bank: Bank, play_area: Iterable[Card]
) -> Card:
    """Return the card of the server's autopick: the first that does not bust, else the first."""
    cards = effect_targets(pending, own_bank, opponent_bank)
    # As on the server, only the answers to Hook and Map avoid a bust.
    if pending.effect_type in (EffectType.HOOK, EffectType.MAP):
        lying = {card.suit for card in play_area}
        cards = tuple(card for card in cards if card.suit not in lying) or cards
    return cards[0]


class StateBuilder:
    """Builder of the state after one action, with the events of that action."""

    def __init__(self, state: State, pick_cards: CardPicker) -> None:
        if state.outcome is not None:
            raise IllegalAction(MATCH_IS_OVER)
        self.chance = pick_cards
        self.events: list[Event] = []
        self.banks = list(state.banks)
        self.draw_pile = list(state.draw_pile)
        self.discard_pile = list(state.discard_pile)
        self.play_area = list(state.play_area)
        self.player = state.turn_player
        self.pending = state.pending_effect
        self.between_turns = state.is_between_turns
        self.turn_start = state.turn_start
        self.last_delta = state.last_delta
        self.timeouts = state.timeout_count
        self.outcome: MatchEnded | None = None

    # --- start and end of a turn ---------------------------------------------------------

    def begin_turn_if_ended(self) -> None:
        """Begin the next player's turn if the last one has ended."""
        if not self.between_turns:
            return
        self.player = 1 - self.player
        self.between_turns = False
        self.turn_start = TurnStartPiles(
            tuple(self.draw_pile), tuple(self.discard_pile), (self.banks[0], self.banks[1])
        )
        self.events.append(TurnStarted(self.last_delta))

    def finish(self) -> tuple[State, tuple[Event, ...]]:
        # The server ends the match only here: an empty draw pile with a pending effect still waits
        # for the answer, and what the turn has collected is banked first.
        """Return the new state and the events; turn and match end if the draw pile is empty."""
        if not self.draw_pile and self.pending is None and self.outcome is None:
            if not self.between_turns:
                self.bank_turn()
            self.end_match(terminated=False)
        state = State(
            banks=(self.banks[0], self.banks[1]),
            draw_pile=tuple(self.draw_pile),
            discard_pile=tuple(self.discard_pile),
            turn_player=self.player,
            turn_start=self.turn_start,
            play_area=tuple(self.play_area),
            pending_effect=self.pending,
            is_between_turns=self.between_turns,
            last_delta=self.last_delta,
            timeout_count=self.timeouts,
            outcome=self.outcome,
        )
        return state, tuple(self.events)

    def end_match(self, *, terminated: bool) -> None:
        """End the match by points."""
        scores = self.banks[0].score, self.banks[1].score
        winner = None if scores[0] == scores[1] else int(scores[1] > scores[0])
        self.outcome = MatchEnded(scores, winner, terminated)
        self.events.append(self.outcome)

    def bank_turn(self) -> None:
        """Bank the play area and end the turn."""
        self._end_turn(list(self.play_area), successful=True)

    def bust_turn(self, card: Card) -> None:
        """End the turn with a bust: only the cards before the Anchor are saved."""
        saved = anchored_count(self.play_area)
        self.discard_pile += [card, *self.play_area[saved:]]
        self._end_turn(self.play_area[:saved], successful=False)

    def _end_turn(self, collected: list[Card], *, successful: bool) -> None:
        bonus: tuple[Card, ...] | None = None
        if {Suit.CHEST, Suit.KEY} <= {card.suit for card in collected}:
            bonus = self._pick_discards(len(collected))
        self.banks[self.player] = self.banks[self.player].with_cards([*collected, *(bonus or ())])
        self.play_area = []
        self.pending = None
        self.between_turns = True
        turn_start = self.turn_start
        self.last_delta = TurnDelta(
            delta_between_piles(turn_start.draw_pile, self.draw_pile),
            delta_between_piles(turn_start.discard_pile, self.discard_pile),
            (
                delta_between_piles(turn_start.banks[0], self.banks[0]),
                delta_between_piles(turn_start.banks[1], self.banks[1]),
            ),
        )
        self.events.append(TurnEnded(successful, bonus, self.last_delta))

    def _pick_discards(self, max_count: int) -> tuple[Card, ...]:
        """Take up to `max_count` random cards from the discard pile."""
        count = min(max_count, len(self.discard_pile))
        picked = self.chance(tuple(self.discard_pile), count) if count else ()
        for card in picked:
            self.discard_pile.remove(card)
        return picked

    # --- actions ---------------------------------------------------------------------------

    def apply_action(self, action: Action) -> None:
        """Apply the action; raise `RulesError` if it is illegal."""
        match action.type:
            case ActionType.DRAW:
                self._check_pending_effect(EffectType.KRAKEN, EffectType.ORACLE)
                self.draw_card()
            case ActionType.END_TURN:
                self._check_pending_effect(EffectType.ORACLE)
                if not self.play_area:
                    raise IllegalAction("Cannot end turn with empty playarea.")
                self.bank_turn()
            case ActionType.RESPOND:
                self._respond(action.response, answers_pending=action.answers_pending_effects)

    def _check_pending_effect(self, *allowed: EffectType) -> None:
        if self.pending is not None and self.pending.effect_type not in allowed:
            raise IllegalAction(f"Respond to pending effect first: {self.pending.effect_type}")

    def draw_card(self) -> None:
        """Draw the next card, also for a pending Kraken or Oracle."""
        owed = max(0, self.pending.remaining_draws - 1) if self.pending else 0
        self.pending = None
        if not self.draw_pile:
            return
        card = self.draw_pile.pop(0)
        self.events.append(CardDrawn(card))
        self._place_card(card, owed)

    def _place_card(self, card: Card, kraken_draws: int) -> None:
        """Put `card` into the play area; a Kraken demands `kraken_draws` more draws after it."""
        if any(card.suit == placed.suit for placed in self.play_area):
            self.bust_turn(card)
            return
        self.play_area.append(card)
        self.events.append(CardPlaced(card))
        effect = self._trigger_effect(card, kraken_draws)
        if effect is not None:
            is_kraken = effect.effect_type is EffectType.KRAKEN
            self.events.append(
                EffectPending(effect if is_kraken else replace(effect, remaining_draws=0))
            )
        self.pending = effect or self._create_kraken_effect(kraken_draws)

    def _create_kraken_effect(self, draws: int) -> PendingEffect | None:
        draws = min(draws, len(self.draw_pile))
        return PendingEffect(EffectType.KRAKEN, (), draws) if draws else None

    def _trigger_effect(self, card: Card, kraken_draws: int) -> PendingEffect | None:
        """Return the effect that `card` leaves pending, None if it has nothing to act on.

        Hook, Map and Sword bring a card themselves and so end a Kraken's duty. Cannon and Oracle
        carry it along.
        """
        own_bank, opponent_bank = self.banks[self.player], self.banks[1 - self.player]
        effect: PendingEffect | None = None
        match card.suit:
            case Suit.HOOK if own_bank.stacks:
                effect = PendingEffect(EffectType.HOOK)
            case Suit.SWORD if sword_targets(own_bank, opponent_bank):
                effect = PendingEffect(EffectType.SWORD)
            case Suit.MAP if self.discard_pile:
                effect = PendingEffect(EffectType.MAP, self._pick_discards(MAP_OFFER_SIZE))
            case Suit.CANNON if opponent_bank.stacks:
                effect = PendingEffect(EffectType.CANNON, (), kraken_draws)
            case Suit.ORACLE if self.draw_pile:
                effect = PendingEffect(EffectType.ORACLE, (self.draw_pile[0],), kraken_draws)
            case Suit.KRAKEN:
                effect = self._create_kraken_effect(KRAKEN_DRAWS)
        return effect

    # --- answers -----------------------------------------------------------------------------

    def _respond(self, response: EffectResponse | None, *, answers_pending: bool) -> None:
        pending = self.pending
        if pending is None:
            if answers_pending and any(isinstance(event, EffectAnswered) for event in self.events):
                return
            raise IllegalAction("There is no pending effect to respond to.")
        if response is None or response.effect_type != pending.effect_type:
            raise IllegalAction(f"Respond to pending effect first: {pending.effect_type}")
        match pending.effect_type:
            case EffectType.KRAKEN:
                self.draw_card()
            case EffectType.ORACLE:
                self._answer_oracle(pending, response.card)
            case _:
                if response.card is None:
                    raise IllegalAction("Effect response must contain a card.")
                self._answer_with_card(pending, response.card)

    def _answer_oracle(self, pending: PendingEffect, card: Card | None) -> None:
        peeked = pending.cards[0]
        if card is not None and card != peeked:
            card_json = f'{{"suit":"{peeked.suit}","value":{peeked.value}}}'
            raise IllegalAction(
                "Inappropriate Card specified for effect response. Oracle peeked card "
                f"was: {card_json}."
            )
        self.events.append(EffectAnswered(EffectType.ORACLE, card))
        if card is None:
            self.pending = self._create_kraken_effect(pending.remaining_draws)
        else:
            self.draw_card()

    def _answer_with_card(self, pending: PendingEffect, card: Card) -> None:
        kind, owner = pending.effect_type, 1 - self.player
        if kind is EffectType.MAP:
            if card not in pending.cards:
                raise IllegalAction("Inappropriate Card specified for effect response")
        elif kind is EffectType.HOOK:
            owner = self.player
            self._require_top_card(owner, card, "Own Bank")
        else:
            self._require_top_card(owner, card, "Enemy Bank(s)")
            if kind is EffectType.SWORD and card.suit in self.banks[self.player].suits:
                raise IllegalAction("Sword: Player cannot pick a suit that owned already in bank.")
        self.events.append(EffectAnswered(kind, card))
        if kind is EffectType.MAP:
            self.discard_pile += [offered for offered in pending.cards if offered != card]
        else:
            self.banks[owner] = self.banks[owner].without(card)
            self.events.append(CardRemovedFromBank(card, owner))
        if kind is EffectType.CANNON:
            self.discard_pile.append(card)
            self.pending = self._create_kraken_effect(pending.remaining_draws)
        else:
            self._place_card(card, 0)

    def _require_top_card(self, owner: int, card: Card, bank_name: str) -> None:
        if card not in self.banks[owner].top_cards():
            raise IllegalAction(f"Card does not exist in {bank_name} or is not the topmost one.")

    # --- the server's own answers --------------------------------------------------------------

    def autopick_pending(self) -> None:
        """Answer effects by the server's autopick until none is pending or the turn is over."""
        while self.pending is not None and not self.between_turns:
            if self.pending.effect_type is EffectType.KRAKEN:
                self.draw_card()
            elif self.pending.effect_type is EffectType.ORACLE:
                self._answer_oracle(self.pending, None)
            else:
                own_bank, opponent_bank = self.banks[self.player], self.banks[1 - self.player]
                self._answer_with_card(
                    self.pending, autopick(self.pending, own_bank, opponent_bank, self.play_area)
                )

"""A state while one action changes it: the steps that actions, effects and timeouts share.

Source: docs/spec/arena.md section 7.
"""

from collections.abc import Iterable
from dataclasses import replace

from cardsharp.deadmansdraw.actions import Action, Effect, EffectType, Response, Verb
from cardsharp.deadmansdraw.cards import Bank, Card, Suit, saved_by_anchor
from cardsharp.deadmansdraw.events import (
    CardPlaced,
    CardRemoved,
    Delta,
    Drawn,
    EffectAnswered,
    EffectPlayed,
    Event,
    MatchEnded,
    TurnEnded,
    TurnStarted,
    stack_delta,
)
from cardsharp.deadmansdraw.state import Chance, State, TurnStart
from cardsharp.errors import Illegal

MAP_OFFER = 3
KRAKEN_DRAWS = 2


def sword_targets(own: Bank, other: Bank) -> tuple[Card, ...]:
    """What a Sword may take: tops of suits missing in the own bank (the play area is no bar)."""
    return tuple(card for card in other.tops() if card.suit not in own.suits)


def answers(pending: Effect, own: Bank, other: Bank) -> tuple[Card, ...]:
    """The cards with which a Hook, Cannon, Sword or Map may be answered."""
    match pending.effect_type:
        case EffectType.HOOK:
            return own.tops()
        case EffectType.CANNON:
            return other.tops()
        case EffectType.SWORD:
            return sword_targets(own, other)
        case _:
            return pending.cards


def autopick(pending: Effect, own: Bank, other: Bank, area: Iterable[Card]) -> Card:
    """First card that does not bust, else the first; Sword and Cannon take the first."""
    cards = answers(pending, own, other)
    if pending.effect_type in (EffectType.HOOK, EffectType.MAP):
        lying = {card.suit for card in area}
        cards = tuple(card for card in cards if card.suit not in lying) or cards
    return cards[0]


class Draft:
    """A state while one action changes it."""

    def __init__(self, state: State, chance: Chance) -> None:
        if state.outcome is not None:
            raise Illegal("No action possible on finished matches.")
        self.chance = chance
        self.events: list[Event] = []
        self.banks = list(state.banks)
        self.draw_pile = list(state.draw_pile)
        self.discard_pile = list(state.discard_pile)
        self.play_area = list(state.play_area)
        self.player = state.player
        self.pending = state.pending
        self.between_turns = state.between_turns
        self.turn_start = state.turn_start
        self.last_delta = state.last_delta
        self.timeouts = state.timeouts
        self.outcome: MatchEnded | None = None

    # --- the frame of a turn -------------------------------------------------------------

    def open_turn(self) -> None:
        """Begin the next player's turn where the last one has ended."""
        if not self.between_turns:
            return
        self.player = 1 - self.player
        self.between_turns = False
        self.turn_start = TurnStart(
            tuple(self.draw_pile), tuple(self.discard_pile), (self.banks[0], self.banks[1])
        )
        self.events.append(TurnStarted(self.last_delta))

    def settle(self) -> tuple[State, tuple[Event, ...]]:
        """Close turn and match where the draw pile is used up; the new state and the events."""
        if not self.draw_pile and self.pending is None and self.outcome is None:
            if not self.between_turns:
                self.bank_turn()
            self.end_match(terminated=False)
        state = State(
            banks=(self.banks[0], self.banks[1]),
            draw_pile=tuple(self.draw_pile),
            discard_pile=tuple(self.discard_pile),
            player=self.player,
            turn_start=self.turn_start,
            play_area=tuple(self.play_area),
            pending=self.pending,
            between_turns=self.between_turns,
            last_delta=self.last_delta,
            timeouts=self.timeouts,
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

    def bust(self, card: Card) -> None:
        """End the turn by a second card of a suit: only what lies before the Anchor is saved."""
        saved = saved_by_anchor(self.play_area)
        self.discard_pile += [card, *self.play_area[saved:]]
        self._end_turn(self.play_area[:saved], successful=False)

    def _end_turn(self, collected: list[Card], *, successful: bool) -> None:
        bonus: tuple[Card, ...] | None = None
        if {Suit.CHEST, Suit.KEY} <= {card.suit for card in collected}:
            bonus = self._pick(len(collected))
        self.banks[self.player] = self.banks[self.player].with_cards([*collected, *(bonus or ())])
        self.play_area = []
        self.pending = None
        self.between_turns = True
        before = self.turn_start
        self.last_delta = Delta(
            stack_delta(before.draw_pile, self.draw_pile),
            stack_delta(before.discard_pile, self.discard_pile),
            (
                stack_delta(before.banks[0], self.banks[0]),
                stack_delta(before.banks[1], self.banks[1]),
            ),
        )
        self.events.append(TurnEnded(successful, bonus, self.last_delta))

    def _pick(self, wanted: int) -> tuple[Card, ...]:
        """Take cards from the discard pile by chance, fewer where it is short."""
        number = min(wanted, len(self.discard_pile))
        picked = self.chance(tuple(self.discard_pile), number) if number else ()
        for card in picked:
            self.discard_pile.remove(card)
        return picked

    # --- actions ---------------------------------------------------------------------------

    def perform(self, action: Action) -> None:
        """Do what the verb says, or raise."""
        match action.verb:
            case Verb.DRAW:
                self._refuse_unless_pending(EffectType.KRAKEN, EffectType.ORACLE)
                self.draw()
            case Verb.END_TURN:
                self._refuse_unless_pending(EffectType.ORACLE)
                if not self.play_area:
                    raise Illegal("Cannot end turn with empty playarea.")
                self.bank_turn()
            case Verb.RESPOND:
                self._respond(action.response, answered=action.autopick)

    def _refuse_unless_pending(self, *allowed: EffectType) -> None:
        if self.pending is not None and self.pending.effect_type not in allowed:
            raise Illegal(f"Respond to pending effect first: {self.pending.effect_type}")

    def draw(self) -> None:
        """Draw the next card, a Kraken's or an Oracle's where one is pending."""
        owed = max(0, self.pending.kraken_count - 1) if self.pending else 0
        self.pending = None
        if not self.draw_pile:
            return
        card = self.draw_pile.pop(0)
        self.events.append(Drawn(card))
        self._place(card, owed)

    def _place(self, card: Card, owed: int) -> None:
        """Put `card` down; `owed` cards of a Kraken are still to be drawn after it."""
        if any(card.suit == placed.suit for placed in self.play_area):
            self.bust(card)
            return
        self.play_area.append(card)
        self.events.append(CardPlaced(card))
        effect = self._effect_of(card, owed)
        if effect is not None:
            is_kraken = effect.effect_type is EffectType.KRAKEN
            self.events.append(
                EffectPlayed(effect if is_kraken else replace(effect, kraken_count=0))
            )
        self.pending = effect or self._kraken(owed)

    def _kraken(self, draws: int) -> Effect | None:
        draws = min(draws, len(self.draw_pile))
        return Effect(EffectType.KRAKEN, (), draws) if draws else None

    def _effect_of(self, card: Card, owed: int) -> Effect | None:
        """The effect that `card` leaves pending, None where it has nothing to act on.

        Hook, Map and Sword bring a card themselves and so end a Kraken's duty; Cannon and
        Oracle carry it along.
        """
        own, other = self.banks[self.player], self.banks[1 - self.player]
        effect: Effect | None = None
        match card.suit:
            case Suit.HOOK if own.stacks:
                effect = Effect(EffectType.HOOK)
            case Suit.SWORD if sword_targets(own, other):
                effect = Effect(EffectType.SWORD)
            case Suit.MAP if self.discard_pile:
                effect = Effect(EffectType.MAP, self._pick(MAP_OFFER))
            case Suit.CANNON if other.stacks:
                effect = Effect(EffectType.CANNON, (), owed)
            case Suit.ORACLE if self.draw_pile:
                effect = Effect(EffectType.ORACLE, (self.draw_pile[0],), owed)
            case Suit.KRAKEN:
                effect = self._kraken(KRAKEN_DRAWS)
        return effect

    # --- answers -----------------------------------------------------------------------------

    def _respond(self, response: Response | None, *, answered: bool) -> None:
        pending = self.pending
        if pending is None:
            if answered and any(isinstance(event, EffectAnswered) for event in self.events):
                return
            raise Illegal("There is no pending effect to respond to.")
        if response is None or response.effect_type != pending.effect_type:
            raise Illegal(f"Respond to pending effect first: {pending.effect_type}")
        match pending.effect_type:
            case EffectType.KRAKEN:
                self.draw()
            case EffectType.ORACLE:
                self._answer_oracle(pending, response.card)
            case _:
                if response.card is None:
                    raise Illegal("Effect response must contain a card.")
                self._answer(pending, response.card)

    def _answer_oracle(self, pending: Effect, card: Card | None) -> None:
        peeked = pending.cards[0]
        if card is not None and card != peeked:
            seen = f'{{"suit":"{peeked.suit}","value":{peeked.value}}}'
            raise Illegal(
                f"Inappropriate Card specified for effect response. Oracle peeked card was: {seen}."
            )
        self.events.append(EffectAnswered(EffectType.ORACLE, card))
        if card is None:
            self.pending = self._kraken(pending.kraken_count)
        else:
            self.draw()

    def _answer(self, pending: Effect, card: Card) -> None:
        kind, owner = pending.effect_type, 1 - self.player
        if kind is EffectType.MAP:
            if card not in pending.cards:
                raise Illegal("Inappropriate Card specified for effect response")
        elif kind is EffectType.HOOK:
            owner = self.player
            self._check_top(owner, card, "Own Bank")
        else:
            self._check_top(owner, card, "Enemy Bank(s)")
            if kind is EffectType.SWORD and card.suit in self.banks[self.player].suits:
                raise Illegal("Sword: Player cannot pick a suit that owned already in bank.")
        self.events.append(EffectAnswered(kind, card))
        if kind is EffectType.MAP:
            self.discard_pile += [offered for offered in pending.cards if offered != card]
        else:
            self.banks[owner] = self.banks[owner].without(card)
            self.events.append(CardRemoved(card, owner))
        if kind is EffectType.CANNON:
            self.discard_pile.append(card)
            self.pending = self._kraken(pending.kraken_count)
        else:
            self._place(card, 0)

    def _check_top(self, owner: int, card: Card, where: str) -> None:
        if card not in self.banks[owner].tops():
            raise Illegal(f"Card does not exist in {where} or is not the topmost one.")

    # --- the server's own answers --------------------------------------------------------------

    def answer_pending(self) -> None:
        """Answer effects by the server's autopick until none is pending or the turn is over."""
        while self.pending is not None and not self.between_turns:
            if self.pending.effect_type is EffectType.KRAKEN:
                self.draw()
            elif self.pending.effect_type is EffectType.ORACLE:
                self._answer_oracle(self.pending, None)
            else:
                own, other = self.banks[self.player], self.banks[1 - self.player]
                self._answer(self.pending, autopick(self.pending, own, other, self.play_area))

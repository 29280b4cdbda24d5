"""`steady`: exact one-step look-ahead, our first own player."""

from random import Random

from cardsharp.deadmansdraw.actions import Action, Effect, EffectType, Verb
from cardsharp.deadmansdraw.cards import Card
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies import Decision, Option, strategy
from cardsharp.deadmansdraw.strategies.choices import busts, gain, loss
from cardsharp.deadmansdraw.strategies.lookahead import Lookahead
from cardsharp.strategy import percent


@strategy("steady")
class Steady:
    """Draws while one more card promises more points than stopping does.

    The value of an option is the expected difference of the banks, own minus the opponent's,
    when the turn ends. An answer to an effect is valued with the best of stopping and one more
    draw behind it.
    """

    def __init__(self, _rng: Random) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        """The action of the highest value."""
        weighing = _Weighing(position)
        options = tuple(map(weighing.option, position.legal_actions()))
        ranked = sorted(options, key=_rank, reverse=True)
        return Decision(ranked[0].action, weighing.reason(*ranked[:2]), options)


def _rank(option: Option) -> tuple[float, int]:
    """By value; of two equal options rather a card than an end, and an end than a refusal.

    What differs by rounding only is equal: sums of fractions come out a little otherwise on
    another Python.
    """
    value, action = round(option.value, 9), option.action
    if action.response is not None and action.card is None:
        return value, 0
    return value, 1 if action.verb is Verb.END_TURN else 2


class _Weighing:
    """The options of one position with their values and the words for them."""

    def __init__(self, position: Position) -> None:
        self.position = position
        self.look = Lookahead(position)

    def option(self, action: Action) -> Option:
        """What `action` is worth, and a note on what it does."""
        pending = self.position.pending
        if action.verb is Verb.END_TURN:
            return Option(action, self.look.stop(self.look.root), f"banks {self._on_table()}")
        if pending is None:
            return Option(action, self.look.draw(self.look.root), self._next_card())
        value = self.look.answer(pending, action.card)
        return Option(action, value, self._note(pending, action.card))

    def reason(self, best: Option, second: Option | None = None) -> str:
        """Why `best` is played, in one sentence."""
        action, pending = best.action, self.position.pending
        if action.verb is Verb.END_TURN:
            return f"Stop: {self._on_table()} on the table, {self._next_card()}."
        if second is None:
            return f"{action}: the only choice, {best.note}."
        ahead = f"{best.value - second.value:.1f} points better than {second.action}"
        if pending is None:
            return f"Draw: {ahead}, {self._next_card()}."
        return f"{action}: {ahead}, {best.note}."

    def _on_table(self) -> str:
        now = self.position.own.score - self.position.other.score
        return f"{self.look.stop(self.look.root) - now:.0f} points"

    def _next_card(self) -> str:
        card, chance = self.position.known_top, self.look.bust_chance(self.look.root)
        if card is None:
            return f"a draw busts with {percent(chance)}"
        return f"{card} is next and {'busts' if chance else 'is safe'}"

    def _note(self, pending: Effect, card: Card | None) -> str:
        if pending.effect_type is EffectType.KRAKEN:
            return f"the Kraken demands {pending.kraken_count}, {self._next_card()}"
        if card is None:
            return "leaves the card on the pile"
        effect = self._effect_note(pending, card)
        return f"{effect}, busts" if busts(self.position, card) else effect

    def _effect_note(self, pending: Effect, card: Card) -> str:
        match pending.effect_type:
            case EffectType.CANNON | EffectType.SWORD:
                return f"costs the opponent {loss(self.position.other, card)} points"
            case EffectType.HOOK:
                return "plays a card of the bank again"
            case _:
                return f"would raise the bank by {gain(self.position.own, card)}"

"""`steady`: exact look-ahead of one step, the first strategy of this project."""

from random import Random

from cardsharp.games.deadmansdraw.actions import (
    Action,
    ActionType,
    EffectType,
    PendingEffect,
)
from cardsharp.games.deadmansdraw.cards import Card
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import DeadMansDrawDecision, PointsOption, strategy
from cardsharp.games.deadmansdraw.strategies.explanations import explain_choice
from cardsharp.games.deadmansdraw.strategies.lookahead import ActionEvaluator
from cardsharp.games.deadmansdraw.strategies.position_features import (
    answer_would_bust,
    bank_gain,
    bank_loss,
)
from cardsharp.play.strategy import format_percent


@strategy("steady")
class Steady:
    """Draws while one more card promises more points than stopping does.

    The value of an option is the expected difference of the banks, own minus the opponent's, when
    the turn ends. After the answer to an effect, the player takes the better of stopping and one
    more draw.
    """

    def __init__(self, _rng: Random) -> None:
        pass

    def decide(self, position: DeadMansDrawPosition) -> DeadMansDrawDecision:
        """Return the action of the highest value."""
        weighing = _PositionEvaluation(position)
        options = tuple(map(weighing.option, position.legal_actions()))
        best = max(options, key=_option_sort_key)
        return DeadMansDrawDecision(best.action, explain_choice(position, best.action), options)


def _option_sort_key(option: PointsOption) -> tuple[float, int]:
    """Return the sort key of an option: its value, then its kind.

    Among equal values a card ranks highest, then the end of the turn, then a refusal. Values
    that differ by rounding only count as equal, because sums of fractions can differ slightly
    between versions of Python.
    """
    value, action = round(option.value, 9), option.action
    if action.response is not None and action.card is None:
        return value, 0
    return value, 1 if action.type is ActionType.END_TURN else 2


class _PositionEvaluation:
    """Evaluated options of a position, with their explanations."""

    def __init__(self, position: DeadMansDrawPosition) -> None:
        self.position = position
        self.look = ActionEvaluator(position)

    def option(self, action: Action) -> PointsOption:
        """Return the value of `action`, with a note on its effect."""
        pending = self.position.pending
        if action.type is ActionType.END_TURN:
            return PointsOption(
                action,
                self.look.value_of_stopping(self.look.root),
                f"banks {self._describe_points()}",
            )
        if pending is None:
            return PointsOption(
                action, self.look.value_of_drawing(self.look.root), self._describe_next_card()
            )
        value = self.look.value_of_answer(pending, action.card)
        return PointsOption(action, value, self._describe_answer(pending, action.card))

    def _describe_points(self) -> str:
        current_lead = self.position.own_bank.score - self.position.opponent_bank.score
        return f"{self.look.value_of_stopping(self.look.root) - current_lead:.0f} points"

    def _describe_next_card(self) -> str:
        card, chance = self.position.known_top, self.look.bust_chance(self.look.root)
        if card is None:
            return f"a draw busts with {format_percent(chance)}"
        return f"{card} is next and {'busts' if chance else 'is safe'}"

    def _describe_answer(self, pending: PendingEffect, card: Card | None) -> str:
        if pending.effect_type is EffectType.KRAKEN:
            return f"the Kraken demands {pending.remaining_draws}, {self._describe_next_card()}"
        if card is None:
            return "leaves the card on the pile"
        effect = self._describe_effect(pending, card)
        return f"{effect}, busts" if answer_would_bust(self.position, card) else effect

    def _describe_effect(self, pending: PendingEffect, card: Card) -> str:
        match pending.effect_type:
            case EffectType.CANNON | EffectType.SWORD:
                return f"costs the opponent {bank_loss(self.position.opponent_bank, card)} points"
            case EffectType.HOOK:
                return "plays a card of the bank again"
            case _:
                return f"would raise the bank by {bank_gain(self.position.own_bank, card)}"

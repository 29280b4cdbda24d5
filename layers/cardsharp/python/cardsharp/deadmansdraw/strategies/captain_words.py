"""The captain's reasons, in words that a player understands."""

from collections.abc import Sequence

from cardsharp.deadmansdraw.actions import DRAW, END_TURN, Effect, EffectType
from cardsharp.deadmansdraw.cards import Card, Suit, saved_by_anchor
from cardsharp.deadmansdraw.position import Position
from cardsharp.deadmansdraw.strategies.base import Option
from cardsharp.deadmansdraw.strategies.choices import gain, loss, lying
from cardsharp.strategy import percent


class Words:
    """What the options of one position do, and why one is played."""

    def __init__(self, position: Position) -> None:
        self.position = position

    def stop(self) -> str:
        """What stopping brings."""
        area = self.position.play_area
        treasure = {Suit.CHEST, Suit.KEY} <= lying(self.position)
        bonus = f" and up to {len(area)} bonus cards" if treasure else ""
        return f"banks {self._on_table()}{bonus}"

    def draw(self) -> str:
        """What the next card risks."""
        card = self.position.known_top
        if card is not None:
            return (
                f"{card} is next and {'busts' if card.suit in lying(self.position) else 'is safe'}"
            )
        saved = self._saved()
        kept = f", the Anchor saves {saved}" if saved else ""
        return f"busts {percent(self._risk())}{kept}"

    def answer(self, card: Card) -> str:
        """What answering the pending effect with `card` does."""
        pending = self.position.pending
        if pending is None:
            return ""
        note = self._effect(pending, card)
        busts = pending.effect_type is not EffectType.CANNON and card.suit in lying(self.position)
        return f"{note}, busts" if busts else note

    def reason(self, best: Option, options: Sequence[Option]) -> str:
        """Why `best` is played, in one sentence."""
        verb = {DRAW: "Draw", END_TURN: "Stop"}.get(best.action, str(best.action))
        others = sorted((o for o in options if o is not best), key=lambda o: o.value, reverse=True)
        chance = f"{percent(best.value)} to win"
        if not others:
            return f"{verb}: there is no choice; {chance}, {best.note}."
        second = {DRAW: "drawing", END_TURN: "stopping"}.get(others[0].action)
        against = f"against {percent(others[0].value)} for {second or others[0].action}"
        return f"{verb}: {chance} {against}; {best.note}."

    def _risk(self) -> float:
        unseen, suits = self.position.unseen, lying(self.position)
        return sum(card.suit in suits for card in unseen) / len(unseen) if unseen else 0.0

    def _on_table(self) -> int:
        area, own = self.position.play_area, self.position.own
        return own.with_cards(area).score - own.score

    def _saved(self) -> int:
        area, own = self.position.play_area, self.position.own
        return own.with_cards(area[: saved_by_anchor(area)]).score - own.score

    def _effect(self, pending: Effect, card: Card) -> str:
        own, other = self.position.own, self.position.other
        match pending.effect_type:
            case EffectType.CANNON | EffectType.SWORD:
                return f"costs the opponent {loss(other, card)}"
            case EffectType.HOOK:
                return f"puts {loss(own, card)} at stake again"
            case EffectType.ORACLE:
                return "is the next card"
            case _:
                return f"would bank {gain(own, card)}"

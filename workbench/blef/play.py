"""You at the table: your hand, what was said in words, and your answer by number or by name."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from cardsharp.blef import rules
from cardsharp.blef.actions import BETS, CHECK, LOST, name_of
from cardsharp.blef.cards import Hand
from cardsharp.blef.position import Position, position_of
from cardsharp.blef.state import Deal, Round
from cardsharp.blef.strategies import Strategy

Ask = Callable[[str], str]
"""Shows a prompt and returns a line; raises `EOFError` where there are no more."""

Tell = Callable[[str], None]

_GAP = 2
_MOST_LISTED = 6
_PROMPT = "Your bet (number or name, ? lists, quit leaves)? "


class Left(Exception):
    """You have left the table."""


@dataclass
class TerminalGame:
    """A game between you, at seat `you`, and strategies at the other seats.

    With `why` the strategies' reasons are told, once the round is over. What may be bet is
    listed in as many columns as `width` characters hold.
    """

    bots: Sequence[Strategy]
    you: int
    ask: Ask
    tell: Tell
    why: bool = False
    width: int = 120
    _told: int = field(default=0, init=False)
    _reasons: list[str] = field(default_factory=list, init=False)

    def play(self, deal: Deal) -> int:
        """Play a game to its end; the seat of the winner.

        Raises:
            Left: the input ended, or you asked to leave.
        """
        live = rules.start(1 + len(self.bots), deal)
        self._open(live)
        while live.turn is not None and live.winner is None:
            step = rules.apply(live, self._decide(live, live.turn), deal)
            if step.closed is not None:
                self._close(step.closed, step.live)
            live = step.live
        if live.winner is None:
            raise AssertionError("a game of Blef has ended without a winner")
        return live.winner

    def name(self, seat: int) -> str:
        """What the player at a seat is called."""
        return "you" if seat == self.you else f"bot {seat if seat > self.you else seat + 1}"

    def _decide(self, live: Round, seat: int) -> int:
        position = position_of(live, seat)
        if seat == self.you:
            return self._your_turn(position)
        decision = self.bots[seat - (seat > self.you)].decide(position)
        said = f"{self.name(seat)}: {name_of(decision.action)}"
        self._reasons.append(f"  {said}: {decision.reason}")
        return decision.action

    def _your_turn(self, position: Position) -> int:
        self._tell_moves(position.round())
        hidden = "1 card" if position.hidden == 1 else f"{position.hidden} cards"
        self.tell(f"Your hand: {shown(position.hand)}   ({hidden} hidden)")
        legal = position.legal_actions()
        cards = sum(position.n_cards)
        possible = [bet for bet in legal if bet == CHECK or BETS[bet].size <= cards]
        self._offer(possible)
        if len(possible) < len(legal):
            self.tell(f"Other bets cannot hold with {cards} cards in play; ? lists them too.")
        while True:
            try:
                line = self.ask(_PROMPT).strip()
            except EOFError:
                raise Left from None
            if line.lower() in ("quit", "exit", "q"):
                raise Left
            if line == "?":
                self._offer(legal)
                continue
            found = matching(line, legal)
            if len(found) == 1:
                return found[0]
            self.tell(_misread(line, found))

    def _offer(self, legal: Sequence[int]) -> None:
        """List what may be said, in columns that are read downwards."""
        items = [f"{action:>2} {name_of(action)}" for action in legal]
        wide = _GAP + max(map(len, items))
        rows = -(-len(items) // max(1, (self.width + _GAP) // wide))
        for row in range(rows):
            self.tell("".join(f"{item:{wide}}" for item in items[row::rows]).rstrip())

    def _open(self, live: Round) -> None:
        self._told = 0
        self._reasons.clear()
        counts = ", ".join(f"{self.name(seat)} {live.n_cards[seat]}" for seat in live.active)
        self.tell("")
        self.tell(f"Round {live.number}; cards: {counts}; out with {live.max_cards + 1}.")

    def _tell_moves(self, live: Round) -> None:
        """Tell what has been said since the last time."""
        for seat, action in live.history[self._told :]:
            if action == LOST:
                self.tell(f"-- {_capital(self.name(seat))} lost the round.")
            elif seat != self.you or action == CHECK:
                self.tell(f"{_capital(self.name(seat))}: {name_of(action)}")
        self._told = len(live.history)

    def _close(self, closed: Round, live: Round) -> None:
        """Show all hands and who lost, and what follows."""
        self._tell_moves(closed)
        for seat in closed.active:
            self.tell(f"   {self.name(seat)}: {shown(closed.hands[seat])}")
        if self.why:
            for reason in self._reasons:
                self.tell(reason)
        loser = closed.history[-1].seat
        if not live.n_cards[loser]:
            verb = "are" if loser == self.you else "is"
            self.tell(f"-- {_capital(self.name(loser))} {verb} out.")
        if live.winner is None:
            self._open(live)


def shown(hand: Hand) -> str:
    """Cards in words."""
    return ", ".join(map(str, hand))


def matching(text: str, legal: Sequence[int]) -> list[int]:
    """The legal actions that a line can mean: by number, by name, or by words of the name."""
    if text.isascii() and text.isdecimal():
        return [action for action in legal if action == int(text)]
    words = _words(text)
    exact = [action for action in legal if _words(name_of(action)) == words]
    if exact or not words:
        return exact
    return [action for action in legal if set(words) <= set(_words(name_of(action)))]


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9-]+", text.lower())


def _misread(line: str, found: Sequence[int]) -> str:
    """What to do about a line that does not mean exactly one legal action."""
    if not found:
        every = matching(line, range(len(BETS) + 1))
        if every == [CHECK]:
            return "There is nothing to check yet; bet something."
        if len(every) == 1:
            return f"{name_of(every[0])} is not allowed now; it must be higher than the last bet."
        return "That is none of the bets; type a number of the list, or ? to see it."
    few = "; ".join(f"{action} {name_of(action)}" for action in found[:_MOST_LISTED])
    more = ", ..." if len(found) > _MOST_LISTED else ""
    return f"That can be {few}{more}. Which one?"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]

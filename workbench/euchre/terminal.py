"""You at the table: your cards and the open ones as text, your answers by number."""

from collections.abc import Callable

from cardsharp.euchre.actions import Action, Bid, Discard, Play, Question
from cardsharp.euchre.cards import RANK_NAMES, SUIT_NAMES, SUIT_SYMBOLS, Card
from cardsharp.euchre.position import Position, project
from cardsharp.euchre.rules import Result
from cardsharp.euchre.state import Deal
from cardsharp.euchre.table import DEALER, Table, Trick

Ask = Callable[[str], str]
Tell = Callable[[str], None]

CHAIRS = ("you", "left", "partner", "right")


class Left(Exception):
    """You have left the table."""


class TerminalPlayer:
    """A person; what is shown is the view of the seat and nothing else."""

    def __init__(self, ask: Ask, tell: Tell) -> None:
        self._ask, self._tell = ask, tell
        self._seat = 0
        self._bids, self._cards = 0, 0
        self._score = [0, 0]

    def begin(self, deal: Deal, seats: frozenset[int]) -> None:
        """Say who deals and what was turned up."""
        self._seat = min(seats)
        self._bids, self._cards = 0, 0
        self._tell("")
        self._tell(f"New deal: {self._name(3)} dealt, {shown(deal.table.turn_card)} is turned up.")

    def decide(self, deal: Deal, seat: int) -> Action:
        """Show the table and ask until the answer is one of the choices.

        Raises:
            Left: the input ended, or you asked to leave.
        """
        view = project(deal, seat)
        self._report(view.table)
        self._tell(f"Your hand: {hand(view)}")
        if len(view.choices) == 1:
            self._tell(f"You have to {_VERBS[view.question]} {described(view.choices[0])}.")
            return view.choices[0]
        for number, action in enumerate(view.choices, start=1):
            self._tell(f"  {number}  {described(action)}")
        while True:
            answer = self._answer(f"{_PROMPTS[view.question]} [1-{len(view.choices)}] ")
            if answer.isdecimal() and 1 <= int(answer) <= len(view.choices):
                return view.choices[int(answer) - 1]
            self._tell(f"Please type a number from 1 to {len(view.choices)}, or quit.")

    def _answer(self, prompt: str) -> str:
        """What is typed."""
        try:
            answer = self._ask(prompt).strip()
        except EOFError:
            raise Left from None
        if answer.lower() in ("quit", "exit", "q"):
            raise Left
        return answer

    def end(self, deal: Deal) -> None:
        """Tell what has happened since the last question."""
        self._report(deal.table)

    def result(self, deal: Deal, result: Result, chair: int) -> None:
        """Say how a deal ended; a watcher of the coordinator's."""
        yours = chair % 2
        self._score[0] += result.points[yours]
        self._score[1] += result.points[1 - yours]
        self._tell(self._ending(deal, result, chair))
        self._tell(f"The score: you {self._score[0]}, the others {self._score[1]}.")

    def _ending(self, deal: Deal, result: Result, chair: int) -> str:
        trump = deal.table.trump
        if result.caller is None or trump is None:
            return "Everybody passed."
        caller = CHAIRS[(chair + result.caller) % 4]
        end = "were euchred" if result.euchred else "made it"
        side = "you" if result.points[chair % 2] > 0 else "the others"
        return (
            f"{caller} called {SUIT_NAMES[trump]} and {end} with {result.tricks} tricks: "
            f"{side} +{max(result.points)}."
        )

    def _report(self, table: Table) -> None:
        """Tell the bids and cards of the others since the last time, and who picks up."""
        news = table.bids[self._bids :]
        for number, bid in enumerate(news, start=self._bids):
            if number % 4 != self._seat:
                self._tell(f"{self._name(number % 4)}: {bid_text(bid)}")
        self._bids = len(table.bids)
        call = table.call if news else None
        if call is not None and call.picks_up:
            dealer, card = self._name(DEALER), shown(table.turn_card)
            self._tell(f"{dealer} pick{'' if dealer == CHAIRS[0] else 's'} up {card}")
        done = self._cards
        for trick in table.tricks:
            self._tell_trick(table, trick, done)
            done = max(0, done - len(trick))
        self._cards = sum(map(len, table.tricks))

    def _tell_trick(self, table: Table, trick: Trick, told: int) -> None:
        """Tell the cards of a trick but for the first `told`, and who won it."""
        for seat, card in trick[told:]:
            if seat != self._seat:
                self._tell(f"{self._name(seat)} plays {shown(card)}")
        if told < len(trick) and trick in table.complete_tricks:
            self._tell(f"-- trick for {self._name(table.winner(trick))}")

    def _name(self, seat: int) -> str:
        return CHAIRS[(seat - self._seat) % 4]


_PROMPTS = {
    Question.BID: "Your bid?",
    Question.DISCARD: "Lay aside?",
    Question.DEFEND: "Defend alone?",
    Question.PLAY: "Your card?",
}

_VERBS = {
    Question.BID: "bid",
    Question.DISCARD: "lay aside",
    Question.DEFEND: "choose",
    Question.PLAY: "play",
}


def shown(card: Card) -> str:
    """A card with its suit's symbol, e.g. J♥."""
    return RANK_NAMES[card >> 2] + SUIT_SYMBOLS[card & 3]


def hand(view: Position) -> str:
    """The cards of a hand by suit, high ones first."""
    cards = sorted(view.hand, key=lambda card: (card & 3, -card))
    text = "  ".join(map(shown, cards))
    trump = view.table.trump
    return text if trump is None else f"{text}   (trumps are {SUIT_NAMES[trump]})"


def bid_text(bid: Bid) -> str:
    """A bid in words."""
    return "passes" if bid.suit is None else f"calls {bid}"


def described(action: Action) -> str:
    """A choice in words."""
    return shown(action.card) if isinstance(action, Discard | Play) else str(action)

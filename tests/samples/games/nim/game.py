"""Nim, as the rest of the house knows it."""

from cardsharp.game import Game, Part

GAME = Game(
    name="nim",
    title="Nim",
    about="Nim, a sample of a whole game.",
    strategies="nim.strategies",
    default_strategy="perfect",
    simulation=Part("nim.simulation:Nim"),
    service=Part("nim.routes:SERVICE"),
    attend=Part("nim.assembly:attend"),
    order=Part("nim.assembly:order"),
    replay=Part("nim.replay:replay"),
    board=Part("nim.board:BOARD"),
    terminal=Part("nim_terminal:Terminal"),
    decisions=Part("nim.decisions:decisions"),
    decider=Part("nim.fallback:DECIDER"),
    judge=Part("nim.judge:JUDGE"),
)

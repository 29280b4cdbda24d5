"""Euchre, as the rest of the house knows it."""

from cardsharp.game import Game, Part

GAME = Game(
    name="euchre",
    title="Euchre",
    about="Serve Euchre's engine, play it, probe it.",
    strategies="cardsharp.euchre.strategies",
    default_strategy="pimc",
    starter="workbench.euchre.starter",
    ladder=("random", "rules", "pimc"),
    service=Part("cardsharp.euchre.assembly:SERVICE"),
    visit=Part("workbench.euchre.remote:visit"),
    simulation=Part("cardsharp.euchre.simulation:Euchre"),
    lab=Part("workbench.euchre.lab:EuchreExtras"),
    program=Part("workbench.euchre.program:TRANSLATION"),
    encoding=Part("cardsharp.euchre.encoding:ENCODING"),
    commands=Part("workbench.euchre.commands:app"),
    replay=Part("cardsharp.euchre.replay:replay"),
    board=Part("cardsharp.euchre.board:BOARD"),
    restore=Part("cardsharp.euchre.decisions:restore"),
    decisions=Part("cardsharp.euchre.decisions:decisions"),
    judge=Part("cardsharp.euchre.judge:JUDGE"),
    decider=Part("cardsharp.euchre.fallback:DECIDER"),
    archive=Part("workbench.euchre.archive:open_archive"),
    terminal=Part("workbench.euchre.terminal:Terminal"),
)

"""Blef, as the rest of the house knows it."""

from cardsharp.game import Game, Part

GAME = Game(
    name="blef",
    title="Blef",
    about="Serve Blef, play it, and let its strategies duel.",
    strategies="cardsharp.blef.strategies",
    default_strategy="reader",
    starter="workbench.blef.starter",
    ladder=("random", "greedy", "threshold", "bayes", "solved"),
    attend=Part("cardsharp.blef.bot:attend"),
    order=Part("cardsharp.blef.bot:order"),
    check=Part("workbench.blef.bot:check_there"),
    lobby=Part("workbench.blef.bot:public_games"),
    elsewhere=Part("workbench.blef.elsewhere:lobby_of"),
    order_keys=frozenset({"url", "nickname"}),
    service=Part("cardsharp.blef.assembly:SERVICE"),
    replay=Part("cardsharp.blef.replay:replay"),
    board=Part("cardsharp.blef.board:BOARD"),
    restore=Part("cardsharp.blef.replay:restore"),
    decisions=Part("cardsharp.blef.replay:decisions"),
    judge=Part("cardsharp.blef.judge:JUDGE"),
    decider=Part("cardsharp.blef.fallback:DECIDER"),
    visit=Part("workbench.blef.bot:visit"),
    simulation=Part("cardsharp.blef.simulation:Blef"),
    program=Part("workbench.blef.program:TRANSLATION"),
    lab=Part("workbench.blef.lab:BlefExtras"),
    encoding=Part("cardsharp.blef.encoding:ENCODING"),
    commands=Part("workbench.blef.commands:app"),
    archive=Part("workbench.blef.bot:open_archive"),
    terminal=Part("workbench.blef.terminal:Terminal"),
)

"""Dead Man's Draw, as the rest of the house knows it."""

from cardsharp.game import Game, Part

GAME = Game(
    name="deadmansdraw",
    title="Dead Man's Draw",
    about="Play Dead Man's Draw: the commands above, by name.",
    strategies="cardsharp.deadmansdraw.strategies",
    default_strategy="captain",
    trained=Part("cardsharp.deadmansdraw.strategies.captain:trained"),
    starter="workbench.deadmansdraw.starter",
    ladder=(
        "random",
        "example-node",
        "draw-3",
        "third",
        "champion",
        "steady",
        "captain",
        "adaptive",
    ),
    settings=Part("cardsharp.deadmansdraw.settings:Settings"),
    attend=Part("cardsharp.deadmansdraw.attending:attend"),
    order=Part("cardsharp.deadmansdraw.practice:order"),
    listen=Part("cardsharp.deadmansdraw.assembly:listen"),
    replay=Part("cardsharp.deadmansdraw.replay:replay"),
    decisions=Part("cardsharp.deadmansdraw.decisions:decisions"),
    decider=Part("cardsharp.deadmansdraw.fallback:DECIDER"),
    judge=Part("cardsharp.deadmansdraw.judge:JUDGE"),
    drawing=Part("workbench.deadmansdraw.show"),
    simulation=Part("cardsharp.deadmansdraw.simulation:DeadMansDraw"),
    lab=Part("workbench.deadmansdraw.lab:DeadMansDrawExtras"),
    program=Part("workbench.deadmansdraw.program:TRANSLATION"),
    encoding=Part("workbench.deadmansdraw.encoding:ENCODING"),
    commands=Part("workbench.deadmansdraw.commands:app"),
    terminal=Part("workbench.deadmansdraw.terminal:Terminal"),
)

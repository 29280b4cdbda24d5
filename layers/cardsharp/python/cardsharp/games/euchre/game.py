"""Definition of Euchre for the rest of the program."""

from cardsharp.play.game import Game, LazyImport

GAME = Game(
    name="euchre",
    title="Euchre",
    summary="Serve Euchre's engine, play it, probe it.",
    strategy_package="cardsharp.games.euchre.strategies",
    default_strategy="pimc",
    starter_module="cardsharp_tools.games.euchre.starter",
    ladder_strategies=("random", "rules", "pimc"),
    http_service=LazyImport("cardsharp.games.euchre.service.bootstrap:SERVICE"),
    play_typical_match=LazyImport(
        "cardsharp_tools.games.euchre.remote_player:play_service_against_itself"
    ),
    simulation=LazyImport("cardsharp.games.euchre.simulation:EuchreSimulation"),
    duel_extras=LazyImport("cardsharp_tools.games.euchre.lab_adapter:EuchreLabAdapter"),
    program_protocol=LazyImport("cardsharp_tools.games.euchre.program_protocol:CODEC"),
    rl_encoding=LazyImport("cardsharp.games.euchre.encoding:ENCODING"),
    cli_app=LazyImport("cardsharp_tools.games.euchre.commands:app"),
    replay=LazyImport("cardsharp.games.euchre.history.replay:replay"),
    label_action=LazyImport("cardsharp.games.euchre.sentences:label_action"),
    board_renderer=LazyImport("cardsharp.games.euchre.board_renderer:BOARD_RENDERER"),
    restore_states=LazyImport("cardsharp.games.euchre.history.decisions:restore_states"),
    list_decisions=LazyImport("cardsharp.games.euchre.history.decisions:decision_points"),
    judge=LazyImport("cardsharp.games.euchre.judge:JUDGE"),
    decision_runner=LazyImport("cardsharp.games.euchre.fallback:DECISION_RUNNER"),
    open_archive=LazyImport("cardsharp_tools.games.euchre.deal_archive:open_archive"),
    text_renderer=LazyImport("cardsharp_tools.games.euchre.match_printer:PRINTER"),
    terminal_ui=LazyImport("cardsharp_tools.games.euchre.terminal:EuchreTerminal"),
)

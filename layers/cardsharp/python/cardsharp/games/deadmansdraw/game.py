"""Definition of Dead Man's Draw for the rest of the program."""

from cardsharp.play.game import Game, LazyImport

GAME = Game(
    name="deadmansdraw",
    title="Dead Man's Draw",
    summary="Play Dead Man's Draw: the commands above, by name.",
    strategy_package="cardsharp.games.deadmansdraw.strategies",
    default_strategy="captain",
    load_trained_strategy=LazyImport(
        "cardsharp.games.deadmansdraw.strategies.adaptive:parse_trained_strategy"
    ),
    starter_module="cardsharp_tools.games.deadmansdraw.starter",
    ladder_strategies=(
        "random",
        "example-node",
        "draw-3",
        "champion",
        "third",
        "steady",
        "captain",
        "adaptive",
    ),
    settings_type=LazyImport("cardsharp.games.deadmansdraw.arena_bot.settings:ArenaBotSettings"),
    run_session=LazyImport("cardsharp.games.deadmansdraw.arena_bot.bot:run_session"),
    place_order=LazyImport("cardsharp.games.deadmansdraw.arena_bot.practice_orders:place_order"),
    run_poller=LazyImport("cardsharp.games.deadmansdraw.arena_bot.bootstrap:run_poller"),
    run_director=LazyImport("cardsharp.games.deadmansdraw.contest.bootstrap:run_director"),
    http_service=LazyImport("cardsharp.games.deadmansdraw.contest.application:SERVICE"),
    replay=LazyImport("cardsharp.games.deadmansdraw.history.replay:replay"),
    import_match=LazyImport("cardsharp.games.deadmansdraw.history.arena_import:parse_arena_match"),
    label_action=LazyImport("cardsharp.games.deadmansdraw.sentences:label_action"),
    board_renderer=LazyImport("cardsharp.games.deadmansdraw.board_renderer:BOARD_RENDERER"),
    list_decisions=LazyImport("cardsharp.games.deadmansdraw.history.decisions:decisions"),
    restore_states=LazyImport("cardsharp.games.deadmansdraw.history.state_history:restore_states"),
    decision_runner=LazyImport("cardsharp.games.deadmansdraw.fallback:DECISION_RUNNER"),
    judge=LazyImport("cardsharp.games.deadmansdraw.judge:JUDGE"),
    summarize_moves=LazyImport(
        "cardsharp.games.deadmansdraw.history.move_summaries:summarize_moves"
    ),
    text_renderer=LazyImport("cardsharp_tools.games.deadmansdraw.match_printer:PRINTER"),
    simulation=LazyImport("cardsharp.games.deadmansdraw.simulation:DeadMansDrawSimulation"),
    duel_extras=LazyImport("cardsharp_tools.games.deadmansdraw.lab_adapter:DeadMansDrawLabAdapter"),
    program_protocol=LazyImport("cardsharp_tools.games.deadmansdraw.program_protocol:CODEC"),
    rl_encoding=LazyImport("cardsharp.games.deadmansdraw.encoding:ENCODING"),
    cli_app=LazyImport("cardsharp_tools.games.deadmansdraw.commands:app"),
    terminal_ui=LazyImport("cardsharp_tools.games.deadmansdraw.terminal:DeadMansDrawTerminal"),
)

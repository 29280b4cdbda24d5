"""Definition of Blef for the rest of the program."""

from cardsharp.play.game import Game, LazyImport

GAME = Game(
    name="blef",
    title="Blef",
    summary="Serve Blef, play it, and let its strategies duel.",
    strategy_package="cardsharp.games.blef.strategies",
    default_strategy="reader",
    starter_module="cardsharp_tools.games.blef.starter",
    ladder_strategies=("random", "greedy", "threshold", "bayes", "solved"),
    run_session=LazyImport("cardsharp.games.blef.bot.seat_match:attend"),
    place_order=LazyImport("cardsharp.games.blef.bot.seat_match:order"),
    check_order=LazyImport("cardsharp_tools.games.blef.service_client:check_game_exists"),
    list_open_games=LazyImport("cardsharp_tools.games.blef.service_client:public_games"),
    browser_client=LazyImport("cardsharp_tools.games.blef.remote_lobby:remote_lobby_page"),
    order_keys=frozenset({"url", "nickname"}),
    http_service=LazyImport("cardsharp.games.blef.service.bootstrap:SERVICE"),
    replay=LazyImport("cardsharp.games.blef.history.replay:replay"),
    board_renderer=LazyImport("cardsharp.games.blef.board_renderer:BOARD_RENDERER"),
    restore_states=LazyImport("cardsharp.games.blef.history.replay:restore_states"),
    list_decisions=LazyImport("cardsharp.games.blef.history.replay:decision_points"),
    judge=LazyImport("cardsharp.games.blef.judge:JUDGE"),
    decision_runner=LazyImport("cardsharp.games.blef.fallback:DECISION_RUNNER"),
    play_typical_match=LazyImport("cardsharp_tools.games.blef.service_client:play_random_match"),
    simulation=LazyImport("cardsharp.games.blef.simulation:BlefSimulation"),
    program_protocol=LazyImport("cardsharp_tools.games.blef.program_protocol:CODEC"),
    duel_extras=LazyImport("cardsharp_tools.games.blef.lab_adapter:BlefLabAdapter"),
    rl_encoding=LazyImport("cardsharp.games.blef.encoding:ENCODING"),
    cli_app=LazyImport("cardsharp_tools.games.blef.commands:app"),
    open_archive=LazyImport("cardsharp_tools.games.blef.service_client:open_archive"),
    terminal_ui=LazyImport("cardsharp_tools.games.blef.terminal:BlefTerminal"),
)

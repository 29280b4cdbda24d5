"""A hosted game as a person sees it, in a terminal or a browser: made of its drawing."""

from collections.abc import Iterable, Sequence
from typing import Any

from cardsharp.server.hosted.hosted_game import load_hosted_game
from cardsharp_tools.terminal.screen import AnyScreen, Choice, RenderedMove


def hosted_screen(folder: str) -> type[AnyScreen]:
    """Return the screen of the hosted game in a folder."""
    game = load_hosted_game(folder)
    simulation = game.build_rules()

    class Hosted(AnyScreen):
        """Its drawing; every move ends a chapter."""

        rules = game.text_renderer.rules
        chapter = "move"

        def position_view(self, position: Any) -> Iterable[str]:  # noqa: ANN401 - any game's
            return game.text_renderer.lines(position)

        def choices(self, position: Any) -> Sequence[Choice[Any]]:  # noqa: ANN401 - any game's
            options = simulation.legal_actions_in(position)
            return [Choice(str(n), str(action), action) for n, action in enumerate(options, 1)]

        def render_screen_move(
            self,
            previous_state: Any,  # noqa: ANN401 - of any game
            action: Any,  # noqa: ANN401
            _next_state: Any,  # noqa: ANN401
        ) -> RenderedMove:
            seat = simulation.current_seat(previous_state) or 0
            return RenderedMove([f"{self.names[seat]}: {action}"], ends_chapter=True)

    return Hosted

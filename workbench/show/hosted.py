"""A hosted game as a person sees it, in a terminal or a browser: made of its drawing."""

from collections.abc import Iterable, Sequence
from typing import Any

from cardsharp.host.house import house
from workbench.show.screen import AnyScreen, Choice, ScreenMove


def screen_of(folder: str) -> type[AnyScreen]:
    """The screen of the game in a folder."""
    game = house(folder)
    simulation = game.rules()

    class Hosted(AnyScreen):
        """Its drawing; every move ends a chapter."""

        rules = game.drawing.rules
        chapter = "move"

        def table(self, position: Any) -> Iterable[str]:  # noqa: ANN401 - any game's
            return game.drawing.rows(position)

        def choices(self, position: Any) -> Sequence[Choice[Any]]:  # noqa: ANN401 - any game's
            options = simulation.options(position)
            return [Choice(str(n), str(action), action) for n, action in enumerate(options, 1)]

        def told(self, before: Any, action: Any, _after: Any) -> ScreenMove:  # noqa: ANN401 - any game's
            seat = simulation.to_act(before) or 0
            return ScreenMove([f"{self.names[seat]}: {action}"], closes=True)

    return Hosted

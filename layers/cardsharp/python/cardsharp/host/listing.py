"""What a hosted game says of itself; apart, so that reading about it imports nothing of it."""

from typing import Any

from cardsharp.game import Game, Part

_MADE = {
    "service": "cardsharp.host.routes:service",
    "attend": "cardsharp.host.bot:attend",
    "order": "cardsharp.host.bot:order",
    "decisions": "cardsharp.host.replay:decisions_of",
    "restore": "cardsharp.host.replay:restore_of",
    "decider": "cardsharp.host.house:decider_of",
    "judge": "cardsharp.host.judge:Playouts",
    "board": "cardsharp.host.replay:board_of",
    "encoding": "cardsharp.host.encoding:encoding_of",
    "lab": "workbench.lab.hosted:extras_for",
    "program": "workbench.lab.hosted:translation_of",
    "terminal": "workbench.show.hosted:screen_of",
}
"""What the house makes of the rules."""


STARTER = "workbench.show.starter"  # `cardsharp new` writes the game's own names into it


def hosted(folder: str, title: str, about: str, default_strategy: str, **own: Any) -> Game:  # noqa: ANN401 - a game's own parts
    """The game in a folder, of `RULES`, `DRAWING`, `strategies`; `own` are parts that it brings."""
    made = {part: Part[Any](place, (folder,)) for part, place in _MADE.items()}
    return Game(
        name=folder.rpartition(".")[2],
        title=title,
        about=about,
        strategies=f"{folder}.strategies",
        default_strategy=default_strategy,
        simulation=Part(f"{folder}.simulation:RULES"),
        **{"starter": STARTER, "replay": Part("cardsharp.host.replay:steps"), **made, **own},
    )

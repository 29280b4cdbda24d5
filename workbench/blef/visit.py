"""A typical match over the service, by which its cost is measured."""

from random import Random

import requests

from cardsharp.blef.rules import legal_actions
from cardsharp.blef.wire import parse_state, position_in

_NAMES = ("ann", "bob")
_PATIENCE = 30
"""Seconds that a request may take."""


def visit(url: str, random: Random) -> None:
    """Play a random match of two who look before each move.

    Raises:
        requests.RequestException: the service refused, or cannot be reached.
    """
    with requests.Session() as http:

        def get(path: str, **query: str | int) -> requests.Response:
            answer = http.get(f"{url}/v2/games{path}", params=query, timeout=_PATIENCE)
            answer.raise_for_status()
            return answer

        game = get("/create").json()["game_uuid"]
        keys = {n: get(f"/{game}/join", nickname=n).json()["player_uuid"] for n in _NAMES}
        get(f"/{game}/start", admin_uuid=keys[_NAMES[0]])
        mover = parse_state(get(f"/{game}").content).cp_nickname
        while mover is not None:
            state = parse_state(get(f"/{game}", player_uuid=keys[mover]).content)
            position = position_in(state, mover)
            if state.cp_nickname != mover or position is None:
                mover = state.cp_nickname
                continue
            action = random.choice(legal_actions(position.round()))
            get(f"/{game}/play", player_uuid=keys[mover], action_id=action)

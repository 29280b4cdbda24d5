"""What a player observes and can do, in gymnasium's terms."""

from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from workbench.env.encoding import Encoding

Observation = dict[str, NDArray[Any]]
"""`observation`: whether the player waits, then its position; `action_mask`: what it may do."""


def observation_space(encoding: Encoding[Any, Any]) -> spaces.Dict:
    """What one player observes."""
    return spaces.Dict(
        {
            "observation": spaces.Box(0.0, 1.0, (1 + encoding.size,), np.float32),
            "action_mask": spaces.Box(0, 1, (encoding.actions,), np.int8),
        }
    )


def action_space(encoding: Encoding[Any, Any]) -> spaces.Discrete:
    """What one player can do."""
    return spaces.Discrete(encoding.actions)

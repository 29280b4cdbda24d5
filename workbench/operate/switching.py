"""What is set without a deployment: looked at, checked and changed by an operator."""

from pydantic import Field

from cardsharp.cloud.switches import Switches
from cardsharp.deadmansdraw.game import GAME
from cardsharp.errors import ConfigError
from cardsharp.registry import strategies_of
from workbench.operate.stack import Moment, OperatorView, Stack


class Held(OperatorView):
    """What holds now: what is set, and the parameters of the deployment for what is not."""

    strategy: str
    tags: tuple[str, ...]
    at_once: int
    paused: bool = Field(exclude=True)
    listening: str
    windows: str
    awake_until: Moment | None
    by_hand: tuple[str, ...] = Field(serialization_alias="setByHand")
    """The names of those that an operator set."""


def held(stack: Stack) -> Held:
    """What holds in a stack; raises `StoreError`."""
    switches, told = stack.switchboard.read(), stack.parameters.get
    tags = tuple(part.strip() for part in told("MatchTags", "").split(",") if part.strip())
    return Held(
        strategy=switches.strategy or told("Strategy") or GAME.default_strategy,
        tags=tags if switches.tags is None else switches.tags,
        at_once=switches.at_once or _most(stack),
        paused=switches.paused,
        listening=told("Listening", "always"),
        windows=told("ListeningWindows", ""),
        awake_until=switches.awake_until,
        by_hand=tuple(
            name for name in ("strategy", "tags", "at_once") if getattr(switches, name) is not None
        ),
    )


def change(stack: Stack, **changes: object) -> Switches:
    """Set some switches, None for what the deployment says; functions see it within seconds.

    Raises `ConfigError` if one of them cannot be used; nothing is changed; `StoreError` if the
    table did not take it.
    """
    switches = Switches.model_validate({**dict(stack.switchboard.read()), **changes})
    if changes.get("strategy") is not None:
        strategies_of(GAME.strategies).maker(str(switches.strategy))
    most = _most(stack)
    if changes.get("at_once") is not None and (switches.at_once or 0) > most:
        raise ConfigError(
            f"At most {most} can be played at once: that is MatchLimit. Deploy it with more."
        )
    stack.switchboard.set(switches)
    return switches


def _most(stack: Stack) -> int:
    """How many workers are started at once."""
    return int(stack.parameters["MatchLimit"])

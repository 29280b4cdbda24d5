"""What a deployment over a stack of version 0.2 takes away, said before it."""

from collections.abc import Iterator

from cardsharp.errors import ConfigError, StoreError
from workbench.operate.stack import Clients, find_stack
from workbench.show.checks import DoctorCheck, attempt

UPGRADE = "docs/operations.md, From version 0.2"


def outdated(client: Clients, name: str) -> Iterator[DoctorCheck]:
    """Nothing, unless the stack is there and its games, pages or arena are of version 0.2."""
    try:
        parameters = find_stack(name, client).parameters
    except (ConfigError, StoreError):
        return  # there is none, or no access, which preflight says itself
    games = [one for one in parameters.get("Services", "none").split(",") if one != "none"]
    pages = ["the pages"] if "Services" in parameters and parameters["DeployWeb"] == "yes" else []
    if games or pages:
        yield attempt("upgrade", lambda: _sentence(name, [*games, *pages]))


def _sentence(name: str, gone: list[str]) -> str:
    """Never returns: what goes is told as what keeps one from deploying at once."""
    raise ConfigError(
        f"{name} is of version 0.2: its match log stays, but {', '.join(gone)} will have new "
        f"addresses and empty tables, or are gone where they are not asked for ({UPGRADE})."
    )

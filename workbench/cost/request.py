"""What is reckoned of a request to a service, where nothing measures it."""

from collections.abc import Mapping

from workbench.cloud.template import all_resources

PLATFORM_BYTES = 400
"""What Lambda itself logs of an invocation: START, END and REPORT."""

ACCESS_BYTES = 200
"""What the access log has of a request."""

TABLE_SECONDS = 0.005
"""A request to the table, assumed."""

WHOLE_PROCESSOR = 1769
"""Megabytes with which a function has a whole processor."""


def properties_of(game: str) -> Mapping[str, object]:
    """What the template says of a game's function."""
    return all_resources()[f"{game}Service"].properties


def memory_of(game: str) -> int:
    """The megabytes of a game's function where nobody asks for others."""
    told = properties_of(game)["MemorySize"]
    return int(told["Fn::If"][2]) if isinstance(told, dict) else int(str(told))


def billed(  # noqa: PLR0913 - figures
    requests: float,
    seconds: float,
    table_requests: float,
    *,
    memory: float,
    logged: float = 0,
    architecture: str = "arm64",
) -> dict[str, float]:
    """What requests to a function behind an HTTP API use, by the names of the price list.

    They took so many seconds of a whole processor, asked the table so often, and the function
    itself logged so many bytes.
    """
    busy = seconds * max(1, WHOLE_PROCESSOR / memory) + table_requests * TABLE_SECONDS
    return {
        f"Lambda GB-seconds {architecture}": busy * memory / 1024,
        "Lambda requests": requests,
        "HTTP API requests": requests,
        "Logs GB written": (logged + requests * (PLATFORM_BYTES + ACCESS_BYTES)) / 1e9,
    }

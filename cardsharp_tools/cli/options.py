"""Options that several commands take."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter, Token, validators


@Parameter(name="*")
class CommandOptions:
    """Base class of command options: each option is named after its field."""


Positive = validators.Number(gte=1)

GameName = Annotated[str, Parameter(help="The game.")]

Workers = Annotated[
    int | None, Parameter(validator=Positive, help="Number of processes. Default: one per core.")
]

Json = Annotated[bool, Parameter(name="--json", help="Print one JSON document.")]

STDIN_PATH = "/dev/stdin"  # the word that means the standard input; `-` on a command line

ProxyAddress = Annotated[
    str | None,
    Parameter(
        name="--proxy",
        help="The HTTP proxy to use: http://HOST:PORT or https://USER:PASSWORD@HOST:PORT. "
        "Default: CARDSHARP_PROXY.",
    ),
]

Store = Annotated[
    str | None,
    Parameter(
        help="The match log: sqlite:FILE, dynamodb:TABLE or any SOURCE of `stats`. Default: "
        "CARDSHARP_STORE, or the log of this machine."
    ),
]

MatchSourceName = Annotated[
    str | None,
    Parameter(
        help="Where the matches are: a contest's folder, an arena's address (also with "
        "?tag=TAG), a FILE "
        "or folder of recorded matches, - for the standard input, or a match log as for --store. "
        "Default: the log of --store."
    ),
]

MatchRef = Annotated[
    str,
    Parameter(
        help="The match: its id, a unique beginning or end of the id, the word last, the URL of a "
        "match, or final-2023, which comes with the program. A SOURCE of `stats` means its last "
        "match."
    ),
]


OpenBrowser = Annotated[
    bool | None,
    Parameter(
        negative="--no-open",
        help="Open the page in a browser. Default: only if this is a terminal.",
    ),
]


Port = Annotated[
    int,
    Parameter(
        validator=validators.Number(gte=0, lte=65535),
        help="The port to listen on; 0 takes a free one.",
    ),
]


def parse_duration(_kind: object, tokens: Sequence[Token]) -> timedelta:
    """Return a duration such as "30d" or "12h"; raise ValueError for anything else."""
    match = re.fullmatch(r"(\d{1,6})([dh])", tokens[0].value)
    if match is None:
        raise ValueError("It must be a number of days or hours, e.g. 30d or 12h.")
    return int(match[1]) * {"d": timedelta(days=1), "h": timedelta(hours=1)}[match[2]]


def _parse_store_file(_kind: object, tokens: Sequence[Token]) -> Path:
    """Return the file of "sqlite:FILE" or FILE; raise `ValueError` for another kind of store."""
    kind, _, rest = tokens[0].value.rpartition(":")
    if kind not in {"", "sqlite"}:
        raise ValueError("Matches that are played here are stored in a file: give sqlite:FILE.")
    return Path(rest).expanduser()


StoreFile = Annotated[
    Path | None,
    Parameter(
        name=("--store", "--data"),
        converter=_parse_store_file,
        help="The match log to write: sqlite:FILE. Default: the log of this machine.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class ArenaServerOptions(CommandOptions):
    """Address, encryption and access options of an arena's server."""

    host: str = "127.0.0.1"
    """The address to listen on; 0.0.0.0 accepts other machines."""
    port: Annotated[int, Parameter(validator=validators.Number(gte=0, lte=65535))] = 8080
    """The port to listen on; 0 takes a free one."""
    tls: tuple[Path, Path] | None = None
    """Serve https with these two PEM files: CERT and KEY."""
    insecure: bool = False
    """Allow plain http for other machines. Only do this in a private network."""
    public: bool = False
    """Let spectators watch without a password."""
    min_move_interval: timedelta = timedelta()
    """The least time between two moves that a match page shows, such as 1s."""

    @property
    def arena_config_fields(self) -> dict[str, Any]:
        """These options as fields of an arena's configuration."""
        return {
            "host": self.host,
            "port": self.port,
            "tls_files": self.tls,
            "allow_plain_http": self.insecure,
            "is_public": self.public,
            "min_page_interval": self.min_move_interval,
        }

"""Options that several commands take."""

from typing import Annotated

from cyclopts import Parameter

Json = Annotated[bool, Parameter(name="--json", negative=(), help="Print one JSON document.")]

Store = Annotated[
    str | None,
    Parameter(
        help="The match log: sqlite:FILE or dynamodb:TABLE; else CARDSHARP_STORE, else our own."
    ),
]

Match = Annotated[str, Parameter(help="An id, a unique beginning or end of one, or the word last.")]

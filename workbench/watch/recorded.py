"""Matches that somebody recorded, in files or a pasted text."""

import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from cardsharp.cloud.told import ToldMatches, Whole
from cardsharp.errors import ConfigError, Malformed
from cardsharp.games import games
from workbench.show.progress import Bar

RECORDED = (".json", ".jsonl", ".gz")
"""What the names of files with matches end with."""


class RecordedMatches(ToldMatches):
    """The matches of some texts by their names: one as an arena answers it, or one a line.

    Lines that tell no match are left out, such as creations that were refused.

    Raises:
        ConfigError: there is no match in any.
    """

    def __init__(self, texts: Mapping[str, bytes]) -> None:
        found = {record.match_id: (record, moves) for record, moves in _parsed(texts)}
        listed = {name: (one.started, one.status) for name, (one, _) in found.items()}
        super().__init__(found.get, listed)


def texts_of(place: Path) -> dict[str, bytes]:
    """What a file has, or each recorded file of a folder; raises `ConfigError`."""
    files = [place]
    if place.is_dir():
        files = sorted(one for one in place.iterdir() if one.suffix in RECORDED)
    try:
        return {str(one): _unpacked(one) for one in files}
    except (OSError, EOFError) as error:
        why = getattr(error, "strerror", None) or error
        raise ConfigError(f"{place} cannot be read: {why}.") from None


def _unpacked(file: Path) -> bytes:
    return gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()


def _parsed(texts: Mapping[str, bytes]) -> list[Whole]:
    """The matches of the texts; raises `ConfigError` where there is none in any."""
    found, fault = [], "There is no recorded match (.json, .jsonl, .gz) in the folder."
    told = [(name, line) for name, text in texts.items() for line in _documents(text)]
    with Bar(len(told), "reading") as bar:
        for name, line in told:
            try:
                found.append(match_told(line))
            except Malformed as error:
                fault = f"{name}: {error}"
            bar.advance()
    if not found:
        raise ConfigError(fault)
    return found


def _documents(text: bytes) -> Iterator[bytes]:
    """A text that is one JSON document, or the lines of any other."""
    try:
        json.loads(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        yield from lines if len(lines) > 1 and lines[0].startswith(b"{") else [text]
    else:
        yield text


def match_told(text: bytes) -> Whole:
    """A match of the game whose arena or service tells matches so; raises `Malformed`."""
    reasons = []
    for game in games():
        if game.recorded is not None:
            try:
                return game.recorded.load()(text)
            except Malformed as error:
                reasons.append(str(error))
    raise Malformed(" ".join(reasons))

"""`cardsharp watch`: a match in the browser, step by step, and live while it is played."""

import sys
import threading
import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cardsharp.errors import ConfigError
from cardsharp.viewer.explained import explained
from cardsharp.viewer.moment import moment
from cardsharp.viewer.pages import match_file, steps_document
from cardsharp.viewer.shown import shown
from cardsharp.viewer.site import Manner, Pages
from workbench.cli.games import AnyGame
from workbench.show.lookup import LAST
from workbench.show.options import CommandOptions, Json, Match, Opening, Port, Store
from workbench.show.output import print_json, results, tell, write_file
from workbench.show.progress import each
from workbench.table.branch import with_branches
from workbench.table.served import pages_over
from workbench.watch.sources import match_of


@dataclass(frozen=True, kw_only=True)
class WatchOptions(CommandOptions):
    """Where to show it."""

    html: Path | None = None
    """Write one page there instead, which opens from disk without a network."""
    svg: Path | None = None
    """Write its most eventful turn there instead, as a picture that plays."""
    public: bool = False
    """Leave our reasons out of a file or JSON."""
    port: Port = 0
    open: Opening = None
    store: Store = None
    as_json: Json = False


def watch(
    match: Match = LAST, /, *, options: WatchOptions = WatchOptions(), game: AnyGame = None
) -> None:
    """Look at a match in the browser, step by step; one that is played moves on by itself."""
    source, match_id = match_of(match, options.store, game)
    if not (options.html or options.svg or options.as_json):
        with pages_over(source, options.port) as address:
            shown_until_stopped(f"{address}/matches/{match_id}", options.open)
        return
    record = source.match(match_id)
    if record is None:
        raise ConfigError(f"There is no match {match_id}.")
    found = shown(record, source.moves(match_id), public=options.public)
    if options.html is not None:
        pages = Pages(source, with_branches(Manner(public=options.public)))
        page = match_file(found, explained(found, each), pages.branches(found))
        _write(options.html, page, match_id, as_json=options.as_json)
    if options.svg is not None:
        picture = moment(found, explained(found, each))
        _write(options.svg, picture, match_id, as_json=options.as_json)
    if not (options.html or options.svg):
        print_json({"match": match_id, **steps_document(found)})


def _write(file: Path, text: str, match_id: str, *, as_json: bool) -> None:
    write_file(file, text)
    tell({"match": match_id, "file": str(file)}, f"{file} opens in any browser", as_json=as_json)


def open_page(url: str, wanted: bool | None) -> None:
    """Open the browser, where that is wanted or this is a terminal."""
    if sys.stdout.isatty() if wanted is None else wanted:
        webbrowser.open(url)


def shown_until_stopped(url: str, wanted: bool | None) -> None:
    """Say where a page is, open it where that is wanted or this is a terminal, wait for Ctrl-C."""
    results().print(url)
    results().print("Ctrl-C closes it.", style="dim")
    open_page(url, wanted)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()

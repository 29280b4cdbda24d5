"""`cardsharp watch`: a match in the browser, step by step, and live while it is played."""

import sys
import threading
import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from cardsharp.errors import ConfigError
from cardsharp.pages.analysis_view import build_analysis_view
from cardsharp.pages.highlight_svg import render_highlight_svg
from cardsharp.pages.match_pages import standalone_match_page, steps_json
from cardsharp.pages.rendered_match import render_match
from cardsharp.server.match_site import MatchSite, PagesConfig
from cardsharp_tools.cli.console import print_json, print_json_or_lines, result_console, write_file
from cardsharp_tools.cli.game_commands import OptionalGame
from cardsharp_tools.cli.options import CommandOptions, Json, MatchRef, OpenBrowser, Port, Store
from cardsharp_tools.game_rooms.room_server import serve_match_pages
from cardsharp_tools.match_sources.branches import config_listing_branches
from cardsharp_tools.match_sources.match_names import LAST_MATCH
from cardsharp_tools.match_sources.sources import find_match_source
from cardsharp_tools.terminal.progress import track


@dataclass(frozen=True, kw_only=True)
class WatchOptions(CommandOptions):
    """Output of `cardsharp watch`: a page in the browser, a file, or JSON."""

    html: Path | None = None
    """Write the page into this file, which opens without a network."""
    svg: Path | None = None
    """Write an animated SVG of the most eventful turn into this file."""
    public: bool = False
    """Leave our reasons out of the file or the JSON."""
    port: Port = 0
    open: OpenBrowser = None
    store: Store = None
    as_json: Json = False


def watch(
    match: MatchRef = LAST_MATCH,
    /,
    *,
    options: WatchOptions = WatchOptions(),
    game: OptionalGame = None,
) -> None:
    """Show a match in the browser, step by step. A running match is shown live."""
    source, match_id = find_match_source(match, options.store, game)
    if not (options.html or options.svg or options.as_json):
        with serve_match_pages(source, options.port) as address:
            show_page_until_interrupt(f"{address}/matches/{match_id}", options.open)
        return
    record = source.match(match_id)
    if record is None:
        raise ConfigError(f"There is no match {match_id}. `cardsharp matches` lists the matches.")
    rendered_match = render_match(record, source.moves(match_id), hide_private=options.public)
    if options.html is not None:
        pages = MatchSite(source, config_listing_branches(PagesConfig(hide_private=options.public)))
        page = standalone_match_page(
            rendered_match,
            build_analysis_view(rendered_match, track),
            pages.render_branches(rendered_match),
        )
        _save_file(options.html, page, match_id, as_json=options.as_json)
    if options.svg is not None:
        picture = render_highlight_svg(rendered_match, build_analysis_view(rendered_match, track))
        _save_file(options.svg, picture, match_id, as_json=options.as_json)
    if not (options.html or options.svg):
        print_json({"match": match_id, **steps_json(rendered_match)})


def _save_file(file: Path, text: str, match_id: str, *, as_json: bool) -> None:
    write_file(file, text)
    print_json_or_lines(
        {"match": match_id, "file": str(file)},
        f"Created {file}. Any browser opens it.",
        as_json=as_json,
    )


def open_page_if_interactive(url: str, open_browser: bool | None) -> None:
    """Open a page in the browser if that is requested or stdout is a terminal."""
    if sys.stdout.isatty() if open_browser is None else open_browser:
        webbrowser.open(url)


def show_page_until_interrupt(url: str, open_browser: bool | None) -> None:
    """Print a page's URL, open it if requested or on a terminal, and wait for Ctrl-C."""
    result_console().print(url)
    result_console().print("Press Ctrl-C to stop serving the page.", style="dim")
    open_page_if_interactive(url, open_browser)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()

"""Tests of game rooms and branches on real servers: forms, secrets, hidden information."""

import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from html import unescape
from pathlib import Path
from random import Random
from threading import Condition
from typing import Any

import pytest
import requests
from support.case_counts import case_count
from support.cli import Cli, isolate_environment, write_strategy_file
from support.game_room import (
    SeatClient,
    choice_keys,
    match_config,
    play_branch,
    question_number,
    serve_test_room,
)
from support.games import GAMES, game_id, game_simulation, match_states, mount_samples
from support.stored_matches import HOSTILE_NAME
from support.waiting import HANG_SECONDS

from cardsharp.core.sentences import capitalise
from cardsharp.pages.table_parts import NO_ACTIONS
from cardsharp.play.game import Game
from cardsharp.store.match_log import MatchStatus
from cardsharp_tools.cli.versus_runner import run_room_until_interrupt
from cardsharp_tools.executors.strategy_reference import StrategyFile
from cardsharp_tools.game_rooms import browser_seat as chairs
from cardsharp_tools.game_rooms.browser_seat import BrowserSeat
from cardsharp_tools.game_rooms.game_room import FinishedRoomMatch, GameRoom, RoomState
from cardsharp_tools.game_rooms.match_branch import find_branch_point
from cardsharp_tools.game_rooms.room_server import serve_match_pages
from cardsharp_tools.game_rooms.seat_pages import seat_page, updates_document
from cardsharp_tools.match_sources.match_logs import default_store, import_match, open_log
from cardsharp_tools.match_sources.sources import find_match_source

BROWSER_GAMES = [
    game for game in GAMES if game.terminal_ui is not None and game.board_renderer is not None
]
every_game = pytest.mark.parametrize("game", BROWSER_GAMES, ids=game_id)


@pytest.fixture(autouse=True)
def isolated_data_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mount_samples(monkeypatch, tmp_path)
    isolate_environment(monkeypatch, tmp_path)


@every_game
def test_a_complete_match_is_played_with_forms(game: Game) -> None:
    """The match ends with a result; if it is stored, the seat links to its page."""
    room = GameRoom(match_config(game), "Ann")
    with serve_test_room(room) as (seat,):
        html = seat.play_to_end()
        assert re.search(r"You have won!|has won\.|have won\.|The match is a tie\.", html)
        titles = {"euchre": "You and Partner v Left and Right"}
        page = requests.get(seat.link, timeout=HANG_SECONDS).text
        assert f"<h1>{titles.get(game.name, 'You v ')}" in page
        assert game.name != "deadmansdraw" or re.search(r"Draw · \d+ : \d+, turn", page)
        assert (room.last.stored_id is not None) is bool(room.last.parts)
        for part in room.last.parts[-1:]:
            match_id = part.record.match_id
            assert (
                requests.get(f"{seat.link}/matches/{match_id}", timeout=HANG_SECONDS).status_code
                == 200
            )
            with open_log(default_store()) as log:
                record = log.match(match_id)
            assert record.status is MatchStatus.FINISHED
            assert "versus" in record.header["tags"][0]


def test_a_bot_that_always_fails_is_reported_once_and_listed_as_failing(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    failing_strategy = write_strategy_file(tmp_path, "bad", "return 1 / 0")
    room = GameRoom(
        replace(match_config("deadmansdraw"), opponent=StrategyFile(failing_strategy)), "Ann"
    )
    with serve_test_room(room) as (seat,):
        seat.play_to_end()
    assert room.failing_bots == {"bad.py"}
    assert capsys.readouterr().err.count("A safe action is played") == 1


def test_a_room_continues_if_a_result_cannot_be_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The match is stored, its page exists, and another match can be played."""

    def raise_broken_pipe(_match: FinishedRoomMatch, _names: list[str]) -> None:
        raise BrokenPipeError

    room = GameRoom(match_config("nim"), "Ann", on_match_end=raise_broken_pipe)
    with serve_test_room(room) as (seat,):
        seat.play_to_end()
        assert seat.post_from_script("again", number=room.match_number) == ""
        seat.wait_for_text('id="moves"')
        assert (room.match_number, room.fault) == (2, None)
    error_output = capsys.readouterr().err
    assert error_output.count("The output cannot be written") == 1


def test_ctrl_c_leaves_no_lock_behind() -> None:
    """A Ctrl-C right after the lock is acquired releases it.

    The thread of the page once waited forever in that case.
    """

    class InterruptingCondition(Condition):
        pressed = False

        def __enter__(self) -> bool:
            taken = super().__enter__()
            if not self.pressed:
                self.pressed = True
                signal.raise_signal(signal.SIGINT)
            return taken

    condition = InterruptingCondition()
    run_room_until_interrupt(GameRoom(match_config("nim"), "Ann", condition=condition))

    def can_acquire() -> bool:
        is_acquired = condition.acquire(timeout=HANG_SECONDS)
        condition.release()  # or the room's own thread would wait for ever
        return is_acquired

    with ThreadPoolExecutor() as executor:
        assert executor.submit(can_acquire).result()


def test_a_form_that_is_sent_twice_or_was_not_offered_plays_nothing() -> None:
    """A double click, a second window or the back button repeats a form; a notice explains it."""
    room = GameRoom(match_config("blef"), "Ann")
    with serve_test_room(room) as (seat,):
        html = seat.wait_for_text('id="moves"')
        for key in ("88", "999", "", "<b>", "-1"):
            assert (
                seat.post_from_script("move", number=question_number(html), key=key)
                == chairs.REFUSAL_MESSAGES["unknown"]
            )
        assert (
            seat.post_from_script("move", number="x" * 30, key="0")
            == chairs.REFUSAL_MESSAGES["late"]
        )
        form = {"number": question_number(html), "key": choice_keys(html)[0]}
        assert seat.post_from_script("move", **form) == ""
        seat.wait_for_text('id="moves"')
        previous_history = list(room.chairs[0].history)
        late_response = seat.submit_form("move", **form)
        assert chairs.REFUSAL_MESSAGES["late"] in late_response.text
        assert seat.post_from_script("move", **form) == chairs.REFUSAL_MESSAGES["late"]
        assert (
            seat.post_from_script("hint", number=form["number"]) == chairs.REFUSAL_MESSAGES["late"]
        )
        assert room.chairs[0].history == previous_history


def test_a_seat_needs_its_secret_and_its_page_runs_only_local_scripts() -> None:
    with serve_test_room(GameRoom(match_config("nim"), HOSTILE_NAME)) as (seat,):
        headers = requests.get(seat.link, timeout=HANG_SECONDS).headers
        assert "script-src 'self'" in headers["Content-Security-Policy"]
        assert (headers["Cache-Control"], headers["Referrer-Policy"]) == ("no-store", "no-referrer")
        assert HOSTILE_NAME not in seat.page()
        for path in ("", "seat/", *(f"seat/guessed{part}" for part in ("", "/news", "/matches/1"))):
            assert requests.get(f"{seat.base}/{path}", timeout=HANG_SECONDS).status_code == 404
        guess_response = requests.post(
            f"{seat.base}/seat/guessed/move", data={"number": 1}, timeout=HANG_SECONDS
        )
        assert guess_response.status_code == 404
        assert requests.post(f"{seat.link}/nothing", timeout=HANG_SECONDS).status_code == 404
        assert (
            requests.post(f"{seat.link}/move", data="x" * 3000, timeout=HANG_SECONDS).status_code
            == 413
        )
        foreign_origin_response = requests.post(
            f"{seat.link}/leave", headers={"Origin": "http://evil.example"}, timeout=HANG_SECONDS
        )
        assert foreign_origin_response.status_code == 403
        foreign_host_response = requests.get(
            seat.link, headers={"Host": "evil.example"}, timeout=HANG_SECONDS
        )
        assert (foreign_host_response.status_code, seat.path in foreign_host_response.text) == (
            400,
            False,
        )


# --- invitations ---------------------------------------------------------------------------------


def create_two_player_room() -> GameRoom:
    """Create a room for Blef with a seat for a guest."""
    return GameRoom(match_config("blef", human_count=2), "Ann", clock=lambda: 0.0)


def test_a_guest_joins_by_link_and_acts_and_sees_only_for_that_seat() -> None:
    """The match waits for the guest; each page shows only its seat's cards."""
    room = create_two_player_room()
    with serve_test_room(room) as seats:
        host, guest = seats
        page = host.page()
        assert f'value="{guest.link}"' in page
        assert "has not come yet" in page
        assert "Take the seat" in guest.page()
        assert room.state is RoomState.WAITING
        guest.submit_form("join", name=f"  {HOSTILE_NAME}\x00 ")
        assert HOSTILE_NAME[:10] not in host.wait_for_text('id="moves"', "plays") + host.page()
        assert [chair.name for chair in room.chairs] == ["Ann", HOSTILE_NAME[:24]]
        active_index = next(
            seat_index for seat_index, chair in enumerate(room.chairs) if chair.question is not None
        )
        waiting_seat, active_number = (
            seats[1 - active_index],
            room.chairs[active_index].question_number,
        )
        for key in ("0", "1", "88"):
            assert (
                waiting_seat.post_from_script("move", number=active_number, key=key)
                == chairs.REFUSAL_MESSAGES["late"]
            )
        assert (
            waiting_seat.post_from_script("hint", number=active_number)
            == chairs.REFUSAL_MESSAGES["late"]
        )
        assert (
            waiting_seat.post_from_script("bot", place=active_index) == ""
        )  # who is there is not replaced
        assert room.chairs[active_index].question is not None
        hands = [str(chair.last_view["hand"]) for chair in room.chairs]
        assert hands[0] != hands[1]
        for seat_index, seat in enumerate(seats):
            page = seat.page()
            assert hands[seat_index] in page
            assert hands[1 - seat_index] not in page
            assert seats[1 - seat_index].path not in page


def test_a_bot_can_replace_an_absent_guest() -> None:
    """Only the host can request a bot, and a late guest gets the seat back."""
    room = create_two_player_room()
    with serve_test_room(room) as (host, guest):
        assert host.path not in guest.page()
        for seat, seat_index in ((guest, 0), (guest, 1), (host, 0), (host, 7), (host, "x")):
            seat.post_from_script(
                "bot", place=seat_index
            )  # only who has not come is replaced, by the host alone
        assert [chair.replacement_bot for chair in room.chairs] == [None, None]
        host.post_from_script("bot", place=1)
        host.wait_for_text('id="moves"')
        assert "threshold" in host.page()
        assert "A bot plays here for you" in guest.page()
        guest.submit_form("join", name="Bea")
        assert room.chairs[1].replacement_bot is None


# --- what a seat may not know --------------------------------------------------------------------


@every_game
@pytest.mark.parametrize("seed", range(case_count(1, full=15)))
def test_no_page_reveals_a_hidden_card(game: Game, seed: int) -> None:
    """The page and its updates stay equal to the byte if the hidden cards are dealt again."""
    simulation = game_simulation(game)
    room = GameRoom(match_config(game), "Ann")
    room.state = RoomState.PLAYING
    for state_number, state in enumerate(match_states(simulation, seed)):
        seat = simulation.current_seat(state)
        if seat is None or state_number % 5:
            continue
        resampled_state = simulation.resample_hidden(state, Random(seed))
        assert render_seat(room, seat, state, game) == render_seat(
            room, seat, resampled_state, game
        )


def render_seat(room: GameRoom, seat: int, state: Any, game: Game) -> tuple[str, object]:  # noqa: ANN401
    """Return the page and the updates of a seat that has to decide in that state."""
    simulation, chair = game_simulation(game), room.chairs[0]
    new_seat = BrowserSeat(
        Condition(), chair.advisor, chair.make_decision, lambda: 0.0, is_present=True, secret="s"
    )
    names = [f"player {seat_number}" for seat_number in range(simulation.seats)]
    new_seat.start_match(game.terminal_ui.load()(names, seat), room.board)
    new_seat.show_position(simulation.position_for(state, seat), seat)
    new_seat.show_hints = (
        len(simulation.legal_actions(state)) % 7 == 0
    )  # in some, as it takes a while
    new_seat.replacement_bot = None
    room.chairs[0] = new_seat
    new_seat.post_question(simulation.current_position(state))
    return seat_page(room, 0, ["/seat/s"]), updates_document(room, 0, ["/seat/s"], 0)


@every_game
@pytest.mark.parametrize("seed", range(case_count(1, full=20)))
def test_a_view_of_the_active_seat_is_its_position(game: Game, seed: int) -> None:
    simulation = game_simulation(game)
    board = game.board_renderer.load()
    names = [f"player {seat}" for seat in range(simulation.seats)]
    for state in match_states(simulation, seed):
        seat = simulation.current_seat(state)
        if seat is not None:
            assert simulation.position_for(state, seat) == simulation.current_position(state)
        for viewer in range(simulation.seats):
            position = simulation.position_for(state, viewer)
            parts = board.render_position(names, viewer, position, NO_ACTIONS)
            assert any(parts.values())
            assert capitalise(names[viewer]) in (parts.get("seat0") or capitalise(names[viewer]))


# --- branches: begun by a match's form, played at a seat, listed under the match ----------------


FINAL = "final-2023"


@pytest.fixture
def final_url() -> Iterator[str]:
    """The address of the page of the final."""
    source, match = find_match_source(FINAL, None)
    with serve_match_pages(source) as url:
        yield f"{url}/matches/{match}"


def get_text(url: str) -> str:
    response = requests.get(url, timeout=HANG_SECONDS)
    assert response.status_code == 200
    return response.text


def start_branch(url: str, **form: object) -> requests.Response:
    """Send the branch form of a match's page, and return the response."""
    token = re.findall(r'name="token" value="([^"]+)"', get_text(url))[0]
    form_fields = {"token": token, **form}
    return requests.post(
        f"{url}/branch", data=form_fields, timeout=HANG_SECONDS, allow_redirects=False
    )


def test_a_branch_can_be_played_from_the_match_page_and_is_listed_on_it(final_url: str) -> None:
    """The branch's page loads all its files from this server."""
    base = final_url.partition("/matches")[0]
    response = start_branch(final_url, step=66, cards="same", opponent="draw-3")
    assert response.status_code == 303
    seat = SeatClient(base + response.headers["location"])
    for name in re.findall(r'(?:href|src)="(/page/[^"]+)"', seat.page()):
        assert get_text(base + name)
    assert " at step 66." in seat.page()
    seat.play_to_end()
    branch_list = get_text(final_url).partition('id="branches"')[2]
    assert "step 66: " in branch_list
    branch_link = re.search(r'href="(/matches/branch-[^"#]+)#66"', branch_list)
    assert f'This is a branch of <a href="{final_url.removeprefix(base)}#66">' in get_text(
        base + branch_link[1]
    )
    second_response = start_branch(base + branch_link[1], step=68)  # a branch of the branch
    SeatClient(base + second_response.headers["location"]).play_to_end()
    assert re.search(r"<ul>.*step 66: .*<ul>.*step \d+: ", get_text(final_url), re.DOTALL)


def test_an_invalid_branch_form_starts_no_match(final_url: str) -> None:
    for form in ({"token": "guessed"}, {"opponent": "nobody"}, {"step": 9999}):
        response = start_branch(final_url, **{"step": 40, **form})
        assert response.status_code in {400, 403, 503}
        assert "location" not in response.headers
    assert requests.post(f"{final_url}x/branch", timeout=HANG_SECONDS).status_code == 403
    assert (
        requests.get(final_url.replace("matches", "seat"), timeout=HANG_SECONDS).status_code == 404
    )


def test_a_finished_room_match_can_be_branched_by_a_single_player() -> None:
    """In a room with a guest no branch can be started."""
    with serve_test_room(GameRoom(match_config("deadmansdraw"), "Ann")) as (seat,):
        link = re.search(r'href="(/seat/[^"]+/matches/[^"]+)"', seat.play_to_end())
        response = start_branch(seat.base + link[1], step=3)
        branch_seat = SeatClient(seat.base + response.headers["location"])
        assert " at step 3." in branch_seat.wait_for_text('id="moves"') + unescape(
            branch_seat.page()
        )
    with serve_test_room(GameRoom(match_config("blef", human_count=2), "Ann")) as (host, _):
        assert (
            requests.post(f"{host.link}/matches/x/branch", timeout=HANG_SECONDS).status_code == 404
        )
        assert "Take back" not in host.page()


def test_a_choice_can_be_undone_at_the_seat() -> None:
    with serve_test_room(GameRoom(match_config("deadmansdraw"), "Ann")) as (seat,):
        first_page = seat.wait_for_text('id="moves"')
        assert "Take back" not in first_page  # there is nothing to take back yet
        assert (
            seat.post_from_script(
                "move", number=question_number(first_page), key=choice_keys(first_page)[0]
            )
            == ""
        )
        second_page = seat.wait_for_text('id="moves"')
        assert "Take back" in second_page
        assert seat.post_from_script("undo", number=question_number(second_page)) == ""
        seat.wait_for_text('id="moves"')
        assert "Taken back: " in seat.page()
        assert seat.post_from_script("undo", number=question_number(first_page)) != ""


def test_small_files_hold_the_branches(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The HTML file and the commands include the match and its branches."""
    source, match_id = find_match_source(FINAL, None)
    record = source.match(match_id)
    with open_log(default_store()) as log:
        for step in range(1, 75, case_count(24, full=6)):
            ((branch_record, moves),) = play_branch(
                find_branch_point(record, source.moves(match_id), step)
            ).match_log_records()
            import_match(branch_record, moves, log)
    file, cli = tmp_path / "match.html", Cli(capsys)
    assert cli("watch", FINAL, "--html", str(file)).code == 0
    page = file.read_text()
    assert len(page.encode()) < 300_000
    branches = case_count(4, full=13)
    assert page.count('data-branch="branch-') == branches
    output = cli("show", FINAL).out
    assert output.count("another course from step ") == branches
    branch_entries = cli("show", FINAL, "--json").json()["branches"]
    assert len(branch_entries) == branches
    assert {branch["header"]["branch"]["of"] for branch in branch_entries} == {match_id}
    assert cli("stats").code == 2  # branches are results of nobody

"""Play Dead Man's Draw at an arena: python bot.py URL ID [TAG | --practice] [--insecure]."""

import os
import sys
import time
from urllib.parse import quote, urlsplit

import requests


def decide(match: dict) -> dict:
    """Your strategy: return the action for your turn. This one stops at three cards."""
    enough = len(match["state"]["playArea"]) >= 3
    return {"etype": "EndTurn" if enough else "Draw", "autopick": True}


def ask(arena: requests.Session, method: str, url: str, **more: object) -> requests.Response:
    """Send a request and return the response: 200, 409 (not your turn) or 410 (match over)."""
    # A long poll takes up to 30 s. The arena delays too frequent requests by up to 10 s more.
    answer = arena.request(method, url, timeout=45, **more)
    if answer.status_code == 401:
        sys.exit(f"{answer.text}: are ID and ARENA_PASSWORD right?")
    if answer.headers.get("X-SlowDown-Remaining") == "0":
        time.sleep(1)
    if answer.status_code not in (200, 409, 410):
        raise requests.RequestException(f"{answer.status_code} {answer.text}", response=answer)
    if "X-Arena-Notice" in answer.headers:
        print(answer.headers["X-Arena-Notice"])
    return answer


def report(arena: requests.Session, url: str, seat: int, *, begins: bool = False) -> bool:
    """Print that a match begins, or its result if it is over; return True if it is over."""
    match = ask(arena, "GET", url, params={"condensed": 1}).json()
    mine, other = match["playerdata"][seat], match["playerdata"][1 - seat]
    title = f"Match {match['id']}, {' against '.join(match['playernames'])}"
    if begins:
        print(f"{title}: begins")
    elif match["finished"]:
        result = "won" if mine["winner"] else "lost" if other["winner"] else "drawn"
        print(f"{title}: {result} {mine['bankvalue']}:{other['bankvalue']}")
    return match["finished"]


def turn(arena: requests.Session, matches: str, look: str, seats: dict) -> bool:
    """Wait for your turn at the address `look`, and act; return True if the one match is over."""
    answer = ask(arena, "GET", look)
    found = answer.json() if answer.ok else []  # with 409 and 410 there is nothing to do
    if isinstance(found, dict):
        found = [found]
    new = [match for match in found if match["_id"] not in seats]
    if new or not found:  # matches that ran may be over
        for match in [*seats]:
            if report(arena, f"{matches}/{match}", seats[match]):
                del seats[match]
    for match in new:
        seat = match["playerids"].index(arena.auth[0])
        report(arena, f"{matches}/{match['_id']}", seat, begins=True)
        seats[match["_id"]] = seat
    for match in found:
        ask(arena, "POST", f"{matches}/{match['_id']}", json=decide(match))
    return answer.status_code == 410


def play(arena: requests.Session, matches: str, entry: str) -> None:
    """Play matches with the tag `entry` forever, or one practice match."""
    look = f"{matches}?active=1&wait=1" + (f"&tags={quote(entry)}" if entry else "")
    seats = {}  # your seat, 0 or 1, in each match that runs
    is_lost = is_over = False
    while not is_over:
        try:
            if entry == "--practice":
                body = {"playerids": [arena.auth[0], "0" * 24]}
                match = ask(arena, "POST", matches, json=body).json()["id"]
                look, entry = f"{matches}/{match}?waitactive=1", ""
            is_over = turn(arena, matches, look, seats)
            if is_lost:
                print("The arena answers again.")
            is_lost = False
        except requests.RequestException as error:
            # The next request shows whether the action was applied.
            status = 0 if error.response is None else error.response.status_code
            if status == 404:
                seats.clear()  # a restarted arena may have lost its matches
            if 400 <= status < 500:
                print(error)
            elif not is_lost:
                reason = status or type(error).__name__
                print(f"The arena does not answer ({reason}). Trying again every second.")
                is_lost = True
            time.sleep(1)


def main() -> None:
    """Read the arguments, then play."""
    options = {"--insecure"} & {*sys.argv}
    arguments = [word for word in sys.argv[1:] if word not in options]
    if len(arguments) not in (2, 3) or "ARENA_PASSWORD" not in os.environ:
        print(__doc__, "Set ARENA_PASSWORD to the password.", file=sys.stderr)
        sys.exit(2)
    base, player, entry = (*arguments, "")[:3]
    where = urlsplit(base)
    if where.scheme != "https" and where.hostname not in ("127.0.0.1", "localhost"):
        if not options and os.environ.get("ARENA_INSECURE") != "1":
            sys.exit(
                "Others could read the password in transit: use https://, or --insecure in a "
                "network that you trust."
            )
        print("Warning: others in this network can read the password.", file=sys.stderr)
    session = requests.Session()
    session.trust_env = where.scheme == "https"  # this machine and this network need no proxy
    session.auth = (player, os.environ["ARENA_PASSWORD"])
    kind = f"matches with the tag {entry}" if entry else "all its matches"
    wish = "a practice match" if entry == "--practice" else kind
    sys.stdout.reconfigure(line_buffering=True)
    print(f"Player {player} waits for {wish} at {base}")
    play(session, base.rstrip("/") + "/api/matches", entry)


if __name__ == "__main__":
    main()

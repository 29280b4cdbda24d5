"""Play Dead Man's Draw at an arena: python bot.py URL ID [TAG | --practice]."""

import os
import sys
import time
from urllib.parse import urlsplit

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
        raise requests.RequestException(f"{answer.status_code} {answer.text}")
    return answer


def play(arena: requests.Session, matches: str, entry: str) -> str:
    """Play matches with the tag `entry` forever, or one practice match; return its result."""
    look, query = matches, {"active": 1, "wait": 1, "tags": entry or None}
    while True:
        try:
            if entry == "--practice" and look == matches:
                body = {"playerids": [arena.auth[0], "0" * 24]}
                look += "/" + ask(arena, "POST", matches, json=body).json()["id"]
                query = {"waitactive": 1}
            answer = ask(arena, "GET", look, params=query)
            if answer.status_code == 410:
                return {0: "won", 1: "lost", None: "drawn"}[answer.json()["state"]["winnerIdx"]]
            found = answer.json() if look == matches else [answer.json()]
            for match in found if answer.ok else []:
                ask(arena, "POST", f"{matches}/{match['_id']}", json=decide(match))
        except requests.RequestException as error:
            print(error)  # the next request shows whether the action was applied
            time.sleep(1)


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or "ARENA_PASSWORD" not in os.environ:
        print(__doc__, "Set ARENA_PASSWORD to the password.", file=sys.stderr)
        sys.exit(2)
    base, player, *wanted = sys.argv[1:]
    where = urlsplit(base)
    if where.scheme != "https" and where.hostname not in ("127.0.0.1", "localhost"):
        sys.exit("Others could read the password in transit; use https://.")
    session = requests.Session()
    session.trust_env = where.scheme == "https"  # this machine needs no proxy
    session.auth = (player, os.environ["ARENA_PASSWORD"])
    print(play(session, base.rstrip("/") + "/api/matches", *wanted or [""]))

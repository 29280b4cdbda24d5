"""The game's own commands, which `cardsharp` has without its name too: it was there first.

The texts stand here rather than in the modules so that `cardsharp --help` imports none of them.
"""

import cyclopts

from workbench.show.command import Command, mount

ROOM = "workbench.deadmansdraw"

COMMANDS = (
    Command(
        "play",
        "Play matches on this machine and check their logs.",
        "Starts an arena, an opponent, and our bot in its cloud shape: poller, queue, worker and "
        "match log. Needs no account. Shows a single match turn by turn and several in a table.",
        (
            ("cardsharp play", "watch our bot play a match"),
            ("cardsharp play --strategy mine.py", "watch your own strategy"),
            ("cardsharp play --opponent champion -n 20", "twenty matches, with the score"),
            ("cardsharp play --cloud emulator", "through SQS and DynamoDB of an AWS emulator"),
        ),
        room=ROOM,
    ),
    Command(
        "arena",
        "Run an arena in the foreground.",
        "Speaks the competition's REST API. ARENA_ADMIN_PASSWORD in the environment is the "
        "organiser's password; without it there is no organiser.",
        (
            ("cardsharp arena", "on http://127.0.0.1:8080, until Ctrl-C"),
            ("cardsharp arena --data arena.db", "matches survive a restart"),
            ("cardsharp arena --random original", "deal as the competition's server does"),
            ("cardsharp arena --host 0.0.0.0 --tls CERT KEY", "for other machines, by https"),
            ("cardsharp arena match ONE TWO -n 5 --tag cup", "matches of two players of it"),
        ),
        group=True,
        room=ROOM,
    ),
    Command(
        "bot",
        "Attend an arena from this machine, without AWS.",
        "Plays every match that waits for us until Ctrl-C; then running matches are played to "
        "their end, and a second Ctrl-C stops at once. The password comes from "
        "CARDSHARP_PASSWORD or is asked for, never from the command line.",
        (
            ("cardsharp bot --url https://arena.example --user ID", "attend everything"),
            ("cardsharp bot --url ... --user ID --tag final", "only matches with that tag"),
            ("cardsharp bot --url ... --user ID --once", "leave after the first match"),
            (
                "cardsharp bot --url ... --user ID --standby",
                "run it twice: the second takes over",
            ),
        ),
        room=ROOM,
    ),
    Command(
        "practice",
        "Create practice matches at an arena and play them.",
        "Against ourselves, or against the dummy player, whose seat we play as well. Only "
        "matches that were created here are played.",
        (
            ("cardsharp practice --url https://arena.example --user ID", "one against ourselves"),
            ("cardsharp practice ... --opponent dummy --matches 5", "five against the dummy"),
            ("cardsharp practice ... --create-only --tag try", "for a bot that runs elsewhere"),
        ),
        room=ROOM,
    ),
    Command(
        "doctor",
        "Check settings, credentials, clock, arena and stores.",
        "Checks everything that a bot needs, and says what to do about each fault.",
        (
            ("cardsharp doctor", "check what the environment names"),
            ("cardsharp doctor --url https://arena.example --user ID", "check this arena"),
        ),
        room=ROOM,
    ),
)

app = cyclopts.App(name="deadmansdraw", help_format="plaintext")
mount(app, COMMANDS)

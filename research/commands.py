"""`cardsharp research`: where the strategies' weights and tables come from, and how good they are.

The modules are imported when one of their commands is called.
"""

from pathlib import Path

import cyclopts

_EXAMPLES = Path(__file__).with_suffix(".txt").read_text("utf-8").rstrip()

app = cyclopts.App(
    name="research",
    help="Train strategies, and solve what can be solved.",
    help_format="plaintext",
    help_epilogue=_EXAMPLES,
)

app.command(
    "research.deadmansdraw.train:main",
    name="train",
    help="Train the captain's weights from scratch.",
)
app.command(
    "research.deadmansdraw.learner:learner",
    name="learner",
    help="What `adaptive` gains on players that it has met, and loses to pretenders.",
)
app.command(
    "research.deadmansdraw.losses:losses",
    name="losses",
    help="What a player loses against perfect play of the last cards.",
)
app.command(
    "research.deadmansdraw.bounds:bounds",
    name="bounds",
    help="What captain lacks at least and at most, from so many unseen cards on.",
)
app.command(
    "research.deadmansdraw.network:network",
    name="network",
    help="Train a network beside captain's tables to beat them.",
)
app.command(
    "research.deadmansdraw.rules:rule",
    name="rule",
    help="The best numbers of a rule that a person can play by.",
)
app.command("research.blef.commands:app", name="solve", help="Solve what can be solved exactly.")
app.command(
    "research.blef.trained_commands:app",
    name="blef",
    help="Train tables for rounds that are too large to be solved exactly.",
)

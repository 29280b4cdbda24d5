"""Commands `research`: how weights and tables were made, and how good they are.

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

for _name, _target, _help in (
    ("train", "deadmansdraw.training:main", "Train the captain's weights from scratch."),
    (
        "test-opponent-model",
        "deadmansdraw.opponent_model_test:test_opponent_model",
        "What `adaptive` gains on players that it has met, and loses to pretenders.",
    ),
    (
        "losses",
        "deadmansdraw.losses:losses",
        "What a player loses against perfect play of the last cards.",
    ),
    (
        "bounds",
        "deadmansdraw.bounds:bounds",
        "What captain lacks at least and at most, from so many unseen cards on.",
    ),
    (
        "search-limits",
        "deadmansdraw.search_limits:search_limits",
        "What captain gains with a deeper search, in whole matches.",
    ),
    (
        "train-network",
        "deadmansdraw.network_training:network",
        "Train a network beside captain's tables by matches against itself.",
    ),
    (
        "tune-rule",
        "deadmansdraw.rule_tuning:tune_rule",
        "The best numbers of a rule that a person can play by.",
    ),
    ("solve", "blef.commands:solve", "Solve what can be solved exactly."),
    (
        "blef",
        "blef.commands:app",
        "Train tables for rounds that are too large to be solved exactly.",
    ),
):
    app.command(f"cardsharp_tools.research.{_target}", name=_name, help=_help)

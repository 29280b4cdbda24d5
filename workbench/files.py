"""Where the files of the project lie that are no library: templates, functions, starters."""

from pathlib import Path

_CLONE = Path(__file__).parents[1]
PROJECT = _CLONE if (_CLONE / "template.yaml").exists() else Path(__file__).with_name("project")
"""The clone that we run from; where we were installed, the folder that the wheel brings."""

FUNCTIONS = PROJECT / "functions"

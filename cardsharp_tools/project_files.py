"""Places of the project's files that are no library: templates, functions, starters."""

from pathlib import Path

from cardsharp.errors import ConfigError

_CLONE = Path(__file__).parents[1]
PROJECT_ROOT = (
    _CLONE if (_CLONE / "template.yaml").exists() else Path(__file__).with_name("project")
)
"""The clone that we run from; where we were installed, the folder that the wheel brings."""

FUNCTIONS_DIR = PROJECT_ROOT / "functions"


def missing_extra_error(feature: str, package: str, extra: str) -> ConfigError:
    """Return the error for a feature that needs a package of one of our extras."""
    line = f"uv tool install '.[{extra}]' or pip install '.[{extra}]' in a clone"
    if PROJECT_ROOT == _CLONE:
        line = "make setup"
    return ConfigError(f"{feature} needs {package}, which is not installed: type {line}.")

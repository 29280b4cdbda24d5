"""A stack with all that it nests, as one template, however it is cut in files."""

from pathlib import Path

from workbench.build.translate import Template, translated
from workbench.cloud.nested import flattened
from workbench.cloud.template import ROOTS


def roots() -> tuple[Path, ...]:
    """The templates that are deployed themselves: those that no other one nests."""
    return ROOTS


def whole(path: Path) -> Template:
    """The translation of a template with that of everything it nests."""
    return flattened(path, translated)

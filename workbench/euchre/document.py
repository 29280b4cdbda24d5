"""Writes docs/euchre-openapi.json from the code: `python -m workbench.euchre.document`."""

import json
from pathlib import Path

from cardsharp.euchre.openapi import document

FILE = Path(__file__).parents[2] / "docs" / "euchre-openapi.json"


def text() -> str:
    """The document as the file holds it."""
    return json.dumps(document(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FILE.write_text(text())

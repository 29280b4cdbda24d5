"""What to say about an error that nobody foresaw."""

import tempfile
import traceback
from pathlib import Path

from cardsharp.cloud.redaction import redact

ADDRESS = "under Issues on the project's GitHub page"
"""Where faults are told."""


def keep_traceback(error: Exception) -> str:
    """One sentence about a bug of ours, which says where its traceback lies."""
    text = redact("".join(traceback.format_exception(error)))
    with tempfile.NamedTemporaryFile(
        "w", prefix="cardsharp-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        file.write(text)
    return (
        f"This is a fault of Cardsharp itself ({type(error).__name__}). "
        f"Please report it {ADDRESS}, with {Path(file.name)}."
    )

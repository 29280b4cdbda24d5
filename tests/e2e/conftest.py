"""What the tests of whole programs share."""

from pathlib import Path

import pytest
from support.cli import Cli, clean


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Cli:
    """The program, in this process, with a data folder of its own and no settings."""
    clean(monkeypatch, tmp_path / "data")
    return Cli(capsys)

"""Submissions of teams, and the sandbox that they need."""

import io
import stat
import zipfile

import pytest

from cardsharp.errors import ConfigError
from cardsharp_tools.executors.sandbox import check_sandbox


def skip_without_sandbox() -> None:
    """Skip the test if no sandbox can be started, with the reason."""
    try:
        check_sandbox()
    except ConfigError as error:
        pytest.skip(str(error))


def zip_files(names: dict[str, bytes], mode: int = stat.S_IFREG | 0o644) -> bytes:
    """Return a zip archive of files of this mode."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, raw in names.items():
            info = zipfile.ZipInfo(name)
            info.external_attr, info.compress_type = mode << 16, zipfile.ZIP_DEFLATED
            archive.writestr(info, raw)
    return buffer.getvalue()

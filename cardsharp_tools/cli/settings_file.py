"""`cardsharp.toml`, a file in the current folder with options that need not be typed."""

import tomllib
from pathlib import Path
from typing import Any

import cyclopts

from cardsharp.core.text_files import read_text
from cardsharp.errors import ConfigError
from cardsharp_tools.cli.renamed import Renames


class SettingsFile(cyclopts.config.Toml):
    """The options of a TOML file, in any encoding that has a mark, else in UTF-8.

    Raises `CycloptsError` with the line where it cannot be read.
    """

    def _load_config(self, path: Path) -> dict[str, Any]:
        name = Path(self.path).name
        try:
            settings = tomllib.loads(read_text(path).text)
        except ConfigError as error:
            raise cyclopts.CycloptsError(msg=str(error).replace(str(path), name, 1)) from error
        except tomllib.TOMLDecodeError as error:
            raise cyclopts.CycloptsError(
                msg=f"{name} cannot be read as TOML: {error}. "
                "Correct that line, or move the file away."
            ) from error
        return Renames.load().current_settings(settings)

"""Old spellings of commands and options, which are read as the new ones for one release.

`renamed.toml` lists them. They are replaced in the command line and in `cardsharp.toml` before
anything else reads these, so that no help, completion or error message shows an old spelling.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from cardsharp.play.catalog import all_games

END_OF_RELEASE = "0.4.0"
"""The release that drops the old spellings."""

_OPTION_PREFIX = "--"
_Row = TypeVar("_Row")


class Renames:
    """Table of old and new spellings of commands, options and values of options."""

    def __init__(self, document: Mapping[str, Any], games: Sequence[str]) -> None:
        self.commands: Mapping[str, str] = document["commands"]
        self.options: Mapping[str, Mapping[str, str]] = document["options"]
        self.values: Mapping[str, Mapping[str, Mapping[str, str]]] = document["values"]
        self._games = games

    @classmethod
    def load(cls) -> "Renames":
        """Return the table of this release."""
        text = Path(__file__).with_suffix(".toml").read_text("utf-8")
        return cls(tomllib.loads(text), [game.name for game in all_games()])

    def current_arguments(self, arguments: Sequence[str]) -> list[str]:
        """Return a command line in which every old spelling is replaced by the new one."""
        chain: list[str] = []
        for word in arguments:  # the words of the command stand before everything else
            if word.startswith("-"):
                break
            chain.append(self._current_command((*chain, word)))
        options, values = self._find_rows(self.options, chain), self._find_rows(self.values, chain)
        current, option = [*chain], ""
        for word_index, word in enumerate(arguments[len(chain) :], len(chain)):
            if word == _OPTION_PREFIX:  # every word after it is a value, whatever it looks like
                return [*current, *arguments[word_index:]]
            if word.startswith(_OPTION_PREFIX):
                name, equals, value = word.removeprefix(_OPTION_PREFIX).partition("=")
                option = options.get(name, name)
                new_value = values.get(option, {}).get(value, value)
                current.append(f"{_OPTION_PREFIX}{option}{equals}{new_value}")
            else:
                current.append(values.get(option, {}).get(word, word))
        return current

    def current_settings(
        self, settings: Mapping[str, Any], chain: tuple[str, ...] = ()
    ) -> dict[str, Any]:
        """Return the settings of the command `chain`, and of those below it, with new spellings.

        `settings` is a table of `cardsharp.toml`. Where it has both spellings, the new one counts.
        """
        options, values = self._find_rows(self.options, chain), self._find_rows(self.values, chain)
        current: dict[str, Any] = {}
        for key, value in settings.items():
            if isinstance(value, dict):
                word = self._current_command((*chain, key))
                table = self.current_settings(value, (*chain, word))
                other_table = current.get(word, {})  # of the same command in its other spelling
                current[word] = other_table | table if word == key else table | other_table
            elif (name := options.get(key, key)) == key or name not in settings:
                current[name] = _current_value(value, values.get(name, {}))
        return current

    def _lookup_keys(self, words: Sequence[str]) -> Iterator[str]:
        """Yield a command's keys in the table: all its words, and those after a game's name."""
        yield " ".join(words)
        if words and words[0] in self._games:
            yield " ".join(words[1:])

    def _current_command(self, words: Sequence[str]) -> str:
        """Return the current spelling of a command's last word."""
        return next(
            (self.commands[key] for key in self._lookup_keys(words) if key in self.commands),
            words[-1],
        )

    def _find_rows(
        self, rows: Mapping[str, Mapping[str, _Row]], words: Sequence[str]
    ) -> Mapping[str, _Row]:
        """Return the rows of the longest command with which the words begin."""
        for prefix_length in range(len(words), 0, -1):
            for key in self._lookup_keys(words[:prefix_length]):
                if key in rows:
                    return rows[key]
        return {}


def _current_value(value: Any, new_values: Mapping[str, str]) -> Any:  # noqa: ANN401 - as TOML has it
    """Return a setting's value, or a list of them, in the new spelling."""
    if isinstance(value, list):
        return [_current_value(element, new_values) for element in value]
    return new_values.get(value, value) if isinstance(value, str) else value

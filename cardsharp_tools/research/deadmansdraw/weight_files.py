"""Weight files that a user names, for a model or for a network."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from cardsharp.core.text_files import read_valid_json_text
from cardsharp.errors import ConfigError
from cardsharp.games.deadmansdraw.strategies.search.network import ValueNetwork
from cardsharp.games.deadmansdraw.strategies.search.value_model import ValueModel
from cardsharp.games.deadmansdraw.strategies.search.weights import parse_network, parse_value_model

_Weights = TypeVar("_Weights", ValueModel, ValueNetwork)


def read_model_weights(path: Path) -> ValueModel:
    """Return the model of a weight file; raise `ConfigError` if it is no such file."""
    return _read_weights(path, parse_value_model, "captain's weights, as `train` writes it")


def read_network_weights(path: Path) -> ValueNetwork:
    """Return the network of a weight file; raise `ConfigError` if it is no such file."""
    producer = "`train-network --weights-file`"
    return _read_weights(path, parse_network, f"a network's weights, as {producer} writes it")


def _read_weights(path: Path, parse: Callable[[str], _Weights], needed_file: str) -> _Weights:
    text = read_valid_json_text(path)
    try:
        return parse(text)
    except ValueError as error:
        raise ConfigError(f"{path}: {error} Give a file with {needed_file}.") from None

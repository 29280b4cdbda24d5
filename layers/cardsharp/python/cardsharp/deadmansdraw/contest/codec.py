"""Settings and results of a contest as the JSON that both stores keep."""

from pydantic import TypeAdapter

from cardsharp.deadmansdraw.contest.records import Result, Settings

_SETTINGS = TypeAdapter(Settings)
_RESULT = TypeAdapter(Result)


def encode_settings(settings: Settings) -> str:
    """The settings as JSON text."""
    return _SETTINGS.dump_json(settings).decode()


def decode_settings(text: str) -> Settings:
    """The settings that `encode_settings` made this text from."""
    return _SETTINGS.validate_json(text)


def encode_result(result: Result) -> str:
    """The result as JSON text."""
    return _RESULT.dump_json(result).decode()


def decode_result(text: str) -> Result:
    """The result that `encode_result` made this text from."""
    return _RESULT.validate_json(text)

"""What a contest keeps as the JSON that both stores hold."""

from pydantic import TypeAdapter

from cardsharp.deadmansdraw.contest.meetings import Meeting, Standing
from cardsharp.deadmansdraw.contest.records import Result, Settings

_SETTINGS = TypeAdapter(Settings)
_RESULT = TypeAdapter(Result)
_MEETING = TypeAdapter(Meeting)
_STANDING = TypeAdapter(Standing)


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


def encode_meeting(meeting: Meeting) -> str:
    """The match of practice as JSON text."""
    return _MEETING.dump_json(meeting).decode()


def decode_meeting(text: str) -> Meeting:
    """The match of practice that `encode_meeting` made this text from."""
    return _MEETING.validate_json(text)


def encode_standing(standing: Standing) -> str:
    """The ratings as JSON text."""
    return _STANDING.dump_json(standing).decode()


def decode_standing(text: str) -> Standing:
    """The ratings that `encode_standing` made this text from."""
    return _STANDING.validate_json(text)

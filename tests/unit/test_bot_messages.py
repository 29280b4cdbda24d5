"""Messages name a match and nothing else."""

import pytest

from cardsharp.cloud.messages import LookMessage, MatchMessage, parse_look, parse_message
from cardsharp.errors import Malformed

MATCH = "6b006509d06c4dfa5a8e02ca"


def test_a_message_comes_back_as_it_was_sent() -> None:
    message = MatchMessage(match_id=MATCH)
    assert message.body == f'{{"match_id":"{MATCH}"}}'
    assert parse_message(message.body) == message


def test_a_look_that_is_due_is_told_from_a_match() -> None:
    look = LookMessage(look=7, left=2)
    assert parse_look(look.body) == look
    assert parse_look(MatchMessage(match_id=MATCH).body) is None
    assert parse_look('{"look":-1}') is None
    with pytest.raises(Malformed):
        parse_message(look.body)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "this is no match message",
        "[]",
        "{}",
        "null",
        '{"match_id":null}',
        '{"match_id":7}',
        '{"match_id":""}',
        '{"match_id":"../whoami"}',
        f'{{"match_id":"{MATCH}\\n"}}',
        f'{{"match_id":"{"a" * 65}"}}',
        f'{{"match_id":"{MATCH}","turn":3}}',
    ],
)
def test_anything_else_is_refused_in_one_sentence_that_does_not_repeat_it(body: str) -> None:
    with pytest.raises(Malformed) as refused:
        parse_message(body)
    sentence = str(refused.value)
    assert sentence.startswith("Not a match message: ")
    assert "\n" not in sentence
    assert "input_value" not in sentence
    assert "this is no" not in sentence

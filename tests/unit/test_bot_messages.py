"""Messages name a match and nothing else."""

import pytest

from cardsharp.cloud.messages import parse_message
from cardsharp.errors import Malformed

MATCH = "6b006509d06c4dfa5a8e02ca"


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

"""Bodies packed by versions up to 0.3, which every later version reads."""

import pytest

from cardsharp.store.packed_bodies import unpack

TEXT = '{"actions":[{"etype":"EndTurn"}],"kraken":3}'
BODY_WITHOUT_HEADER = bytes.fromhex("83051e3401a2c7214807a4dc0716e900")
BODY_WITH_HEADER = bytes.fromhex("78bb79509473") + BODY_WITHOUT_HEADER + bytes.fromhex("5ab10f1a")
BODY_WITHOUT_DICTIONARY = bytes.fromhex(
    "789cab564a4c2ec9cccf2b56b28aae564a2da92c4855b25272cd4b09292dca53aa8dd551ca2e4acc4ecd53b232ae"
    "05005ab10f1a"
)
"""As the match log wrote it on 22 November, then with a header, then of a game without one."""


@pytest.mark.parametrize("packed", [BODY_WITHOUT_HEADER, BODY_WITH_HEADER, BODY_WITHOUT_DICTIONARY])
def test_a_body_of_every_packed_form_is_read(packed: bytes) -> None:
    assert unpack(packed) == TEXT


@pytest.mark.parametrize("length", [0, 1, 2, 5, 6, 20])
def test_truncated_data_is_refused(length: int) -> None:
    with pytest.raises(ValueError, match=r"cut short|unknown dictionary"):
        unpack(BODY_WITH_HEADER[:length])

"""Packed bodies: in a game's words, by whose name they are read as long as they are kept."""

import zlib

import pytest

from cardsharp import games
from cardsharp.cloud.packing import pack, unpack
from cardsharp.deadmansdraw.game import GAME
from cardsharp.deadmansdraw.words import WORDS
from cardsharp.game import Part

MOVE = '{"events":[{"eventType":"Draw","playerIndex":1,"drawCard":{"suit":"Kraken","value":9}}]}'
OTHERS_MOVE = '{"tiles":["Bamboo 1","Bamboo 2"],"discarded":"Red Dragon","wind":"East"}'

OTHER = GAME._replace(name="other", words=Part(f"{__name__}:OTHERS_MOVE"))
BARE = GAME._replace(name="bare", words=None)


@pytest.fixture
def _mounted_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(part: Part[object]) -> object:
        return {"other": OTHER, "bare": BARE, OTHER.words.place: OTHERS_MOVE}.get(  # type: ignore[union-attr]
            part.place
        ) or _load(part)

    _load = Part.load
    monkeypatch.setattr(Part, "load", load)


@pytest.mark.usefixtures("_mounted_too")
def test_a_second_game_brings_words_and_the_first_ones_bodies_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = pack(MOVE), pack(OTHERS_MOVE)
    monkeypatch.setattr(games, "MOUNTED", ("other", *games.MOUNTED))
    assert [unpack(one) for one in before] == [MOVE, OTHERS_MOVE]
    assert len(pack(OTHERS_MOVE)) < len(before[1])
    assert [unpack(pack(one)) for one in (MOVE, OTHERS_MOVE)] == [MOVE, OTHERS_MOVE]


def test_what_was_packed_before_bodies_named_their_words_is_read() -> None:
    """As the match log wrote it on 22 November: a bare stream against Dead Man's Draw's words."""
    kept = bytes.fromhex("83051e3401a2c7214807a4dc0716e900")
    assert unpack(kept) == '{"actions":[{"etype":"EndTurn"}],"kraken":3}'


@pytest.mark.parametrize("cut", [0, 1, 2, 5, 6, 20])
def test_what_is_cut_short_is_refused(cut: int) -> None:
    with pytest.raises(ValueError, match=r"cut short|no game here brings"):
        unpack(pack(MOVE)[:cut])


def test_the_words_of_a_game_stay_as_they_are() -> None:
    """Every stored match needs them: add another text beside this one instead."""
    assert zlib.adler32(WORDS.encode()) == 0x79509473

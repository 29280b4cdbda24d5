"""Figures are kept as they are, and the same figures give the same picture."""

import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from cardsharp.errors import ConfigError
from research.pictures import FIGURES, Picture, pictures

CURVE = Picture(
    title="a <title> & more",
    x="worlds",
    y="games",
    points=((5, 45, 44, 47), (10, 50, 49, 52)),
    logarithmic=True,
)


def test_figures_are_kept_and_read_again(tmp_path: Path) -> None:
    file = tmp_path / "curve.json"
    CURVE.write(file)
    assert Picture.model_validate_json(file.read_text()) == CURVE


def test_a_picture_is_drawn_the_same_again(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    files = tmp_path / "one.svg", tmp_path / "two.svg"
    for file in files:
        CURVE.write(file)
    assert files[0].read_bytes() == files[1].read_bytes()
    said = {text.text for text in ET.parse(files[0]).iter() if text.tag.endswith("}text")}  # noqa: S314 (our own)
    assert {"a <title> & more", "worlds", "games", "5", "10"} <= said


def test_the_pictures_of_the_documents_are_those_of_the_kept_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pictures(folder=tmp_path)
    drawn = {file.name for file in tmp_path.glob("*.svg")}
    assert drawn == {f"{kept.stem}.svg" for kept in FIGURES.glob("*.json")}
    assert drawn >= {"learning-curve.svg", "calibration.svg", "euchre-worlds.svg"}


def test_a_file_without_figures_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.json").write_text("{}")
    monkeypatch.setattr("research.pictures.FIGURES", tmp_path)
    with pytest.raises(ConfigError, match=r"broken\.json holds no figures"):
        pictures(folder=tmp_path)

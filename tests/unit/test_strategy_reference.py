"""References to strategies: each text has one meaning, and goes through a process and back."""

import json
import os
import pickle
from pathlib import Path

import pytest
from pydantic import TypeAdapter, ValidationError

from cardsharp_tools.executors.path_quoting import quote_path, unquote_path
from cardsharp_tools.executors.strategy_field import StrategyField
from cardsharp_tools.executors.strategy_modules import module_name
from cardsharp_tools.executors.strategy_process import StrategyFileReport
from cardsharp_tools.executors.strategy_reference import (
    BuiltIn,
    Program,
    RemotePlayer,
    StrategyFile,
    StrategyReference,
    Submission,
    Weights,
    parse_strategy,
)

REFERENCES: dict[str, StrategyReference] = {
    "third": BuiltIn("third"),
    "pimc@64": BuiltIn("pimc@64"),
    "threshold(0.2, 0.5)": BuiltIn("threshold(0.2, 0.5)"),
    "": BuiltIn(""),
    "./of/mine.py": StrategyFile("./of/mine.py"),
    "w.json": Weights("w.json"),
    "node bot.js": Program("node bot.js"),
    "python3 mine.py": Program("python3 mine.py"),
    "node bot.js http://127.0.0.1": Program("node bot.js http://127.0.0.1"),
    "http://127.0.0.1:8090": RemotePlayer("http://127.0.0.1:8090"),
    "submission": Submission(),
    "trusted-submission": Submission(is_sandboxed=False),
    "weakly-sandboxed": Submission(needs_kernel_limits=False),
    "submission:/a%20cup/7": Submission(folder=Path("/a cup/7")),
    "trusted-submission:/cup/7": Submission(is_sandboxed=False, folder=Path("/cup/7")),
    "an unclosed ' mark": BuiltIn("an unclosed ' mark"),
}


@pytest.mark.parametrize(("text", "reference"), REFERENCES.items())
def test_a_text_has_one_meaning_and_comes_back_from_text_json_and_pickle(
    text: str, reference: StrategyReference
) -> None:
    assert parse_strategy(text) == reference
    assert str(reference) == text
    adapter = TypeAdapter[StrategyReference](StrategyField)
    assert adapter.validate_json(adapter.dump_json(reference)) == reference
    assert pickle.loads(pickle.dumps(reference)) == reference  # noqa: S301 - our own bytes


def test_a_single_word_is_a_program_if_its_file_can_be_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("bot", "mine.py"):
        file = Path(name)
        file.touch(0o644)
        assert not isinstance(parse_strategy(f"./{name}"), Program)
        file.chmod(0o755)
        assert parse_strategy(f"./{name}") == Program(f"./{name}")
        assert not isinstance(parse_strategy(name), Program)  # a shell would not start it, either


def test_another_process_gets_the_value_and_does_not_parse_its_text_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program stays one although its file is no longer executable when the process reads it."""
    monkeypatch.chdir(tmp_path)
    file = Path("bot")
    file.touch(0o755)
    reference = parse_strategy("./bot")
    adapter = TypeAdapter[StrategyReference](StrategyField)
    parameters = adapter.dump_json(reference)
    file.chmod(0o644)
    assert parse_strategy("./bot") == BuiltIn("./bot")
    assert adapter.validate_json(parameters) == reference == Program("./bot")


def test_absolute_paths_name_the_same_files_and_nothing_else_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bot.js").touch()
    for text, absolute in (
        ("mine.py", str(tmp_path / "mine.py")),
        ("w.json", str(tmp_path / "w.json")),
        ("node bot.js there", f"node {tmp_path / 'bot.js'} there"),
        ("third", "third"),
        ("submission", "submission"),
    ):
        assert str(parse_strategy(text).with_absolute_paths()) == absolute


def test_only_what_a_user_wrote_is_user_code_and_names_hide_folders() -> None:
    expected = {BuiltIn: False, RemotePlayer: False}
    for reference in REFERENCES.values():
        assert reference.is_user_code is expected.get(type(reference), True)
    assert parse_strategy("./of/mine.py").display_name == "mine.py"
    assert parse_strategy("submission:/cup/7").display_name == "its submission"


def test_a_parameter_that_is_no_reference_is_rejected() -> None:
    with pytest.raises(ValidationError, match="a reference to a strategy"):
        TypeAdapter[StrategyReference](StrategyField).validate_json("7")


def test_a_path_with_bytes_that_no_text_has_keeps_them_in_its_text_forms() -> None:
    """Such as a name with an umlaut under a locale of ASCII, which once ended a bot's process."""
    path = Path(os.fsdecode(b"/bots/mine-\xff.py"))
    quoted = quote_path(path)
    assert quoted.isascii()
    assert unquote_path(quoted) == path
    report = StrategyFileReport.model_validate_json(json.dumps({"files": [quoted]}))
    assert report.files == (path,)
    assert module_name(path).isascii()
    reference = StrategyFile(str(path))
    assert "\\udcff" in reference.record_text
    adapter = TypeAdapter[StrategyReference](StrategyField)
    assert adapter.validate_json(adapter.dump_json(reference)) == reference
    assert parse_strategy(str(Submission(is_sandboxed=True, folder=path))) == Submission(
        is_sandboxed=True, folder=path
    )

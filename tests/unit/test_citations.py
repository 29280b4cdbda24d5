"""What is named elsewhere is there: sections of the specifications, targets of `make mutants`."""

import re
from pathlib import Path

from mutation.mutants import ROOT, TARGETS

ROOMS = ("layers", "functions", "workbench", "research", "tests", "docs")
CITED = re.compile(r"docs/spec/([\w-]+)\.md(?: sections? \d+(?:(?: and| to|,) \d+)*)?")
HEADED = re.compile(r"^## (\d+)\.", re.MULTILINE)


def citations(file: Path) -> set[tuple[str, str]]:
    """Each specification and section that a file cites, also where a line breaks in between."""
    text = " ".join(re.sub(r"\n\s*#", "\n", file.read_text(encoding="utf-8")).split())
    return {
        (found[1], section)
        for found in CITED.finditer(text)
        for section in re.findall(r"\d+", found[0].partition(".md")[2])
    }


def test_every_cited_section_of_a_specification_exists() -> None:
    spec = ROOT / "docs" / "spec"
    sections = {
        file.stem: HEADED.findall(file.read_text(encoding="utf-8")) for file in spec.iterdir()
    }
    files = [
        file
        for room in ROOMS
        for file in (ROOT / room).rglob("*")
        if file.suffix in {".py", ".md"} and spec not in file.parents
    ]
    cited = {(file.name, *one) for file in files for one in citations(file)}
    assert {one for one in cited if one[2] not in sections.get(one[1], ())} == set()
    assert {name for _, name, _ in cited} == set(sections)
    assert len(cited) > 60


def test_every_target_names_modules_and_tests_that_are_there() -> None:
    """`make mutants` takes too long to find out that one is gone."""
    library = ROOT / "layers/cardsharp/python/cardsharp"
    for target in TARGETS.values():
        assert all((library / f"{module}.py").exists() for module in target["modules"])
        for test in target["tests"]:
            file, _, name = test.partition("::")
            assert f"def {name}" in (ROOT / "tests" / file).read_text(encoding="utf-8")

"""`make mutants` names modules and tests, and takes too long to find out that one is gone."""

from mutation.mutants import ROOT, TARGETS


def test_every_target_names_modules_and_tests_that_are_there() -> None:
    library = ROOT / "layers/cardsharp/python/cardsharp"
    for target in TARGETS.values():
        assert all((library / f"{module}.py").exists() for module in target.modules)
        for test in target.tests:
            file, _, name = test.partition("::")
            assert f"def {name}" in (ROOT / "tests" / file).read_text(encoding="utf-8")

"""Allow-list of environment variables for other people's code."""

import os
from collections.abc import Iterator

import pytest

from cardsharp_tools.executors import clean_environment as cleaning


@pytest.fixture(autouse=True)
def no_passed_variables(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let each test begin without variables of `--pass-env`."""
    monkeypatch.setattr(cleaning, "_passed_names", set())
    return iter(())


@pytest.mark.parametrize(
    "name", ["PATH", "HOME", "LC_ALL", "PYTHONPATH", "OMP_NUM_THREADS", "CUDA_VISIBLE_DEVICES"]
)
def test_what_a_program_needs_is_allowed(name: str) -> None:
    assert cleaning.clean_environment({name: "x"}) == {name: "x"}


@pytest.mark.parametrize(
    "name",
    [
        *("ARENA_ADMIN_PASSWORD", "CARDSHARP_PASSWORD", "AWS_SESSION_TOKEN", "GITHUB_TOKEN"),
        *("PYTHON_INDEX_TOKEN", "CONDA_API_KEY", "HTTPS_PROXY", "SSH_AUTH_SOCK", "DATABASE_URL"),
        *("HF_TOKEN", "NODE_AUTH_TOKEN", "TF_VAR_password", "path", "UNKNOWN"),
    ],
)
def test_what_may_hold_a_secret_is_withheld(name: str) -> None:
    assert cleaning.clean_environment({name: "x"}) == {}


def test_a_named_variable_is_passed_on() -> None:
    cleaning.pass_variables(["GITHUB_TOKEN"])
    assert cleaning.passed_variables() == ("GITHUB_TOKEN",)
    given = {"GITHUB_TOKEN": "x", "HF_TOKEN": "y"}
    assert cleaning.clean_environment(given) == {"GITHUB_TOKEN": "x"}


def test_a_process_cleans_its_own_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"PATH": "/bin", "DATABASE_URL": "x"})
    cleaning.clean_own_environment()
    assert dict(os.environ) == {"PATH": "/bin"}

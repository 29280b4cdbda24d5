"""The image of the command: its steps run here; where a builder is, the image itself is built."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from workbench.build.target import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()


def sent(folder: Path) -> None:
    """Copy into the folder what .dockerignore lets into a build."""
    kept = re.findall(r"^!(.+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    for name in kept:
        place = ROOT / name
        if place.is_dir():
            shutil.copytree(place, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(place, folder / name)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_steps_of_the_image_install_a_command_that_plays(tmp_path: Path) -> None:
    context, opt = tmp_path / "build", tmp_path / "opt"
    context.mkdir()
    sent(context)
    joined = DOCKERFILE.replace("\\\n", " ")
    first = joined[: joined.index("FROM", joined.index("FROM") + 1)]
    steps = re.findall(r"^RUN (.+)$", first, re.MULTILINE)
    assert len(steps) == first.count("RUN ")
    script = "set -e\n" + "\n".join(steps).replace("/opt/", f"{opt}/").replace(
        "python ", "python3 "
    )
    around = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(opt / "cardsharp")}
    subprocess.run(["sh", "-c", script], cwd=context, env=around, check=True)  # noqa: S603, S607
    shutil.rmtree(context)
    played = subprocess.run(  # noqa: S603 - ours
        [str(opt / "cardsharp/bin/cardsharp"), "play", "--seed", "11"],
        env={"HOME": str(tmp_path), "PATH": os.defpath},
        capture_output=True,
        text=True,
        check=False,
    )
    assert played.returncode == 0, played.stderr
    assert "log complete" in played.stdout


def test_who_runs_the_image_has_no_rights_and_the_command_comes_first() -> None:
    """And a development container sets up as a stranger does."""
    last = DOCKERFILE.rpartition("FROM")[2]
    assert re.search(r"^USER [1-9]\d*$", last, re.MULTILINE)
    assert 'ENTRYPOINT ["cardsharp"]' in last
    told = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert told["postCreateCommand"] == "make setup"


def builder() -> str | None:
    """What builds images on this machine, None where nothing does."""
    for name in filter(shutil.which, ("docker", "podman")):
        if subprocess.run([name, "info"], capture_output=True, check=False).returncode == 0:  # noqa: S603
            return name
    return None


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_image_is_built_and_plays() -> None:
    tool = builder()
    if tool is None:
        pytest.skip("nothing builds images on this machine")
    for words in ("build -t cardsharp-test .", "run --rm cardsharp-test play"):
        subprocess.run([tool, *words.split()], cwd=ROOT, check=True)  # noqa: S603 - found on PATH

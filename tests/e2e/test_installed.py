"""Tests of the command installed from its wheel, in an empty environment and folder.

The steps of the container image run too; the image is built if a builder is available.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from pathlib import Path
from zipfile import ZipFile

import pytest
from support.search_builds import ZIG_PYTHON
from support.waiting import HANG_SECONDS

from cardsharp_tools.build.emulator_deploy import STACK_SERVICES, deployment_environment
from cardsharp_tools.build.sam_build import find_sam
from cardsharp_tools.build.target import REPOSITORY_ROOT
from cardsharp_tools.local_cloud.emulator import Emulator

WALKTHROUGH_COMMANDS = """
--version
play
show last
watch last --html match.html
watch final-2023 --html final.html
analyse final-2023
new mine.py
new mine.js
new Mine.java
backtest mine.py
ladder mine.py --to random
lab duel mine.py draw-3 --pairs 10
completion bash
cost
blef duel solved bayes --games 1
euchre duel rules random --games 2
research blef check --setups 2v2 -n 10
contest new cup
contest teams add cup One --strategy draw-3
contest teams add cup Two --strategy champion
contest teams add cup Three --strategy steady
contest teams add cup Four --strategy third
contest run cup --port 0
"""
SERVICE_COMMANDS = {
    "arena --port 0": "arena at",
    "blef serve --port 0": "Blef is served at",
    "euchre serve --port 0": "Euchre is served at",
    "versus --browser": "http://127.0.0.1",
}
"""What stays until Ctrl-C, and what it says first."""

DEPLOY_COMMANDS = (
    "cloud preflight",
    "cloud deploy --yes ArenaUrl=https://arena.example MatchLimit=4",
)

MISSING_EXTRAS = {
    "play --cloud emulator": "pip install '.[emulator]'",
    "cloud deploy": "uv tool install aws-sam-cli",
    "export rows.jsonl draw-3": "pip install '.[env]'",
    "lab duel captain draw-3 --cluster tcp://127.0.0.1:1": "pip install '.[cluster]'",
}
"""What the bare command lacks, and the words that say how to have it."""


def run_checked(*command: str) -> None:
    run = subprocess.run(command, cwd=REPOSITORY_ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="module")
def cardsharp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The installed command; its dependencies come from uv's cache or from the network."""
    folder = tmp_path_factory.mktemp("installed")
    run_checked(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder))
    [wheel] = folder.glob("*.whl")
    python = folder / "env" / "bin" / "python"
    run_checked(sys.executable, "-m", "venv", "--without-pip", str(folder / "env"))
    uv = str(Path(sys.executable).with_name("uv"))
    run_checked(uv, "pip", "install", "--quiet", "--python", str(python), str(wheel))
    return python.with_name("cardsharp")


def run_installed(
    command: Path,
    arguments: Sequence[str],
    folder: Path,
    environment: Mapping[str, str] | None = None,
) -> "subprocess.CompletedProcess[str]":
    full_environment = {
        "HOME": str(folder),
        "PATH": os.defpath,
        "COLUMNS": "100",
        **(environment or {}),
    }
    return subprocess.run(  # noqa: S603 - ours
        [str(command), *arguments],
        cwd=folder,
        env=full_environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_commands_of_the_walkthrough_work_from_the_wheel_alone(
    cardsharp: Path, tmp_path: Path
) -> None:
    for line in WALKTHROUGH_COMMANDS.split("\n")[1:-1]:
        process = run_installed(cardsharp, line.split(), tmp_path)
        assert process.returncode == 0, f"{line}: {process.stdout}{process.stderr}"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_environments_of_the_wheel_are_compiled_at_first_use(
    cardsharp: Path, tmp_path: Path
) -> None:
    code = (
        "from cardsharp_tools.environments.vector_env import CardVectorEnv; "
        "print(type(CardVectorEnv(2)._stepper), end='')"
    )
    environment = {"PYTHONPATH": sysconfig.get_path("purelib")}  # numpy, but nothing of ours
    process = run_installed(cardsharp.with_name("python"), ["-c", code], tmp_path, environment)
    assert process.stdout == "<class 'cardsharp_tools.research.native_stepper.NativeStepper'>", (
        process.stderr
    )
    assert list((tmp_path / ".cache" / "cardsharp").glob("deadmansdraw-*.so"))


@pytest.mark.slow
def test_the_installed_command_deploys_the_bot(cardsharp: Path, tmp_path: Path) -> None:
    """The installed command unpacks, builds and deploys the bot into the emulator."""
    with Emulator(STACK_SERVICES) as emulator, deployment_environment(emulator) as environment:
        path = os.pathsep.join((str(find_sam().parent), os.environ["PATH"]))
        full_environment = {**os.environ, **environment, "PATH": path}
        for line in DEPLOY_COMMANDS:
            process = run_installed(cardsharp, line.split(), tmp_path, full_environment)
            assert process.returncode == 0, process.stdout + process.stderr
        [stack] = emulator.client("cloudformation").describe_stacks(StackName="cardsharp-dev")[
            "Stacks"
        ]
        parameters = {
            parameter["ParameterKey"]: parameter["ParameterValue"]
            for parameter in stack["Parameters"]
        }
    assert stack["StackStatus"] == "CREATE_COMPLETE"
    assert parameters.items() >= {"Stage": "dev", "MatchLimit": "4"}.items()
    library = tmp_path / "cardsharp-stack/layers/cardsharp/python/cardsharp"
    source_library = REPOSITORY_ROOT / "layers/cardsharp/python/cardsharp"
    assert not [
        file
        for file in source_library.rglob("*")
        if "__pycache__" not in file.parts
        and not (library / file.relative_to(source_library)).exists()
    ]


@pytest.mark.slow
@pytest.mark.parametrize("line", SERVICE_COMMANDS)
def test_a_service_of_the_wheel_serves_until_it_is_stopped(
    cardsharp: Path, tmp_path: Path, line: str
) -> None:
    with subprocess.Popen(  # noqa: S603 - ours
        [str(cardsharp), *line.split()],
        cwd=tmp_path,
        env={"HOME": str(tmp_path), "PATH": os.defpath, "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout.readline().startswith(SERVICE_COMMANDS[line])
        process.send_signal(signal.SIGINT)
        assert process.wait(HANG_SECONDS) in (0, 130)


@pytest.mark.slow
@pytest.mark.parametrize("line", MISSING_EXTRAS)
def test_a_command_with_a_missing_extra_names_the_install_command(
    cardsharp: Path, tmp_path: Path, line: str
) -> None:
    process = run_installed(cardsharp, line.split(), tmp_path)
    assert process.returncode == 2
    assert MISSING_EXTRAS[line] in " ".join(process.stderr.split())


# --- wheels of one processor --------------------------------------------------------------------

ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
SEARCH_CHECK = """
from random import Random
from cardsharp.games.deadmansdraw.cards import SERVER_DECK, Bank
from cardsharp.games.deadmansdraw.position import DeadMansDrawPosition
from cardsharp.games.deadmansdraw.strategies import captain
from cardsharp.games.deadmansdraw.strategies.search import compiled_search
position = DeadMansDrawPosition(0, (Bank(), Bank()), SERVER_DECK[:1], None, (), SERVER_DECK[9:])
decision = captain.captain(Random(0)).decide(position)
print(type(captain.build_turn_search(captain.load_model("captain"))).__name__)
print(compiled_search.__file__, *(option.value.hex() for option in decision.options))
"""


def build_wheel(folder: Path, processor: str) -> Path:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    environment = {**os.environ, "CARDSHARP_WHEEL_PROCESSOR": processor}
    subprocess.run(command, cwd=REPOSITORY_ROOT, env=environment, check=True, capture_output=True)  # noqa: S603
    [wheel] = folder.glob(f"*-py3-none-manylinux_2_17_{processor}.whl")
    return wheel


@pytest.mark.slow
@pytest.mark.skipif(not ZIG_PYTHON.exists(), reason="needs ziglang, which `make build` installs")
def test_the_wheels_of_both_processors_have_their_library_and_captain_uses_it(
    tmp_path: Path,
) -> None:
    """The wheel of this machine is installed, and its captain decides as in plain Python."""
    for processor, machine in ELF_MACHINES.items():
        with ZipFile(build_wheel(tmp_path, processor)) as wheel:
            [library] = [name for name in wheel.namelist() if name.endswith(".so")]
            assert library.endswith(f"/native/search-linux-{processor}.so")
            content = wheel.read(library)
        assert (content[:4], content[18]) == (b"\x7fELF", machine)
    [wheel_here] = tmp_path.glob(f"*_{os.uname().machine}.whl")
    python = tmp_path / "env" / "bin" / "python"
    run_checked(sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "env"))
    uv = str(Path(sys.executable).with_name("uv"))
    run_checked(uv, "pip", "install", "--quiet", "--python", str(python), str(wheel_here))
    results = [
        run_installed(python, ["-c", SEARCH_CHECK], tmp_path, {"CARDSHARP_NATIVE": value})
        for value in ("1", "0")
    ]
    compiled, plain = (result.stdout.split("\n") for result in results)
    assert (compiled[0], plain[0]) == ("CompiledTurnSearch", "TurnSearch"), results[0].stderr
    assert compiled[1] == plain[1]
    assert compiled[1].startswith(str(tmp_path / "env"))
    process = run_installed(python.with_name("cardsharp"), ["play", "--seed", "11"], tmp_path)
    assert process.returncode == 0, process.stderr


@pytest.mark.parametrize(
    ("path", "variables", "requirements"),
    [
        (os.defpath, {}, []),
        ("/nonexistent", {}, ["ziglang"]),
        ("/nonexistent", {"CARDSHARP_NATIVE": "0"}, []),
        (os.defpath, {"CARDSHARP_WHEEL_PROCESSOR": "aarch64"}, ["ziglang"]),
    ],
)
@pytest.mark.skipif(shutil.which("cc", path=os.defpath) is None, reason="needs a C compiler")
def test_the_build_asks_for_ziglang_where_it_needs_it(
    path: str, variables: dict[str, str], requirements: list[str]
) -> None:
    code = "from hatchling.build import get_requires_for_build_wheel; "
    code += "print(*(text.split('==')[0] for text in get_requires_for_build_wheel()))"
    names = subprocess.check_output(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", code], cwd=REPOSITORY_ROOT, env={"PATH": path, **variables}
    )
    assert names.decode().split() == requirements


@pytest.mark.slow
def test_without_any_compiler_the_wheel_is_of_plain_python_and_the_build_says_so(
    tmp_path: Path,
) -> None:
    copy_build_context(tmp_path / "source")
    for library in (tmp_path / "source").rglob("native/*.so"):
        library.unlink()
    process = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=tmp_path / "source",
        env={"PATH": "/nonexistent", "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "without compiled search for this machine" in process.stdout + process.stderr
    [wheel] = tmp_path.glob("*-py3-none-any.whl")
    with ZipFile(wheel) as content:
        assert not [name for name in content.namelist() if name.endswith(".so")]


# --- the image ---------------------------------------------------------------------------------


DOCKERFILE = (REPOSITORY_ROOT / "Dockerfile").read_text()


def copy_build_context(folder: Path) -> None:
    """Copy into a folder the files that .dockerignore includes."""
    folder.mkdir(exist_ok=True)
    included_names = re.findall(
        r"^!(.+)$", (REPOSITORY_ROOT / ".dockerignore").read_text(), re.MULTILINE
    )
    for name in included_names:
        source = REPOSITORY_ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, folder / name)


@pytest.mark.slow
def test_the_steps_of_the_image_install_a_command_that_plays(tmp_path: Path) -> None:
    context, opt = tmp_path / "build", tmp_path / "opt"
    context.mkdir()
    copy_build_context(context)
    dockerfile_text = DOCKERFILE.replace("\\\n", " ")
    build_stage = dockerfile_text[
        : dockerfile_text.index("FROM", dockerfile_text.index("FROM") + 1)
    ]
    steps = re.findall(r"^RUN (.+)$", build_stage, re.MULTILINE)
    assert len(steps) == build_stage.count("RUN ")
    script = "\n".join(steps).replace("/opt/", f"{opt}/").replace("python ", "python3 ")
    environment = {**os.environ, "UV_PROJECT_ENVIRONMENT": str(opt / "cardsharp")}
    subprocess.run(["sh", "-ec", script], cwd=context, env=environment, check=True)  # noqa: S603, S607
    shutil.rmtree(context)
    process = run_installed(opt / "cardsharp/bin/cardsharp", ["play", "--seed", "11"], tmp_path)
    assert process.returncode == 0, process.stderr
    assert "log complete" in process.stdout


def test_the_image_runs_the_command_as_an_unprivileged_user() -> None:
    """The image has an unprivileged user, and the development container runs `make setup`."""
    final_stage = DOCKERFILE.rpartition("FROM")[2]
    assert re.search(r"^USER [1-9]\d*$", final_stage, re.MULTILINE)
    assert 'ENTRYPOINT ["cardsharp"]' in final_stage
    devcontainer = json.loads((REPOSITORY_ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert devcontainer["postCreateCommand"] == "make setup"


@pytest.mark.slow
def test_the_image_is_built_and_plays() -> None:
    for tool in filter(shutil.which, ("docker", "podman")):
        if subprocess.run([tool, "info"], capture_output=True, check=False).returncode == 0:  # noqa: S603
            for arguments in ("build -t cardsharp-test .", "run --rm cardsharp-test play"):
                run_checked(tool, *arguments.split())
            return
    pytest.skip("nothing builds images on this machine")

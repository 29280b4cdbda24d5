"""Tests of the packages that would be uploaded, built by `sam build` for this machine."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from datetime import timedelta
from importlib import metadata
from pathlib import Path

import pytest
from support.aws_build import native_build, skip_without_packages

from cardsharp_tools.build import pinned_requirements
from cardsharp_tools.build.execution_environment import (
    RUNTIME_REQUIREMENTS,
    static_environment_variables,
)
from cardsharp_tools.build.sam_build import (
    MAX_BYTES_BY_FUNCTION,
    MAX_FUNCTION_BYTES,
    Build,
    different_files,
    folder_size,
)
from cardsharp_tools.build.target import REPOSITORY_ROOT, native_architecture, native_target
from cardsharp_tools.machine_speed import slowdown_factor

HTTP_SERVICES = ["Arena", "Blef", "Euchre", "Game", "Viewer"]
FUNCTIONS = [
    "Poller",
    "Worker",
    "Practice",
    "Director",
    *(f"{service}Service" for service in HTTP_SERVICES),
]
PACKAGES = dict.fromkeys(FUNCTIONS, "game_api") | {
    **{name: name.lower() for name in FUNCTIONS[:4]},
    "ViewerService": "pages",
}
FORBIDDEN_IMPORTS = {"numba", "numpy", "pandas", "fastapi", "starlette", "uvicorn", "boto3", "moto"}
FORBIDDEN_IMPORTS.add("cardsharp_tools")
"""What must not be reached when a function starts: too slow, too large, or not deployed."""

SERVICES = ("ArenaService", "BlefService", "EuchreService", "ViewerService")
ALLOWED_IMPORTS = {name: {"starlette"} for name in SERVICES}
"""What of it a service needs all the same, because it is an ASGI application (decision 23)."""

IMPORT_LIMIT = timedelta(milliseconds=300)
DEPENDENCIES = {"arm64": "DependenciesArm64", "x86_64": "DependenciesX86"}
NATIVE_DEPENDENCIES = DEPENDENCIES[native_architecture()]
LAYER = REPOSITORY_ROOT / "layers" / "dependencies"


def run_layer_makefile(
    name: str, artifacts: Path, environment: dict[str, str], source: Path = LAYER
) -> str:
    """Return the error of the layer's makefile, run as SAM runs it; empty if it succeeds."""
    artifacts.mkdir(exist_ok=True)
    makefile = (source if (source / "Makefile").exists() else LAYER) / "Makefile"
    process = subprocess.run(  # noqa: S603 - our own makefile
        ["make", "--makefile", str(makefile), f"build-{name}"],  # noqa: S607 - as SAM
        cwd=source,
        env={**environment, "ARTIFACTS_DIR": str(artifacts)},
        capture_output=True,
        text=True,
        check=False,
    )
    return process.stderr if process.returncode else ""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return native_build(tmp_path_factory)


def test_r22_each_function_with_its_layers_fits_in_45_mb(build: Build) -> None:
    """The director may be larger, because it draws rounds of a contest with networkx."""
    sizes = build.unzipped_function_sizes_with_layers()
    assert set(sizes) == set(FUNCTIONS)
    assert {
        name
        for name, size in sizes.items()
        if size > MAX_BYTES_BY_FUNCTION.get(name, MAX_FUNCTION_BYTES)
    } == set()
    assert (MAX_FUNCTION_BYTES, MAX_BYTES_BY_FUNCTION) == (45_000_000, {"Director": 54_000_000})


def test_boto3_is_shipped_with_only_the_services_that_functions_use(build: Build) -> None:
    packages = {path.name for path in build.built_folder(NATIVE_DEPENDENCIES).glob("python/*")}
    assert {"boto3", "botocore", "requests", "pydantic", "aws_lambda_powertools"} <= packages
    assert not {"bin", ".lock", "cardsharp_tools"} & packages
    data = build.built_folder(NATIVE_DEPENDENCIES) / "python" / "botocore" / "data"
    shipped_services = {path.name for path in data.iterdir() if path.is_dir()}
    assert shipped_services == {"apigatewaymanagementapi", "dynamodb", "sqs", "ssm"}
    assert "aws_xray_sdk" not in packages, "it is at the end of its support"
    layer_packages = {path.name for path in build.built_folder("CardsharpLayer").glob("python/*")}
    assert layer_packages == {"cardsharp"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_contains_its_code_and_no_other(build: Build, name: str) -> None:
    folder, package = build.built_folder(name), PACKAGES[name]
    expected_packages = {"game_api", "pages"} if package in {"game_api", "pages"} else {package}
    if name == "Director":  # which alone draws the rounds of contests
        expected_packages |= {"networkx"}
    contents = {path.name for path in folder.iterdir() if path.suffix != ".dist-info"}
    assert contents == {*expected_packages, "release.sha256"}, "one function for all HTTP services"
    assert build.functions_and_layers[name]["Properties"]["Handler"] == f"{package}.app.handler"
    source = REPOSITORY_ROOT / "functions" / package / "app.py"
    assert (folder / package / "app.py").read_bytes() == source.read_bytes()


def test_bytecode_is_shipped_for_the_python_it_is_built_for(build: Build) -> None:
    python_tag = f"cpython-{sys.version_info[0]}{sys.version_info[1]}"
    bytecode_files = list(build.built_folder("CardsharpLayer").rglob("*.pyc"))
    assert all(python_tag in file.name for file in bytecode_files)
    # It is used whatever the source's time is, and names the place where Lambda mounts it.
    raw = bytecode_files[0].read_bytes()
    assert int.from_bytes(raw[4:8], "little") == 0b01, "unchecked, by hash"
    assert b"/opt/python/cardsharp" in raw


def test_s14_the_layer_is_installed_by_hash_from_wheels_and_as_uv_lock_says() -> None:
    makefile = (REPOSITORY_ROOT / "layers" / "build.mk").read_text()
    for flag in ("--require-hashes", "--only-binary :all:", "--no-deps"):
        assert flag in makefile
    assert pinned_requirements.is_current(), (
        "run python -m cardsharp_tools.build.pinned_requirements"
    )
    for file, min_packages in zip(
        [*pinned_requirements.REQUIREMENTS.values(), RUNTIME_REQUIREMENTS], (20, 1, 3), strict=True
    ):
        assert file.read_text().count("==") >= min_packages
        assert all("--hash=sha256:" in part for part in re.split(r"\n(?=\S)", file.read_text())[1:])


def test_s14_the_bill_of_materials_lists_the_packages_of_the_layer(build: Build) -> None:
    bill = json.loads(
        pinned_requirements.export_lock(
            *pinned_requirements.REQUIREMENTS, output_format="cyclonedx1.5"
        )
    )
    listed_packages = {
        (component["name"], component["version"]) for component in bill["components"]
    }
    search_paths = [
        str(build.built_folder(NATIVE_DEPENDENCIES) / "python"),
        str(build.built_folder("Director")),
    ]
    shipped_packages = {
        (distribution.metadata["Name"].lower().replace("_", "-"), distribution.version)
        for distribution in metadata.distributions(path=search_paths)
    }
    assert set() < shipped_packages <= listed_packages
    assert bill["bomFormat"] == "CycloneDX"


def test_s14_the_bill_of_materials_lists_the_compiled_search_by_its_hash(build: Build) -> None:
    """The layer has the library and not its sources; without a compiler it has neither."""
    layer = build.built_folder("CardsharpLayer")
    folder = layer / "python/cardsharp/games/deadmansdraw/strategies/search/native"
    libraries = sorted(folder.glob("*"))
    expected_names = [] if shutil.which("cc") is None else [f"search-linux-{os.uname().machine}.so"]
    assert [file.name for file in libraries] == expected_names
    assert [
        (component["name"], component["hashes"][0]["content"])
        for component in build.compiled_files()
    ] == [
        (str(file.relative_to(layer)), hashlib.sha256(file.read_bytes()).hexdigest())
        for file in libraries
    ]


@pytest.mark.slow
@pytest.mark.skipif(
    not (REPOSITORY_ROOT / ".venv-zig").exists(),
    reason="needs ziglang, which `make build` installs",
)
def test_the_layer_for_lambda_has_the_compiled_search_for_both_processors(tmp_path: Path) -> None:
    layer = REPOSITORY_ROOT / "layers" / "cardsharp"
    environment = {**native_target().environment(), "LAMBDA_PLATFORM": "both"}
    assert run_layer_makefile("CardsharpLayer", tmp_path, environment, layer) == ""
    folder = tmp_path / "python/cardsharp/games/deadmansdraw/strategies/search/native"
    names = ["search-linux-aarch64.so", "search-linux-x86_64.so"]
    assert sorted(file.name for file in folder.iterdir()) == names


def test_s14_a_package_with_another_hash_is_not_installed(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "requirements.txt").write_text(f"idna==3.20 --hash=sha256:{'0' * 64}\n")
    error = run_layer_makefile(
        NATIVE_DEPENDENCIES, tmp_path / "out", native_target().environment(), source
    )
    assert "hash" in error.lower()
    assert "idna" in error


@pytest.mark.parametrize(
    ("name", "machine"),
    [
        # That of this machine's processor is in the build, by the same makefile.
        pytest.param(name, machine, marks=[pytest.mark.slow] if name == NATIVE_DEPENDENCIES else [])
        for name, machine in (("DependenciesArm64", "aarch64"), ("DependenciesX86", "x86_64"))
    ],
)
def test_a_processors_layer_gets_its_wheels_without_uv_or_parameters(
    tmp_path: Path, name: str, machine: str
) -> None:
    """The makefiles work in any shell and with any parameters, as `sam build` runs them."""
    error = run_layer_makefile(name, tmp_path, {**os.environ, "PATH": os.defpath})
    skip_without_packages(error)
    assert error == ""
    libraries = list(tmp_path.rglob("*.so"))
    assert libraries
    assert all(f"-313-{machine}-linux" in file.name for file in libraries)


# The service of a further game starts as that of Euchre, but there is no further game here.
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name != "GameService"])
def test_r21_a_function_starts_fast_and_imports_nothing_forbidden(build: Build, name: str) -> None:
    """The interpreter finds only the function and its layers.

    The least processor time of several runs counts, because other processes can only increase
    it.
    """
    layers = [
        build.built_folder(layer) / "python" for layer in build.layer_names(native_architecture())
    ]
    path = os.pathsep.join(str(folder) for folder in [build.built_folder(name), *layers])
    program = (
        f"import sys, time, {PACKAGES[name]}.app; print(time.process_time(), "
        "*{m.partition('.')[0] for m in sys.modules})"
    )
    python_variables = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
    variables = python_variables | static_environment_variables(build.functions_and_layers[name])
    command = [sys.executable, "-S", "-c", program]
    durations: list[timedelta] = []
    limit = IMPORT_LIMIT
    while not durations or (min(durations) > limit and len(durations) < 6):
        output = subprocess.check_output(command, env=variables, text=True, cwd=build.folder)  # noqa: S603 - our own interpreter
        seconds, *imported_packages = output.split()
        durations.append(timedelta(seconds=float(seconds)))
        if min(durations) > limit:
            limit = max(limit, IMPORT_LIMIT * slowdown_factor(1))
        assert "cardsharp" in imported_packages
        assert FORBIDDEN_IMPORTS & set(imported_packages) == ALLOWED_IMPORTS.get(name, set())
    assert min(durations) <= limit


def test_different_files_of_two_folders_are_listed(tmp_path: Path) -> None:
    for name in ("one/file", "other/file", "other/more"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("same")
    assert (folder_size(tmp_path / "one"), folder_size(tmp_path / "other")) == (4, 8)
    assert different_files(tmp_path / "one", tmp_path / "other") == ["more"]


def test_r41_a_changed_layer_or_template_changes_the_code_of_every_function(tmp_path: Path) -> None:
    """SAM publishes a version of a function only if its own code changed."""
    for folder in ("functions", "layers", "stacks"):
        ignore = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY_ROOT / folder, tmp_path / folder, ignore=ignore)
    shutil.copy(REPOSITORY_ROOT / "template.yaml", tmp_path)

    def build_release_hash() -> str:
        artifacts = tmp_path / "artifacts"
        artifacts.mkdir(exist_ok=True)
        subprocess.run(  # noqa: S603 - make and a file of ours
            ["make", "--makefile", str(tmp_path / "functions" / "Makefile"), "build-Practice"],  # noqa: S607 - as SAM
            cwd=tmp_path / "functions",
            env={**os.environ, "ARTIFACTS_DIR": str(artifacts), "LAMBDA_PYTHON": "0.0"},
            capture_output=True,
            check=True,
        )
        return (artifacts / "release.sha256").read_text()

    releases = [build_release_hash(), build_release_hash()]
    assert len(set(releases)) == 1
    for file in ("layers/cardsharp/python/cardsharp/errors.py", "stacks/base.yaml"):
        with (tmp_path / file).open("a") as changed_file:
            changed_file.write("# changed\n")
        releases.append(build_release_hash())
    assert len(set(releases)) == 3

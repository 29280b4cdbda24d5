"""A deployment as one types it: `sam package` and `sam deploy`, with the emulator for AWS."""

import hashlib
import io
import json
import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest
from support.aws_build import native_build

from cardsharp.errors import ConfigError
from workbench.build import combinations
from workbench.build.artifacts import CODE, Build
from workbench.build.combinations import ARENA_URL, COMBINATIONS, Combination, deploy_new, upgrade
from workbench.build.deploy import STACK_SERVICES, DeployError, deploy, deployment
from workbench.build.sam import find_sam, run_sam
from workbench.build.target import native_architecture
from workbench.cloud.emulator import Emulator
from workbench.cloud.nested import NESTED
from workbench.cloud.template import ARENA, TEMPLATE, load_template, read_template
from workbench.operate.outdated import outdated
from workbench.operate.stack import Stack, find_stack

# A build comes first, and each deployment takes ten seconds of a machine with nothing else to do.
pytestmark = pytest.mark.timeout(600)

BUCKET = "packages"
HERE = {"ArenaUrl": ARENA_URL, "Architecture": native_architecture()}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return native_build(tmp_path_factory)


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator(STACK_SERVICES) as running:
        running.client("s3").create_bucket(Bucket=BUCKET)
        yield running


@pytest.fixture(scope="module")
def bot(emulator: Emulator, built: Build) -> Stack:
    deploy(emulator, built, "alone", HERE)
    return find_stack("alone", emulator.client)


def uploaded(emulator: Emulator, address: str) -> tuple[str, bytes]:
    """The name of what lies at an address in the bucket, without its ending, and its bytes."""
    bucket, _, key = address.removeprefix("s3://").partition("/")
    if address.startswith("http"):
        bucket, _, key = urlsplit(address).path.lstrip("/").partition("/")
    assert bucket == BUCKET
    body: bytes = emulator.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    return key.partition(".")[0], body


def codes(emulator: Emulator, packaged: str, path: Path) -> Iterator[tuple[Path, str]]:
    """The folder of each function and layer below a packaged template, with its address."""
    was = load_template(path)["Resources"]
    for name, resource in read_template(packaged)["Resources"].items():
        told = resource.get("Properties", {})
        if resource["Type"] in CODE:
            key = CODE[resource["Type"]]
            yield path.parent / was[name]["Properties"][key], told[key]
        elif resource["Type"] in NESTED:
            digest, body = uploaded(emulator, told["Location"])
            assert digest == hashlib.md5(body).hexdigest()  # noqa: S324 - as SAM names it
            inner = path.parent / was[name]["Properties"]["Location"]
            yield from codes(emulator, body.decode(), inner)


def checksums(folders: list[Path]) -> dict[Path, str]:
    """What SAM itself makes of their contents."""
    program = (
        "import sys; from samcli.lib.utils.hash import dir_checksum; "
        "print(*map(dir_checksum, sys.argv[1:]))"
    )
    command = [str(find_sam().parent / "python"), "-c", program, *map(str, folders)]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # noqa: S603
    return dict(zip(folders, told.split(), strict=True))


@pytest.mark.parametrize(
    "root",
    [TEMPLATE, pytest.param(ARENA, marks=pytest.mark.slow)],  # the gate deploys both
    ids=lambda path: path.stem,
)
def test_every_address_of_the_packaged_templates_is_what_was_built_by_its_hash(
    emulator: Emulator, built: Build, root: Path, tmp_path: Path
) -> None:
    """Of the root and of all that it nests: version 0.2 had folders there, which AWS refuses."""
    output = tmp_path / "packaged.yaml"
    template = built.template(root)
    arguments = ["--template-file", str(template), "--s3-bucket", BUCKET]
    with deployment(emulator) as environment:
        run_sam(
            ["package", *arguments, "--output-template-file", str(output)],
            {**os.environ, **environment},
        )
    found = list(codes(emulator, output.read_text(), template))
    parts = built.parts(root).values()
    assert {str(folder) for folder, _ in found} == {one.properties[CODE[one.kind]] for one in parts}
    digests = checksums([folder for folder, _ in found])
    for folder, address in found:
        assert address.startswith("s3://"), f"{folder} was not uploaded"
        digest, body = uploaded(emulator, address)
        assert digest == digests[folder]
        with ZipFile(io.BytesIO(body)) as archive:
            packed = {one: archive.read(one) for one in archive.namelist()}
        files = [one for one in folder.rglob("*") if one.is_file()]
        assert packed == {str(one.relative_to(folder)): one.read_bytes() for one in files}


@pytest.mark.slow  # the gate "deployments" deploys it; test_aws_cloud has everything at once
def test_the_bot_alone_is_deployed_by_sam_deploy(emulator: Emulator, bot: Stack) -> None:
    mapping = emulator.client("lambda").get_event_source_mapping(UUID=bot.ids["WorkerMatch"])
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 6}
    assert mapping["EventSourceArn"].endswith(bot.output("MatchQueueUrl").rpartition("/")[2])
    assert {"Poller", "Worker", "Practice", "Matches", "NotListening"} <= bot.ids.keys()
    assert not [name for name in bot.outputs if name.endswith(("Url", "Name")) and name.islower()]
    layers = emulator.client("lambda").get_function(FunctionName=bot.output("PollerName"))
    assert len(layers["Configuration"]["Layers"]) == 2


@pytest.mark.slow  # the gate "deployments" upgrades every combination, too
def test_a_deployment_again_changes_what_is_said_and_keeps_the_rest(
    emulator: Emulator, built: Build, bot: Stack
) -> None:
    deploy(emulator, built, "alone", {"MatchLimit": "4", "Euchre": "yes"})
    now = find_stack("alone", emulator.client)
    mapping = emulator.client("lambda").get_event_source_mapping(UUID=now.ids["WorkerMatch"])
    assert mapping["ScalingConfig"] == {"MaximumConcurrency": 4}
    assert now.parameters["ArenaUrl"] == ARENA_URL
    assert now.output("MatchTable") == bot.output("MatchTable")
    assert now.ids["euchreTable"]


def test_what_cloudformation_refuses_is_told(emulator: Emulator, built: Build) -> None:
    with pytest.raises(DeployError, match="MatchLimit"):
        deploy(emulator, built, "refused", {**HERE, "MatchLimit": "1"})


@pytest.mark.parametrize(
    ("services", "pages", "told"),
    [("none", "no", ""), ("blef,euchre", "no", "blef, euchre will"), ("none", "yes", "the pages")],
)
def test_what_an_upgrade_takes_away_is_said_before_it(
    emulator: Emulator, services: str, pages: str, told: str
) -> None:
    name, formation = f"old-{len(services)}-{pages}", emulator.client("cloudformation")
    given = {"Services": services, "DeployWeb": pages}
    template = {
        "Parameters": {key: {"Type": "String"} for key in given},
        "Resources": {"Topic": {"Type": "AWS::SNS::Topic"}},
    }
    formation.create_stack(
        StackName=name,
        TemplateBody=json.dumps(template),
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in given.items()],
    )
    found = [one.text for one in outdated(emulator.client, name)]
    assert len(found) == bool(told)
    assert all(told in one for one in found)
    assert list(outdated(emulator.client, "there-is-none")) == []


@pytest.mark.slow
@pytest.mark.parametrize("one", COMBINATIONS, ids=lambda one: one.name)
def test_each_combination_is_deployed_new_and_over_version_0_2(
    emulator: Emulator, built: Build, one: Combination
) -> None:
    deploy_new(emulator, built, one)
    if one.before is not None:
        upgrade(emulator, built, one)


@pytest.mark.slow
def test_an_upgrade_that_loses_what_was_played_is_found(
    emulator: Emulator, built: Build, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: a deployment after which the match log is empty."""

    def losing(emulator: Emulator, built: Build, name: str, *told: Any) -> None:  # noqa: ANN401
        deploy(emulator, built, name, *told)
        key = {part: combinations._KEPT[part] for part in ("pk", "sk")}
        table = find_stack(name, emulator.client).output("MatchTable")
        emulator.client("dynamodb").delete_item(TableName=table, Key=key)

    monkeypatch.setattr(combinations, "deploy", losing)
    with pytest.raises(ConfigError, match="lost what it had before the upgrade"):
        upgrade(emulator, built, replace(COMBINATIONS[0], name="losing"))

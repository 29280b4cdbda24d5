"""A deployment as one types it: `sam package` and `sam deploy`, with the emulator for AWS."""

import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from zipfile import ZipFile

import pytest
from support.aws_build import native_build

from workbench.build.artifacts import CODE, Build
from workbench.build.deploy import STACK_SERVICES, deployment
from workbench.build.sam import run_sam
from workbench.cloud.emulator import Emulator
from workbench.cloud.nested import NESTED
from workbench.cloud.template import TEMPLATE, load_template, read_template
from workbench.operate.outdated import outdated

# A build comes first, and each deployment takes ten seconds of a machine with nothing else to do.
pytestmark = pytest.mark.timeout(600)

BUCKET = "packages"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Build:
    return native_build(tmp_path_factory)


@pytest.fixture(scope="module")
def emulator() -> Iterator[Emulator]:
    with Emulator(STACK_SERVICES) as running:
        running.client("s3").create_bucket(Bucket=BUCKET)
        yield running


def uploaded(emulator: Emulator, address: str) -> bytes:
    """What lies at an address in the bucket."""
    bucket, _, key = address.removeprefix("s3://").partition("/")
    if address.startswith("http"):
        bucket, _, key = urlsplit(address).path.lstrip("/").partition("/")
    assert bucket == BUCKET
    body: bytes = emulator.client("s3").get_object(Bucket=bucket, Key=key)["Body"].read()
    return body


def codes(emulator: Emulator, packaged: str, path: Path) -> Iterator[tuple[Path, str]]:
    """The folder of each function and layer below a packaged template, with its address."""
    was = load_template(path)["Resources"]
    for name, resource in read_template(packaged)["Resources"].items():
        told = resource.get("Properties", {})
        if resource["Type"] in CODE:
            key = CODE[resource["Type"]]
            yield path.parent / was[name]["Properties"][key], told[key]
        elif resource["Type"] in NESTED:
            body = uploaded(emulator, told["Location"])
            inner = path.parent / was[name]["Properties"]["Location"]
            yield from codes(emulator, body.decode(), inner)


def test_every_address_of_the_packaged_templates_is_what_was_built(
    emulator: Emulator, built: Build, tmp_path: Path
) -> None:
    """Of the root and of all that it nests: version 0.2 had folders there, which AWS refuses."""
    output = tmp_path / "packaged.yaml"
    template = built.template(TEMPLATE)
    arguments = ["--template-file", str(template), "--s3-bucket", BUCKET]
    with deployment(emulator) as environment:
        run_sam(
            ["package", *arguments, "--output-template-file", str(output)],
            {**os.environ, **environment},
        )
    found = list(codes(emulator, output.read_text(), template))
    parts = built.parts(TEMPLATE).values()
    assert {str(folder) for folder, _ in found} == {one.properties[CODE[one.kind]] for one in parts}
    for folder, address in found:
        assert address.startswith("s3://"), f"{folder} was not uploaded"
        with ZipFile(io.BytesIO(uploaded(emulator, address))) as archive:
            packed = {one: archive.read(one) for one in archive.namelist()}
        files = [one for one in folder.rglob("*") if one.is_file()]
        assert packed == {str(one.relative_to(folder)): one.read_bytes() for one in files}


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

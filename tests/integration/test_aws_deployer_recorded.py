"""What `sam deploy` itself asks AWS for, recorded; a deployer's rights are tried with it."""

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from support.policies import ACCOUNT, REGION, Request, allowed, made

from workbench.build.sam import QUIET, SAM
from workbench.cloud.emulator import Emulator

INNER = """
Resources: { Topic: { Type: AWS::SNS::Topic } }
"""
OUTER = """
Resources:
  Inner: { Type: AWS::CloudFormation::Stack, Properties: { TemplateURL: inner.yaml } }
"""
ACTIONS = {"HeadObject": "GetObject", "HeadBucket": "ListBucket", "ListObjectsV2": "ListBucket"}
"""Requests of S3 that policies know by another name."""

PLACES = {
    "CloudFormation": f"arn:aws:cloudformation:{REGION}:{ACCOUNT}:stack/cardsharp-dev/1",
    "S3": "arn:aws:s3:::aws-sam-cli-managed-default-samclisourcebucket-1/2",
}


@contextmanager
def monitored() -> Iterator[tuple[dict[str, str], set[tuple[str, str]]]]:
    """Settings by which botocore tells each request that it sends, and those requests."""
    told: set[tuple[str, str]] = set()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as heard:
        heard.bind(("127.0.0.1", 0))

        def listen() -> None:
            while (line := heard.recv(65_536)) != b"end":
                one = json.loads(line)
                told.add((one["Service"], one["Api"]))

        thread = threading.Thread(target=listen)
        thread.start()
        here = heard.getsockname()
        settings = {"HOST": here[0], "PORT": str(here[1]), "ENABLED": "true"}
        try:
            yield {f"AWS_CSM_{name}": value for name, value in settings.items()}, told
        finally:
            heard.sendto(b"end", here)
            thread.join()


@pytest.mark.slow
@pytest.mark.skipif(not SAM.exists(), reason="SAM is there after `make build`")
def test_a_deployer_may_send_every_request_of_sam_deploy(tmp_path: Path) -> None:
    """Of a stack that nests one, created and then deployed again."""
    (tmp_path / "inner.yaml").write_text(INNER)
    (tmp_path / "outer.yaml").write_text(OUTER)
    command = [str(SAM), "deploy", "--template-file", "outer.yaml", "--stack-name", "cardsharp-dev"]
    command += ["--resolve-s3", "--no-fail-on-empty-changeset", "--capabilities", "CAPABILITY_IAM"]
    services = ("cloudformation", "s3", "sns", "sts")
    with Emulator(services) as emulator, monitored() as (settings, told):
        for _ in range(2):
            environment = {**os.environ, **QUIET, **emulator.environment, **settings}
            subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)  # noqa: S603 - SAM
    assert ("CloudFormation", "ExecuteChangeSet") in told
    assert ("S3", "PutObject") in told
    for service, api in sorted(told):
        action = f"{service.lower()}:{ACTIONS.get(api, api)}"
        assert allowed(Request(action, PLACES[service]), [made("Deployer")]), action

"""AWS on this machine: MiniStack in a process of its own, on loopback only.

Needs the dependency group "emulator". Everything it writes lies in a temporary folder that goes
with it.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import requests
from boto3.session import Session
from botocore.config import Config

from cardsharp.core.clock import SystemClock
from cardsharp.errors import CardsharpError
from cardsharp_tools.http_session import http_session
from cardsharp_tools.local_cloud.lambda_events import REGION
from cardsharp_tools.local_cloud.template_files import all_template_resources, create_table_request
from cardsharp_tools.loopback import loopback_environment
from cardsharp_tools.project_files import missing_extra_error

HOST = "127.0.0.1"
SERVICES = ("dynamodb", "sqs", "ssm")  # what the adapters need; a whole stack needs more
_QUEUE_ATTRIBUTES = ("MessageRetentionPeriod", "VisibilityTimeout")  # as CreateQueue has them
_DUMMY_CREDENTIAL = "test"  # both halves of the credentials that the emulator expects

_START_TIMEOUT = timedelta(minutes=3)


@dataclass(frozen=True, slots=True)
class EmulatedResources:
    """Emulated resources of the templates: tables by logical name, and queue URLs."""

    tables: dict[str, str]
    queues: dict[str, str]

    def bot_settings(self, arena_url: str) -> dict[str, str]:
        """Return the settings of a bot that plays at an arena with this match log and queue."""
        return {
            "CARDSHARP_ARENA_URL": arena_url,
            "CARDSHARP_STORE": f"dynamodb:{self.tables['Matches']}",
            "CARDSHARP_QUEUE": self.queues["MatchQueue"],
        }


class Emulator:
    """MiniStack process between enter and exit; it is empty at every start.

    Until it stops it writes into `folder`; all services are at the URL `endpoint`.
    """

    def __init__(self, services: Sequence[str] = SERVICES) -> None:
        self._services = ",".join(services)
        self._temporary_folder = tempfile.TemporaryDirectory(
            prefix="cardsharp-aws-", ignore_cleanup_errors=True
        )
        self.folder = Path(self._temporary_folder.name)
        self._log_file = self.folder / "ministack.log"
        with socket.create_server((HOST, 0)) as server:
            self._port: int = server.getsockname()[1]  # which nobody listens on then
        self.endpoint = f"http://{HOST}:{self._port}"
        self._process: subprocess.Popen[bytes] | None = None
        self._clients: dict[str, Any] = {}

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables with which boto3 uses the emulator and nothing else."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            **dict.fromkeys(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), _DUMMY_CREDENTIAL),
            **dict.fromkeys(("AWS_REGION", "AWS_DEFAULT_REGION"), REGION),
            "AWS_EC2_METADATA_DISABLED": "true",
            **loopback_environment(),
        }

    def __enter__(self) -> Self:
        try:
            self._start_process()
            self._wait_until_healthy()
        except BaseException:
            self.stop_and_delete_files()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_and_delete_files()

    def stop_and_delete_files(self) -> None:
        """End the process and delete everything it wrote."""
        if self._process is not None:
            self._process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=5)
            # It leads a group of its own, in which functions may still be in an invocation.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            if self._process.stdin is not None:
                self._process.stdin.close()
            self._process = None
        self._temporary_folder.cleanup()

    def client(self, service: str) -> Any:  # noqa: ANN401 - boto3 types a client by a literal name
        """Return a boto3 client of the emulator, whatever the environment says."""
        if service not in self._clients:
            session = Session(_DUMMY_CREDENTIAL, _DUMMY_CREDENTIAL, region_name=REGION)
            self._clients[service] = session.client(  # type: ignore[call-overload]
                service, endpoint_url=self.endpoint, config=Config(proxies={})
            )
        return self._clients[service]

    def create_resources(self, prefix: str = "cardsharp") -> EmulatedResources:
        """Create the tables and queues of the templates, named PREFIX-LOGICALNAME."""
        tables, queues = dict[str, str](), dict[str, dict[str, Any]]()
        for name, resource in all_template_resources().items():
            if resource["Type"] == "AWS::DynamoDB::Table":
                tables[name] = f"{prefix}-{name}"
                self.client("dynamodb").create_table(
                    TableName=tables[name], **create_table_request(resource["Properties"])
                )
            elif resource["Type"] == "AWS::SQS::Queue":
                queues[name] = resource["Properties"]
        return EmulatedResources(tables, self._create_queues(queues, prefix))

    def _create_queues(self, queues: Mapping[str, dict[str, Any]], prefix: str) -> dict[str, str]:
        """Create the queues and return their URLs.

        A queue is created after the one that receives its dead letters.
        """
        sqs, urls = self.client("sqs"), dict[str, str]()
        for name, properties in sorted(queues.items(), key=lambda item: "RedrivePolicy" in item[1]):
            attributes = {
                key: str(properties[key]) for key in _QUEUE_ATTRIBUTES if key in properties
            }
            policy = properties.get("RedrivePolicy")
            if policy is not None:
                target = urls[policy["deadLetterTargetArn"]["Fn::GetAtt"].partition(".")[0]]
                dead = {"deadLetterTargetArn": queue_arn(sqs, target)}
                attributes["RedrivePolicy"] = json.dumps({**policy, **dead})
            created = sqs.create_queue(QueueName=f"{prefix}-{name}", Attributes=attributes)
            urls[name] = created["QueueUrl"]
        return urls

    def log_tail(self) -> str:
        """Return the last twenty lines of the emulator's log."""
        if not self._log_file.exists():
            return ""
        return "\n".join(self._log_file.read_text(errors="replace").splitlines()[-20:])

    def _start_process(self) -> None:
        environment = {
            **{name: os.environ[name] for name in ("PATH", "PYTHONPATH") if name in os.environ},
            "BIND_HOST": HOST,
            "GATEWAY_PORT": str(self._port),
            "SERVICES": self._services,
            # Both would listen on ports and interfaces of their own choice.
            "SFTP_ENABLED": "0",
            "IOT_MTLS_ENABLED": "0",
            "MINISTACK_REGION": REGION,
            "LAMBDA_ACCOUNT_CONCURRENCY": "10",  # as of a new account
            **dict.fromkeys(("HOME", "TMPDIR", "STATE_DIR", "S3_DATA_DIR"), str(self.folder)),
        }
        with self._log_file.open("wb") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "cardsharp_tools.local_cloud.emulator_process"],
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                env=environment,
                cwd=self.folder,
                # A Ctrl-C at the terminal stops us, and we stop the emulator.
                start_new_session=True,
            )

    def _wait_until_healthy(self) -> None:
        """Wait until the emulator answers.

        Raise `CardsharpError` if its process ends or it takes too long.
        """
        clock = SystemClock()
        end = clock.now() + _START_TIMEOUT
        with http_session(self.endpoint) as session:
            while self._process is not None and self._process.poll() is None:
                with suppress(requests.RequestException):
                    if session.get(f"{self.endpoint}/_ministack/health", timeout=10).ok:
                        return
                if clock.now() > end:
                    raise CardsharpError(
                        f"MiniStack did not answer within {_START_TIMEOUT.seconds} "
                        f"s.\n{self.log_tail()}"
                    )
                clock.sleep(timedelta(milliseconds=50))
        tail = self.log_tail()
        if "No module named" in tail:
            raise missing_extra_error("The emulator", "MiniStack", "emulator")
        raise CardsharpError(f"MiniStack ended before it answered.\n{tail}")


def queue_arn(sqs: Any, url: str) -> str:  # noqa: ANN401 - as above
    """Return a queue's ARN."""
    response = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return str(response["Attributes"]["QueueArn"])

"""AWS's transform of templates, before an emulator that has none.

`sam deploy` uploads templates as they are written, and CloudFormation runs SAM's transform on each
when it makes a change set or creates a nested stack. The emulator takes both steps, but only what
is transformed already. So this stands between the two: it transforms what a change set is made
of, with all that it nests, by the translator that AWS runs, and passes everything else on.
"""

import json
import threading
import urllib.request
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.error import HTTPError
from urllib.parse import parse_qsl, urlencode, urlsplit

from cardsharp.errors import ConfigError
from workbench.build.translate import Template, translate
from workbench.cloud.emulator import HOST, Emulator
from workbench.cloud.nested import NESTED
from workbench.cloud.template import read_template

_REFUSED = (
    '<ErrorResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><Error>'
    "<Type>Sender</Type><Code>ValidationError</Code><Message>{}</Message></Error></ErrorResponse>"
)
_PASSED_ON = ("Content-Type", "Authorization", "X-Amz-Date", "X-Amz-Security-Token", "User-Agent")
_TIMEOUT = 300


class TransformingCloudFormation:
    """The emulator's CloudFormation with AWS's transform, between enter and exit."""

    def __init__(self, emulator: Emulator) -> None:
        self._emulator = emulator
        self._server = ThreadingHTTPServer((HOST, 0), self._handler())
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def environment(self) -> dict[str, str]:
        """What SAM and boto3 must find in their environment to deploy into the emulator."""
        here = f"http://{HOST}:{self._server.server_port}"
        return {**self._emulator.environment, "AWS_ENDPOINT_URL_CLOUDFORMATION": here}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def transformed(self, request: Mapping[str, str]) -> dict[str, str]:
        """A request with its template transformed, if it makes a change set.

        Raises:
            ConfigError: SAM refuses the template.
        """
        told = dict(request)
        if told.get("Action") == "CreateChangeSet" and "TemplateURL" in told:
            told["TemplateURL"] = self._stored(told["TemplateURL"])
        return told

    def _stored(self, url: str) -> str:
        """The address of the transformed template, which lies beside the one at this address."""
        s3 = self._emulator.client("s3")
        bucket, _, key = urlsplit(url).path.lstrip("/").partition("/")
        text = s3.get_object(Bucket=bucket, Key=key)["Body"].read().decode()
        made = self._with_nested(translate(read_template(text)))
        s3.put_object(Bucket=bucket, Key=f"{key}.transformed", Body=json.dumps(made).encode())
        return f"{self._emulator.endpoint}/{bucket}/{key}.transformed"

    def _with_nested(self, template: Template) -> Template:
        for resource in template["Resources"].values():
            if resource["Type"] in NESTED:
                told = resource["Properties"]
                told["TemplateURL"] = self._stored(told["TemplateURL"])
        return template

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        front = self

        class Handler(BaseHTTPRequestHandler):
            """Passes on one request."""

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    told = front.transformed(dict(parse_qsl(body.decode(), keep_blank_values=True)))
                except ConfigError as error:
                    self._answer(400, "text/xml", _REFUSED.format(error).encode())
                    return
                headers = {k: self.headers[k] for k in _PASSED_ON if k in self.headers}
                self._answer(*front.passed_on(urlencode(told).encode(), headers))

            def _answer(self, status: int, kind: str, content: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: Any) -> None:  # noqa: ANN401 - nobody reads it
                pass

        return Handler

    def passed_on(self, body: bytes, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
        """What the emulator answers: status, content type and content."""
        request = urllib.request.Request(self._emulator.endpoint, body, dict(headers))  # noqa: S310 - our own loopback
        try:
            with urllib.request.urlopen(request, timeout=_TIMEOUT) as answer:  # noqa: S310 - as above
                return answer.status, answer.headers["Content-Type"], answer.read()
        except HTTPError as error:
            return error.code, error.headers["Content-Type"], error.read()

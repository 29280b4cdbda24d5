"""Faults between the service and its store, one at a chosen call."""

from collections.abc import Callable
from typing import Any

from botocore.exceptions import ClientError, ConnectionClosedError, ReadTimeoutError

Request = Callable[..., Any]


class Killed(BaseException):
    """The process ends here: no handler of errors sees it, as none sees a kill."""


def _refused(code: str, reasons: tuple[str, ...] = ()) -> ClientError:
    error = ClientError({"Error": {"Code": code, "Message": code}}, "Operation")
    if reasons:
        error.response["CancellationReasons"] = [{"Code": reason} for reason in reasons]
    return error


def _killed_before(_request: Request, _asked: dict[str, Any]) -> object:
    raise Killed


def _killed_after(request: Request, asked: dict[str, Any]) -> object:
    request(**asked)
    raise Killed


def _request_lost(_request: Request, _asked: dict[str, Any]) -> object:
    raise ConnectionClosedError(endpoint_url="http://nowhere")


def _answer_lost(request: Request, asked: dict[str, Any]) -> object:
    request(**asked)
    raise ReadTimeoutError(endpoint_url="http://nowhere")


def _throttled(_request: Request, _asked: dict[str, Any]) -> object:
    raise _refused("ProvisionedThroughputExceededException")


def _in_conflict(_request: Request, _asked: dict[str, Any]) -> object:
    raise _refused("TransactionCanceledException", ("TransactionConflict", "None"))


DEATHS = {"killed before": _killed_before, "killed after": _killed_after}
"""Faults that nobody answers."""

TROUBLES = {
    "request lost": _request_lost,
    "answer lost": _answer_lost,
    "throttled": _throttled,
    "in conflict": _in_conflict,
}
"""Faults that pass, and that no client is to notice."""


class FaultyClient:
    """A DynamoDB client that does as it is asked, but for one call of the given number."""

    def __init__(self, client: Any, fault: str = "", at: int = 0) -> None:  # noqa: ANN401 - boto3
        self._client = client
        self._fault = {**DEATHS, **TROUBLES}.get(fault)
        self._at = at
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Request:
        request: Request = getattr(self._client, name)

        def call(**asked: Any) -> object:  # noqa: ANN401 - any request
            self.calls.append(name)
            if self._fault is not None and len(self.calls) == self._at:
                return self._fault(request, asked)
            return request(**asked)

        return call

"""A gateway on loopback: it passes requests on to one server, and does to some what is wished.

A real network holds back bytes and forgets them when their sender is gone; so does this one. A
request that is held reaches the server only while its client still waits for the answer.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Self
from urllib.parse import urlsplit

HEAD = 64 * 1024
"""Bytes that a head may have."""


@dataclass(frozen=True, slots=True)
class Heard:
    """A request or an answer: its first line, its headers by their lower-case names, its body."""

    line: str
    headers: Mapping[str, str]
    body: bytes
    raw: bytes = field(repr=False)

    @property
    def method(self) -> str:
        """The method of a request."""
        return self.line.split(" ", 1)[0]

    @property
    def path(self) -> str:
        """The path of a request, with its query."""
        return self.line.split(" ")[1]

    @property
    def status(self) -> int:
        """The status of an answer."""
        return int(self.line.split(" ")[1])


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is done to one request.

    It is held for `held`, then passed on or not. The client gets `answer`, bytes as they are sent,
    or `silence`, or else its connection is reset. The server's own answer goes to nobody.
    """

    name: str
    passes: bool = False
    held: timedelta = timedelta(0)
    answer: bytes | None = None
    silence: bool = False
    only_late: bool = False
    """Nothing else is done than to hold it."""


Choose = Callable[[Heard], Fault | None]
"""What is to be done to a request, None for nothing."""

Observe = Callable[[Heard, Heard], None]
"""Told of each request that the server answered, and of the answer."""


def said(status: int, body: bytes, kind: str = "application/json", **headers: str) -> bytes:
    """An answer as it is sent; underscores in the names of headers are hyphens."""
    lines = {"Content-Type": kind, "Content-Length": str(len(body))}
    lines |= {name.replace("_", "-"): value for name, value in headers.items()}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status} -\r\n{head}\r\n".encode() + body


class Gateway:
    """Passes on what is asked of the server at `url` between enter and exit."""

    def __init__(self, url: str, choose: Choose, observe: Observe = lambda *_: None) -> None:
        self._server = urlsplit(url)
        self._choose = choose
        self._observe = observe
        self._loop = asyncio.new_event_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._open = threading.Event()
        self._open.set()
        self.url = ""

    def __enter__(self) -> Self:
        self._thread.start()
        self.url = self._run(self._listen())
        return self

    def __exit__(self, *_: object) -> None:
        self._run(self._end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:  # noqa: ANN401 - what `work` returns
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _listen(self) -> str:
        self._listening = await asyncio.start_server(self._meet, "127.0.0.1", 0, limit=HEAD)
        return f"http://127.0.0.1:{self._listening.sockets[0].getsockname()[1]}"

    async def _end(self) -> None:
        self._listening.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one client until it leaves."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - asyncio runs this as one
        self._tasks.add(task)
        line = _Line(self._server.hostname or "", self._server.port or 80)
        try:
            while await self._pass(reader, writer, line):
                await writer.drain()
            writer.close()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            _reset(writer)
        finally:
            line.close()
            self._tasks.discard(task)

    async def _pass(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: "_Line"
    ) -> bool:
        """Serve one request; whether another may come on the same connection."""
        asked = await _heard(reader)
        fault = self._choose(asked)
        gone = asyncio.ensure_future(reader.read(1))
        try:
            if fault is not None and fault.held and await _comes(gone, fault.held):
                return False
            if fault is None or fault.only_late:
                answer = await self._asked(line, asked, gone)
                if answer is not None:
                    writer.write(answer.raw)
                return answer is not None
            if fault.passes:
                await self._asked(line, asked, None)
            if fault.answer is not None:
                writer.write(fault.answer)
                return True
            if fault.silence:
                await gone
            raise ConnectionResetError
        finally:
            gone.cancel()
            await asyncio.wait({gone})

    async def _asked(
        self, line: "_Line", asked: Heard, gone: "asyncio.Future[bytes] | None"
    ) -> Heard | None:
        """The server's answer; None where the client of a read left before it came."""
        answer = asyncio.ensure_future(line.ask(asked))
        if gone is not None and asked.method == "GET":
            either: set[asyncio.Future[Any]] = {answer, gone}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            if not answer.done():
                answer.cancel()
                await asyncio.wait({answer})
                return None
        heard = await answer
        self._observe(asked, heard)
        return heard


class _Line:
    """One connection to the server, made when it is needed."""

    def __init__(self, host: str, port: int) -> None:
        self._place = host, port
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, asked: Heard) -> Heard:
        """The server's answer."""
        if self._ends is None:
            self._ends = await asyncio.open_connection(*self._place, limit=HEAD)
        reader, writer = self._ends
        writer.write(asked.raw)
        answer = await _heard(reader)
        if answer.headers.get("connection", "").lower() == "close":
            self.close()
        return answer

    def close(self) -> None:
        if self._ends is not None:
            self._ends[1].close()
            self._ends = None


async def _heard(reader: asyncio.StreamReader) -> Heard:
    """The next request or answer; raises `IncompleteReadError` at the end of the connection."""
    head = await reader.readuntil(b"\r\n\r\n")
    line, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for one in filter(None, lines):
        name, _, value = one.partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _chunks(reader)
    else:
        body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Heard(line, headers, body, head + body)


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    """A body of unannounced length, as it is sent."""
    body = b""
    while True:
        size = await reader.readuntil(b"\r\n")
        body += size + await reader.readexactly(int(size.split(b";")[0], 16) + 2)
        if body.endswith(b"0\r\n\r\n") and int(size.split(b";")[0], 16) == 0:
            return body


async def _comes(signal: "asyncio.Future[bytes]", within: timedelta) -> bool:
    """Whether a client leaves within that time."""
    await asyncio.wait({signal}, timeout=within.total_seconds())
    return signal.done()


def _reset(writer: asyncio.StreamWriter) -> None:
    """Let the connection end as a crash ends it."""
    with suppress(Exception):
        writer.transport.abort()

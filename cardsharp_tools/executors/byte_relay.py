"""Relay of bytes from one descriptor to another that never waits for either."""

import os
import select
from contextlib import suppress

MAX_BUFFER_BYTES = 1 << 20  # bytes that are held back while the target accepts none
_READ_BYTES = 1 << 16  # bytes that are read at once


class ByteRelay:
    """Relay from one pipe to another, with a buffer of limited size.

    While the buffer is full nothing is read, so the writer has to wait, but not the relay.
    """

    def __init__(self, source: int, target: int) -> None:
        os.set_blocking(target, False)
        self._source, self._target = source, target
        self._buffer = bytearray()
        self._is_source_open = self._is_target_open = True

    @property
    def is_finished(self) -> bool:
        """True if no more bytes can be relayed."""
        return not self._is_target_open

    def register(self, poller: "select.poll") -> None:
        """Register the descriptors that the relay waits for now."""
        if self._is_source_open and len(self._buffer) < MAX_BUFFER_BYTES:
            poller.register(self._source, select.POLLIN)
        if self._is_target_open and self._buffer:
            poller.register(self._target, select.POLLOUT)

    def relay(self, ready: dict[int, int]) -> bytes | None:
        """Relay what the ready descriptors allow; return the bytes read, b"" at their end.

        None means that nothing was to be read.
        """
        chunk = None
        if self._is_source_open and self._source in ready:
            chunk = os.read(self._source, _READ_BYTES)
            self._is_source_open = bool(chunk)
            self._buffer += chunk if self._is_target_open else b""
        self.flush()
        return chunk

    def flush(self) -> None:
        """Write as much of the buffer as the target accepts; close the target after the end."""
        if not self._is_target_open:
            return
        try:
            with suppress(BlockingIOError):
                while self._buffer:
                    del self._buffer[: os.write(self._target, self._buffer)]
        except BrokenPipeError:
            self._buffer.clear()
            self._is_source_open = False
        if not self._buffer and not self._is_source_open:
            self._close_target()

    def _close_target(self) -> None:
        """Close the target, so that its reader sees the end."""
        self._is_target_open = False
        os.close(self._target)

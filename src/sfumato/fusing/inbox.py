"""Messages from other parties that have not been read yet."""

from __future__ import annotations

import queue

from sfumato.exceptions import ProtocolError

MAX_QUEUE_LENGTH = 1 << 30  # bytes from one party waiting to be read


class MessageQueue:
    """Messages from one party that have not been read yet; filled by one thread and read by another."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[bytes | ProtocolError] = queue.Queue()
        self._came = 0
        self._went = 0

    def put(self, message: bytes | ProtocolError) -> None:
        """Add a message, or the reason why none will follow."""
        if isinstance(message, bytes):
            self._came += len(message)
        self._waiting.put(message)

    @property
    def full(self) -> bool:
        """Whether so much is waiting that something must be wrong."""
        return self._came - self._went > MAX_QUEUE_LENGTH

    def get(self, patience: float) -> bytes | ProtocolError | None:
        """Wait for the next message; None if there is none in time."""
        try:
            message = self._waiting.get(timeout=patience)
        except queue.Empty:
            return None
        if isinstance(message, bytes):
            self._went += len(message)
        else:
            self._waiting.put(message)
        return message

"""Write the requests that a guard sees to a JSONL file that ``prefixlint diff`` reads."""

from __future__ import annotations

import os
import secrets
import threading
from pathlib import Path
from typing import Any

from prefixlint.api.library import dump
from prefixlint.api.redact import Redactor, body_of
from prefixlint.model import Request

_PATHS = {
    "anthropic": "/v1/messages",
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "raw": "/v1/completions",
    "gemini": "/v1beta/models/x:generateContent",
    "bedrock-converse": "/model/x/converse",
}


class Recorder:
    """Append one line for each request; readable by the owner only, and whole lines even from several processes."""

    def __init__(self, path: Path, *, key: bytes | None = None, keeps_text: bool = False) -> None:
        """Open nothing yet; without ``key`` the pseudo-words differ from run to run."""
        self.path = path
        self._redactor = None if keeps_text else Redactor(key or secrets.token_bytes(16))
        self._lock = threading.Lock()
        self._is_torn = False

    def write(self, request: Request, at_s: float, session: str) -> None:
        """Append a request. Raises OSError when the file cannot be written."""
        body = body_of(request)
        if self._redactor:
            body, session = self._redactor.body(body), self._redactor.name(session)
        line: dict[str, Any] = {"ts": round(at_s, 3), "session_id": session, "model": request.model}
        line |= {"url": _PATHS.get(request.provider, "/"), "body": body}
        with self._lock:
            self._append(dump(line) + b"\n")

    def _append(self, line: bytes) -> None:
        """Write in one call; a line that was cut by a full disk is closed before the next."""
        handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            data = b"\n" + line if self._is_torn else line
            written = os.write(handle, data)
            self._is_torn = written < len(data)
            if self._is_torn:
                raise OSError(28, "no space left on device", str(self.path))
        finally:
            os.close(handle)

"""A server on loopback that records the bytes of every request and answers like the APIs, whole or as a stream."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CHAT = {
    "id": "c1", "object": "chat.completion", "created": 1, "model": "gpt-4o",
    "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "fine"}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4},
}  # fmt: skip
MESSAGE = {
    "id": "m1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-5", "stop_reason": "end_turn",
    "stop_sequence": None, "content": [{"type": "text", "text": "fine"}],
    "usage": {"input_tokens": 3, "output_tokens": 1},
}  # fmt: skip
GEMINI = {
    "candidates": [{"content": {"role": "model", "parts": [{"text": "fine"}]}, "finishReason": "STOP", "index": 0}],
    "usageMetadata": {"promptTokenCount": 3, "candidatesTokenCount": 1, "totalTokenCount": 4},
}  # fmt: skip
RESPONSE = {
    "id": "r1", "object": "response", "created_at": 1, "model": "gpt-4o", "status": "completed", "tools": [],
    "parallel_tool_calls": True, "tool_choice": "auto", "error": None, "instructions": None, "metadata": {},
    "output": [{"type": "message", "id": "o1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "fine", "annotations": []}]}],
}  # fmt: skip


@dataclass
class Wire:
    """Hold what came over the wire, and how often the server is to fail first."""

    url: str = ""
    requests: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    failures: int = 0

    @property
    def bodies(self) -> list[bytes]:
        return [body for _, _, body in self.requests]


def _answer(path: str) -> dict[str, Any]:
    if path.endswith("/messages"):
        return MESSAGE
    if path.endswith("/responses"):
        return RESPONSE
    return GEMINI if "generateContent" in path.replace("stream", "") or "GenerateContent" in path else CHAT


def _events(path: str) -> Iterator[bytes]:
    if path.endswith("/messages"):
        start = {"type": "message_start", "message": {**MESSAGE, "content": [], "stop_reason": None}}
        block = {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        delta = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "fine"}}
        last = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 1}}
        end = {"type": "content_block_stop", "index": 0}
        for event in (start, block, delta, end, last, {"type": "message_stop"}):
            yield f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
    elif "GenerateContent" in path:
        yield f"data: {json.dumps(GEMINI)}\r\n\r\n".encode()
    else:
        for word in ("fi", "ne"):
            chunk = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "gpt-4o"}
            chunk["choices"] = [{"index": 0, "delta": {"content": word}, "finish_reason": None}]
            yield f"data: {json.dumps(chunk)}\n\n".encode()
        yield b"data: [DONE]\n\n"


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    wire: Wire

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing when a client hangs up: some tests do."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        wire = self.server.wire
        body = self._read()
        wire.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
        if wire.failures:
            wire.failures -= 1
            return self._send(500, b'{"error": {"message": "try again"}}', "application/json")
        streams = b'"stream":true' in body[:200_000].replace(b" ", b"") or "streamGenerate" in self.path
        path = self.path.partition("?")[0]
        if streams:
            return self._send(200, b"".join(_events(path)), "text/event-stream")
        return self._send(200, json.dumps(_answer(path)).encode(), "application/json")

    def _read(self) -> bytes:
        if self.headers.get("transfer-encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length", 0)))
        parts = []
        while size := int(self.rfile.readline(), 16):
            parts.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(parts)

    def _send(self, status: int, data: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        if status == 500:
            self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def log_message(self, *values: object) -> None:
        """Say nothing."""


@contextlib.contextmanager
def recording() -> Iterator[Wire]:
    """Run the server while the block runs."""
    server = _Server(("127.0.0.1", 0), _Handler)
    server.wire = Wire(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server.wire
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

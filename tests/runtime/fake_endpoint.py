"""A model server on loopback with settable network delay, queue spikes, prefill rate and prefix cache."""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Behaviour:
    """Say how the server behaves; times in seconds, one word of the prompt counts as one token."""

    network_s: float = 0.0
    queue_share: float = 0.0
    queue_s: float = 0.0
    tokens_per_s: float = 1e9
    cache: bool = True
    reports_cached: bool = True
    tpot_s: float = 0.0
    status: int = 200
    answer: bytes = b""
    content_type: str = "application/json"
    rnd: random.Random = field(default_factory=lambda: random.Random(1))
    seen: list[list[str]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    cached: list[int] = field(default_factory=list)


def words(body: dict[str, Any]) -> list[str]:
    """Return the prompt of a body of any of the three APIs as words."""
    system = body.get("system") or body.get("instructions") or ""
    if isinstance(system, list):
        system = " ".join(block["text"] for block in system)
    turns = body.get("messages", body.get("input", []))
    if isinstance(turns, str):
        turns = [{"content": turns}]
    return (system + " " + " ".join(str(t["content"]) for t in turns)).split()


class Handler(BaseHTTPRequestHandler):
    """Answer POST with a stream in the API's shape."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    behaviour: Behaviour

    def log_message(self, format: str, *args: Any) -> None:
        """Keep quiet."""

    def do_POST(self) -> None:
        """Wait as long as the behaviour says, then stream."""
        b = self.behaviour
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        b.bodies.append(body)
        b.headers.append(dict(self.headers))
        if b.status != 200 or b.answer:
            self.reply(b.answer)
            return
        prompt = words(body)
        hit = self.hit(prompt)
        wait = b.network_s + (len(prompt) - hit) / b.tokens_per_s
        wait += b.queue_s if b.rnd.random() < b.queue_share else 0
        time.sleep(wait)
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for event in self.events(body, len(prompt), hit if b.reports_cached else None):
            self.chunk(b"data: " + json.dumps(event).encode() + b"\n\n")
            time.sleep(b.tpot_s)
        self.chunk(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")

    def hit(self, prompt: list[str]) -> int:
        """Return how many words the longest shared prefix with an earlier prompt holds, at most all but one."""
        b, best = self.behaviour, 0
        for old in b.seen if b.cache else ():
            same = 0
            while same < min(len(old), len(prompt) - 1) and old[same] == prompt[same]:
                same += 1
            best = max(best, same)
        b.seen.append(prompt)
        b.cached.append(best)
        return best

    def events(self, body: dict[str, Any], total: int, hit: int | None) -> list[dict[str, Any]]:
        """Build the events of the API that the path names."""
        if self.path.endswith("/messages"):
            usage: dict[str, Any] = {"input_tokens": total - (hit or 0), "output_tokens": 1}
            if hit is not None:
                usage |= {"cache_read_input_tokens": hit, "cache_creation_input_tokens": 0}
            delta = {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "OK"}}
            start = {"type": "message_start", "message": {"usage": usage}}
            return [start, delta, delta, {"type": "message_delta", "usage": {"output_tokens": 2}}]
        details = {} if hit is None else {"cached_tokens": hit}
        if self.path.endswith("/responses"):
            done = {"input_tokens": total, "output_tokens": 2, "input_tokens_details": details}
            delta = {"type": "response.output_text.delta", "delta": "OK"}
            return [delta, delta, {"type": "response.completed", "response": {"usage": done}}]
        delta = {"choices": [{"delta": {"content": "OK"}}], "usage": None}
        usage = {"prompt_tokens": total, "completion_tokens": 2, "prompt_tokens_details": details}
        return [delta, delta, {"choices": [], "usage": usage}]

    def chunk(self, data: bytes) -> None:
        """Write one chunk of the body."""
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def reply(self, data: bytes) -> None:
        """Answer with a fixed status and body."""
        self.send_response(self.behaviour.status)
        self.send_header("content-type", self.behaviour.content_type)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class FakeEndpoint:
    """Run the server in a thread: ``with FakeEndpoint(behaviour) as url``."""

    def __init__(self, behaviour: Behaviour) -> None:
        handler = type("Bound", (Handler,), {"behaviour": behaviour})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True

    def __enter__(self) -> str:
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def __exit__(self, *problem: object) -> None:
        self.server.shutdown()
        self.server.server_close()

"""The language server, spoken to as an editor does: JSON-RPC over standard input and output."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from prefixlint.api.editor import notes, position, units

pytest.importorskip("pygls", reason="needs prefixlint[lsp]")
PROMPT = "You are a clerk. \U0001f600 Current time: {{now}}\n"


class Editor:
    """Speak the Language Server Protocol with a child process."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "prefixlint", "lsp"]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.number = 0

    def send(self, method: str, params: Any, *, request: bool = False) -> None:
        assert self.process.stdin
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        if request:
            self.number += 1
            message["id"] = self.number
        data = json.dumps(message).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def wait(self, wanted: Any) -> Any:
        """Read messages until one is the answer to the last request (None) or has this method."""
        while True:
            message = self.read()
            if wanted is None and message.get("id") == self.number and "method" not in message:
                return message["result"]
            if wanted and message.get("method") == wanted:
                return message["params"]

    def read(self) -> Any:
        assert self.process.stdout
        size = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(size))

    def close(self) -> None:
        self.send("shutdown", None, request=True)
        self.wait(None)
        self.send("exit", None)
        assert self.process.stdin and self.process.stdout
        self.process.wait(10)
        self.process.stdin.close()
        self.process.stdout.close()


def test_an_open_prompt_gets_its_findings(tmp_path: Path) -> None:
    editor = Editor()
    uri = (tmp_path / "prompt.md").as_uri()
    editor.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, request=True)
    editor.wait(None)
    editor.send("initialized", {})
    document = {"uri": uri, "languageId": "markdown", "version": 1, "text": PROMPT}
    editor.send("textDocument/didOpen", {"textDocument": document})
    shown = editor.wait("textDocument/publishDiagnostics")["diagnostics"]
    editor.close()
    assert [d["code"] for d in shown] == ["timestamp"]
    start = shown[0]["range"]["start"]
    # {{now}} begins at code point 33 of the line; the emoji before it counts two UTF-16 units
    assert start == {"line": 0, "character": PROMPT.index("{{now}}") + 1}


def test_places_are_utf_16() -> None:
    assert position(["a\U0001f600b\n", "c"], 1, 3) == (0, 3)
    assert units("\U0001f600") == 2


def test_a_clean_document_has_no_notes() -> None:
    assert notes("prompt.md", "You are a clerk.\n") == ()

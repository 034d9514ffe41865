"""Read bytes: plain, gzip or zstd, a file or standard input, as lines or as one document."""

from __future__ import annotations

import gzip
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple, cast

from prefixlint.errors import InputError
from prefixlint.model import Progress

CHUNK_BYTES = 1 << 20
HEAD_BYTES = 1 << 16
BOM = b"\xef\xbb\xbf"
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"
_WIDE = (b"\xff\xfe", b"\xfe\xff")


class Line(NamedTuple):
    """Hold one line without its end; ``number`` counts from 1, ``start_byte`` in the decompressed file."""

    number: int
    start_byte: int
    data: bytes


class _Counted:
    """Count the raw bytes read, for progress bars that know only the size of the compressed file."""

    def __init__(self, raw: IO[bytes], ahead: bytes = b"") -> None:
        self._raw = raw
        self._ahead = ahead
        self.done_bytes = 0

    def read(self, size: int = -1) -> bytes:
        """Read up to ``size`` bytes, first those that were looked at already."""
        if self._ahead:
            data, self._ahead = self._ahead, b""
            if 0 <= size < len(data):
                data, self._ahead = data[:size], data[size:]
        else:
            data = self._raw.read(size)
        self.done_bytes += len(data)
        return data

    def close(self) -> None:
        """Close the file, but never standard input, which is not ours."""
        if self._raw is not sys.stdin.buffer:
            self._raw.close()


def _decompressed(raw: _Counted, magic: bytes) -> IO[bytes]:
    if magic.startswith(_GZIP):
        return cast("IO[bytes]", gzip.GzipFile(fileobj=raw, mode="rb"))  # type: ignore[call-overload]
    if magic.startswith(_ZSTD):
        import zstandard

        reader = zstandard.ZstdDecompressor().stream_reader(
            cast("IO[bytes]", raw), read_size=CHUNK_BYTES, read_across_frames=True
        )
        return cast("IO[bytes]", reader)
    return cast("IO[bytes]", raw)


@dataclass(eq=False)
class Input:
    """Give one input as a stream of bytes; its beginning can be looked at before it is read.

    ``path`` is ``-`` for standard input, which can be read once only. ``notes`` collects what a reader wants to say
    about the whole file. ``beside`` names the other inputs of the same log, where a format keeps request and answer in
    two files.
    """

    path: str
    progress: Progress | None = None
    notes: list[str] = field(default_factory=list)
    beside: tuple[str, ...] = ()
    _stream: IO[bytes] | None = None
    _counted: _Counted | None = None
    _ahead: bytes = b""
    _ended: bool = False

    @property
    def size_bytes(self) -> int:
        """Return the size on disk, 0 when it is unknown."""
        return 0 if self.path == "-" else Path(self.path).stat().st_size

    def _open(self) -> IO[bytes]:
        if self._stream is None:
            raw = sys.stdin.buffer if self.path == "-" else Path(self.path).open("rb", buffering=0)  # noqa: SIM115
            magic = raw.read(4)
            while magic and len(magic) < 4 and (more := raw.read(4 - len(magic))):
                magic += more
            self._counted = _Counted(cast("IO[bytes]", raw), magic)
            self._stream = _decompressed(self._counted, magic)
        return self._stream

    def _fill(self) -> bytes:
        """Read one chunk; a damaged archive is the user's problem and says so."""
        if self._ended:
            return b""
        try:
            chunk = self._open().read(CHUNK_BYTES)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            self._ended = True
            raise InputError(f"the gzip data is damaged: {error}", path=self.path) from error
        except OSError as error:
            self._ended = True
            raise InputError(f"cannot be read: {error.strerror or error}", path=self.path) from error
        except Exception as error:
            if type(error).__name__ != "ZstdError":
                raise
            self._ended = True
            raise InputError(f"the zstd data is damaged: {error}", path=self.path) from error
        if self.progress and self._counted:
            self.progress(self._counted.done_bytes, self.size_bytes)
        self._ended = not chunk
        return chunk

    def peek(self, size: int = HEAD_BYTES) -> bytes:
        """Return the first ``size`` bytes, or fewer when the file is shorter, without reading past them."""
        parts = [self._ahead]
        length = len(self._ahead)
        while length < size and (chunk := self._fill()):
            parts.append(chunk)
            length += len(chunk)
        self._ahead = b"".join(parts)
        return self._ahead[:size] if len(self._ahead) > size else self._ahead

    def peek_line(self) -> bytes:
        """Return the file up to the end of its first line that is not blank, at least HEAD_BYTES where there are."""
        data = self.peek()
        size = HEAD_BYTES
        while b"\n" not in data.removeprefix(BOM).lstrip() and len(data) >= size:
            size *= 4
            data = self.peek(size)
        return data

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes from the start."""
        if self._ahead:
            ahead, self._ahead = self._ahead, b""
            yield ahead
            del ahead
        while chunk := self._fill():
            yield chunk

    def data(self) -> bytes:
        """Return the whole file."""
        return b"".join(self.chunks())

    def lines(self) -> Iterator[Line]:
        """Yield every line; memory is bounded by the longest one. A byte order mark belongs to no line."""
        number, start_byte, pending = 1, 0, list[bytes]()
        for chunk in self.chunks():
            at = 0
            while (end := chunk.find(b"\n", at)) >= 0:
                line = chunk[at:end]
                if pending:
                    line = b"".join((*pending, line))
                    pending.clear()
                skip = 3 if number == 1 and line.startswith(BOM) else 0
                yield Line(number, start_byte + skip, line[skip:] if skip else line)
                start_byte += len(line) + 1
                number += 1
                at = end + 1
            if at < len(chunk):
                pending.append(chunk[at:] if at else chunk)
        if pending:
            line = b"".join(pending)
            skip = 3 if number == 1 and line.startswith(BOM) else 0
            yield Line(number, start_byte + skip, line[skip:])

    def close(self) -> None:
        """Close the file."""
        if self._counted is not None:
            self._counted.close()
        self._stream = self._counted = None
        self._ended = True


def wide_encoding(data: bytes) -> str:
    """Name the encoding of a file that is UTF-16 or UTF-32 by its byte order mark, else return an empty text."""
    return "UTF-16" if data.startswith(_WIDE) else ""

"""Read bytes: plain, gzip or zstd, a file or standard input, as lines or as one document."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from prefixlint.errors import InputError
from prefixlint.model import Progress

CHUNK_BYTES = 1 << 20
PACKED_BYTES = 1 << 16  # gzip can grow a thousandfold
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


class _Unpacked:
    """Decompress piece by piece, one frame after the other, so that what stands before a damage is not lost."""

    def __init__(self, raw: _Counted, fresh: Callable[[], Any]) -> None:
        self._raw = raw
        self._fresh = fresh
        self._frame = fresh()
        self._begun = False

    def read(self, size: int) -> bytes:
        """Return some bytes, none at the end. Raises ValueError or zlib.error on damage."""
        while packed := self._rest() or self._raw.read(min(size, PACKED_BYTES)):
            self._begun = True
            data: bytes = self._frame.decompress(packed)
            if data:
                return data
        if self._begun and not self._frame.eof:
            self._begun = False
            raise ValueError("it is cut off")
        return b""

    def _rest(self) -> bytes:
        """Return what stands behind the end of a frame, and begin the next one; padding of zeros is none."""
        if not self._frame.eof:
            return b""
        rest: bytes = self._frame.unused_data or self._raw.read(PACKED_BYTES)
        if not rest.strip(b"\0"):
            return b""
        self._frame = self._fresh()
        return rest


def _decompressed(raw: _Counted, magic: bytes) -> _Counted | _Unpacked:
    if magic.startswith(_GZIP):
        return _Unpacked(raw, lambda: zlib.decompressobj(zlib.MAX_WBITS | 16))
    if magic.startswith(_ZSTD):
        import zstandard

        return _Unpacked(raw, lambda: zstandard.ZstdDecompressor().decompressobj())
    return raw


@dataclass(eq=False)
class Input:
    """Give one input as a stream of bytes; its beginning can be looked at before it is read.

    ``path`` is ``-`` for standard input, which can be read once only. ``notes`` collects what a reader wants to say
    about the whole file. ``beside`` names all inputs of the same log, where a format keeps request and answer in
    two files. ``failure`` says what ended the file too early, ``kind`` what its
    beginning looks like, once that is known.
    """

    path: str
    progress: Progress | None = None
    notes: list[str] = field(default_factory=list)
    beside: tuple[str, ...] = ()
    failure: InputError | None = None
    kind: str = ""
    _stream: _Counted | _Unpacked | None = None
    _counted: _Counted | None = None
    _ahead: bytes = b""
    _ended: bool = False

    @property
    def size_bytes(self) -> int:
        """Return the size on disk, 0 when it is unknown."""
        return 0 if self.path == "-" else Path(self.path).stat().st_size

    def _open(self) -> _Counted | _Unpacked:
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
        except OSError as error:
            return self._fail(f"cannot be read: {error.strerror or error}")
        except (ValueError, zlib.error) as error:
            return self._fail(f"the compressed data is damaged, so the rest is lost: {error}")
        except Exception as error:
            if type(error).__name__ != "ZstdError":  # zstandard is imported only where it is needed
                raise
            return self._fail(f"the compressed data is damaged, so the rest is lost: {error}")
        if self.progress and self._counted:
            self.progress(self._counted.done_bytes, self.size_bytes)
        self._ended = not chunk
        return chunk

    def _fail(self, message: str) -> bytes:
        """End the stream, and keep the reason until what was read before it is used."""
        self._ended = True
        self.failure = InputError(message, path=self.path)
        return b""

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
        """Yield the bytes from the start. Raises InputError where the file is damaged."""
        yield from self._chunks()
        if self.failure:
            raise self.failure

    def _chunks(self) -> Iterator[bytes]:
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
        for chunk in self._chunks():
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
        if self.failure:
            raise self.failure

    def close(self) -> None:
        """Close the file."""
        if self._counted is not None:
            self._counted.close()
        self._stream = self._counted = None
        self._ended = True


def wide_encoding(data: bytes) -> str:
    """Name the encoding of a file that is UTF-16 or UTF-32 by its byte order mark, else return an empty text."""
    return "UTF-16" if data.startswith(_WIDE) else ""

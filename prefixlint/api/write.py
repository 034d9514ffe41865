"""Replace a file in one step: at any moment it is either the old one or the new one."""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import shutil
import stat
import tempfile
from pathlib import Path

from prefixlint.errors import FixError

MAGIC = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}


def compression_of(data: bytes) -> str:
    """Name the compression of a file by its first bytes, '' for none."""
    return MAGIC.get(data[:2], "")


def method_for(path: str, method: str) -> str:
    """Choose the compression of a copy: as its name says, or none where the name has no suffix for one."""
    return {".gz": "gzip", ".zst": "zstd"}.get(Path(path).suffix.lower(), method if Path(path).exists() else "")


def compress(data: bytes, method: str) -> bytes:
    """Compress as the original was; without a time stamp, so that equal content gives an equal file."""
    if method == "gzip":
        return gzip.compress(data, mtime=0)
    if method == "zstd":
        import zstandard

        return zstandard.ZstdCompressor().compress(data)
    return data


def expand(data: bytes) -> bytes:
    """Return the content of a plain, gzip or zstd file, all frames of it. Raises EOFError when it is cut off."""
    method = compression_of(data)
    if method == "gzip":
        return gzip.decompress(data)
    if method == "zstd":
        return _expand_zstd(data)
    return data


def _expand_zstd(data: bytes) -> bytes:
    import zstandard

    pieces: list[bytes] = []
    while data:
        frame = zstandard.ZstdDecompressor().decompressobj()
        try:
            pieces.append(frame.decompress(data))
        except zstandard.ZstdError as error:
            raise EOFError(str(error)) from error
        if not frame.eof:
            raise EOFError("it is cut off")
        data = frame.unused_data
    return b"".join(pieces)


def replace_file(path: str, data: bytes, *, backup: bool = False, before: bytes | None = None) -> None:
    """Write ``data`` to a temporary file beside the real one, flush it to disk and rename it over the old file.

    A symlink stays one: the file it points to is replaced. Mode bits stay; ``backup`` keeps the old one as ``.bak``.
    ``before`` is what the file was read as: a log that grew in the meantime is left alone, nothing of it may be lost.
    Raises FixError when the folder or the file cannot be written; then nothing has changed.
    """
    real = Path(os.path.realpath(path))
    try:
        mode = real.stat().st_mode if real.exists() else None
        if mode is not None and not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        if mode is not None and not os.access(real, os.W_OK):
            raise PermissionError(errno.EACCES, "the file is read-only")
        if before is not None and not _holds(real, before):
            raise OSError(errno.EBUSY, "it was changed while it was being fixed, so run fix again")
        if backup and mode is not None:
            shutil.copy2(real, f"{real}.bak")
        _replace(real, data, mode)
    except OSError as error:
        raise FixError(f"{path}: cannot be written: {error.strerror}; the file is unchanged") from error


def _holds(real: Path, before: bytes) -> bool:
    """Return whether a file still has this content; what cannot be decompressed any more has not."""
    data = real.read_bytes()
    if data == before:
        return True
    try:
        return bool(compression_of(data)) and expand(data) == before
    except (OSError, EOFError):
        return False


def _replace(real: Path, data: bytes, mode: int | None) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{real.name}.", suffix=".tmp", dir=real.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode & 0o7777 if mode is not None else 0o666 & ~_umask())
        Path(name).replace(real)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
    _sync_folder(real.parent)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """Make the rename itself durable where the system lets a folder be opened."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)

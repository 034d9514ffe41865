"""Read members of zip files, also those compressed with zstd, which zipfile cannot read before Python 3.14."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from prefixlint.errors import InputError

_ZSTD = 93  # APPNOTE.TXT 6.3.8, section 4.4.5
_LOCAL = struct.Struct("<4s5H3L2H")


class Archive:
    """Give the members of a zip file that is held in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                self._infos = {info.filename: info for info in archive.infolist()}
        except zipfile.BadZipFile as error:
            raise InputError(f"the zip file is damaged: {error}") from error

    def names(self) -> list[str]:
        """Return the names of the members in the order of the archive."""
        return list(self._infos)

    def read(self, name: str) -> bytes:
        """Return a member's bytes. Raises InputError when they cannot be decompressed."""
        info = self._infos[name]
        try:
            packed = self._packed(info)
            return _unpacked(packed, info.compress_type, info.file_size)
        except (struct.error, zlib.error, ValueError) as error:
            raise InputError(f"{name} in the zip file is damaged: {error}") from error

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        head = _LOCAL.unpack_from(self._data, info.header_offset)
        start = info.header_offset + _LOCAL.size + head[9] + head[10]
        return self._data[start : start + info.compress_size]


def _unpacked(packed: bytes, method: int, size: int) -> bytes:
    if method == zipfile.ZIP_STORED:
        return packed
    if method == zipfile.ZIP_DEFLATED:
        return zlib.decompress(packed, -zlib.MAX_WBITS)
    if method == _ZSTD:
        import zstandard

        try:
            return zstandard.ZstdDecompressor().decompressobj().decompress(packed)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error
    raise ValueError(f"unknown compression method {method}")

"""Every error that a user can cause, with place, cause and next step."""

from __future__ import annotations


class PrefixlintError(Exception):
    """Base of all errors that are reported to the user without a traceback."""


class InputError(PrefixlintError):
    """Describe an input that could not be read; the other records go on.

    ``line`` and ``column`` count from 1, columns in code points; 0 means that the place is the whole file.
    """

    def __init__(self, message: str, *, path: str = "", line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.line = line
        self.column = column

    def __str__(self) -> str:
        """Format as ``path:line:column: message``, leaving out what is unknown."""
        place = ":".join(str(part) for part in (self.path, self.line, self.column) if part)
        return f"{place}: {self.message}" if place else self.message


class ConfigError(PrefixlintError):
    """Describe a fault in the configuration file or on the command line."""


class CardError(PrefixlintError):
    """Describe a rule card that does not follow the card schema."""


class FixError(PrefixlintError):
    """Say why a fix was not written: it failed verification, and the file is unchanged."""

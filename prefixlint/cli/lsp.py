"""``prefixlint lsp``: a language server on standard input and output, for findings and repairs in an editor."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import click

from prefixlint.errors import ConfigError


@click.command()
def command() -> None:
    """Serve an editor over standard input and output (needs prefixlint[lsp])."""
    server().start_io()


def server() -> Any:
    """Build the server; raises ConfigError when the extra is not installed."""
    try:
        from lsprotocol import types as lsp
        from pygls.lsp.server import LanguageServer
    except ImportError:
        raise ConfigError("the language server needs an extra: pip install 'prefixlint[lsp]'") from None
    from prefixlint import __version__

    made = LanguageServer("prefixlint", __version__)

    def publish(uri: str) -> None:
        found = _notes(made, uri)
        diagnostics = [_diagnostic(lsp, note) for note in found]
        made.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri=uri, diagnostics=diagnostics))

    @made.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: Any) -> None:
        publish(params.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: Any) -> None:
        publish(params.text_document.uri)

    @made.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: Any) -> None:
        empty = lsp.PublishDiagnosticsParams(uri=params.text_document.uri, diagnostics=[])
        made.text_document_publish_diagnostics(empty)

    @made.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=[lsp.CodeActionKind.QuickFix]))
    def actions(params: Any) -> list[Any]:
        uri = params.text_document.uri
        wanted = (params.range.start.line, params.range.end.line)
        near = [n for n in _notes(made, uri) if n.changes and n.start[0] <= wanted[1] and n.end[0] >= wanted[0]]
        return [_action(lsp, uri, note) for note in near]

    return made


def _notes(server: Any, uri: str) -> tuple[Any, ...]:
    from prefixlint.api.editor import notes

    document = server.workspace.get_text_document(uri)
    path = unquote(urlsplit(uri).path)
    return notes(str(Path(path)), document.source)


def _range(lsp: Any, start: tuple[int, int], end: tuple[int, int]) -> Any:
    return lsp.Range(start=lsp.Position(*start), end=lsp.Position(*end))


def _diagnostic(lsp: Any, note: Any) -> Any:
    levels = {"error": lsp.DiagnosticSeverity.Error, "warning": lsp.DiagnosticSeverity.Warning}
    level = levels.get(note.severity, lsp.DiagnosticSeverity.Information)
    place = _range(lsp, note.start, note.end)
    return lsp.Diagnostic(range=place, message=note.message, severity=level, code=note.rule, source="prefixlint")


def _action(lsp: Any, uri: str, note: Any) -> Any:
    edits = [lsp.TextEdit(range=_range(lsp, c.start, c.end), new_text=c.new) for c in note.changes]
    edit = lsp.WorkspaceEdit(changes={uri: edits})
    kind = lsp.CodeActionKind.QuickFix
    return lsp.CodeAction(title=note.title, kind=kind, edit=edit, diagnostics=[_diagnostic(lsp, note)])

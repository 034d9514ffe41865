"""The HTML report: one self-contained file, no outside request, everything captured shown as text.

The page gets its data as a JSON island and builds itself with ``textContent`` only; a content security policy allows
the one inline script and style by their hashes and nothing else, so that markup in a log stays text.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from html import escape
from pathlib import Path

from prefixlint.model import Json

_FOLDER = Path(__file__).parent / "page"
_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; {policy}; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>{style}</style>
</head>
<body>
<header><h1>{title}</h1><span class="soft">{subtitle}</span><button id="theme" type="button">light / dark</button></header>
<main><noscript><p>This report draws itself with JavaScript; <code>prefixlint diff</code> prints the same as text.</p></noscript>
<aside id="detail" hidden aria-live="polite" aria-label="the chosen request"></aside></main>
<footer>{footer}</footer>
<script type="application/json" id="data">{data}</script>
<script>{script}</script>
</body>
</html>
"""  # noqa: E501


def page(data: Mapping[str, Json], *, title: str, subtitle: str, footer: str) -> str:
    """Write the page. ``data`` has the members headline, sites, strips, curves, tree and findings (see page.js)."""
    style = (_FOLDER / "page.css").read_text(encoding="utf-8")
    script = (_FOLDER / "page.js").read_text(encoding="utf-8")
    return _PAGE.format(
        title=escape(title),
        subtitle=escape(subtitle),
        footer=escape(footer),
        style=style,
        script=script,
        data=island(data),
        policy=f"script-src '{_hash(script)}'; style-src '{_hash(style)}'",
    )


def island(data: Mapping[str, Json]) -> str:
    """Write JSON that no HTML parser can leave early: ``<``, ``>`` and ``&`` as escapes, surrogates too."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

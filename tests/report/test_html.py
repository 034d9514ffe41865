from __future__ import annotations

import json
import re

from prefixlint.report.html import island, page

EMPTY = {"headline": {}, "sites": [], "strips": [], "curves": {}, "tree": [], "findings": []}


def test_markup_cannot_leave_the_island() -> None:
    hostile = {"text": "</script><script>alert(1)</script><!--\u2028 \ud800 &lt;"}
    written = island(hostile)
    assert "<" not in written
    assert json.loads(written) == hostile


def test_page_asks_for_nothing_outside() -> None:
    text = page(EMPTY, title="<b>x</b>", subtitle="a & b", footer="f")
    assert not re.search(r"""(?:src|href)=["'](?!#)""", text)
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "default-src 'none'" in text
    assert "&lt;b&gt;x&lt;/b&gt;" in text

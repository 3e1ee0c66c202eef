"""Hooks of the documentation's build: formulas become MathML, the papers' pages join, and the search also works from disk.

Nothing is loaded from elsewhere, and no script is needed to read a formula.
"""

from __future__ import annotations

import json
import re
import unicodedata
from html import unescape
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from latex2mathml.converter import convert
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files

PAPERS = Path(__file__).parents[1] / "papers" / "hyperacuity_papers"

_FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
_CORNER = re.compile(r"<th( [^>]*)?></th>")
_WORD = re.compile(r"(?<![\\A-Za-z])(?:[TF]PR?|FN|TN|PREC|[SM]?FoM|[CIFM]D|MSE|PSNR|ORI|RI)(?![A-Za-z])")
_MATHML = "http://www.w3.org/1998/Math/MathML"


def on_files(files: Files, config: Any) -> Files:
    """Add the page of each paper, which stands in the paper's own folder, and whose links lead from there to docs/."""
    for page in sorted(PAPERS.glob("*/README.md")):
        text = page.read_text(encoding="utf-8").replace("](../../../docs/", "](../")
        text = re.sub(r"\]\(\.\./(\w+)/README\.md", r"](\1.md", text)
        files.append(File.generated(config, f"papers/{page.parent.name}.md", content=text))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """What pages explain is found before what the reference lists: there every name is a title, which counts a thousandfold."""
    if page.file.src_uri == "papers.md":
        return re.sub(r"\]\(\.\./papers/hyperacuity_papers/(\w+)/README\.md", r"](papers/\1.md", markdown)
    if page.file.src_uri.startswith("reference"):
        page.meta.setdefault("search", {"boost": 0.001})
    return markdown


def on_page_content(html: str, **_: Any) -> str:
    """A page's formulas, which arithmatex marked, as MathML; the empty corner of a table is a cell, not a heading."""
    return _CORNER.sub(r"<td\1></td>", _FORMULA.sub(_drawn, html))


def on_post_page(output: str, **_: Any) -> str:
    """The theme's search says what it is to those who cannot see it."""
    return output.replace('data-md-component="search" ', 'data-md-component="search" aria-label="Search" ')


@event_priority(-100)  # after the search has written its index
def on_post_build(config: Any, **_: Any) -> None:
    """Copies of the search's index and worker as scripts: from disk a page may load scripts, but neither data nor workers."""
    site = Path(config.site_dir)
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    (site / "search" / "search_index.js").write_text(f"var __index = {index};\n", encoding="utf-8")
    (worker,) = (site / "assets" / "javascripts" / "workers").glob("search.*.min.js")
    source = worker.read_text(encoding="utf-8").partition("//# sourceMappingURL")[0]
    (site / "search" / "worker.js").write_text(_WORKER % json.dumps(source), encoding="utf-8")


_WORKER = """\
{
  const source = new Blob([%s], {type: "text/javascript"});
  const Threaded = window.Worker;
  window.Worker = function () { return new Threaded(URL.createObjectURL(source)); };
}
"""


def mathml(formula: str, display: str = "inline") -> str:
    """A formula of LaTeX as MathML, spaced as LaTeX would space it; names such as TP are words, not products."""
    known = _WORD.sub(r"\\text{\g<0>}", " ".join(formula.split()).replace(r"\arg", r"\text{arg}"))
    root = ElementTree.fromstring(convert(known, display=display))  # noqa: S314
    for one in root.iter():
        _space(one)
    ElementTree.register_namespace("", _MATHML)
    return ElementTree.tostring(root, encoding="unicode")


def _space(one: ElementTree.Element) -> None:
    """Operators written as themselves (∈, ≤) stand apart, bars stand close, and what a minimum is over stands below it."""
    kind, text = one.tag.rpartition("}")[2], one.text or ""
    if text in ("|", "‖"):
        one.tag = f"{{{_MATHML}}}mo"
        one.attrib |= {"lspace": "0.06em", "rspace": "0.06em"}
    elif kind == "mi" and len(text) == 1 and (unicodedata.category(text) == "Sm" or text in "·′"):
        one.tag = f"{{{_MATHML}}}mo"
    elif kind == "mo" and text.isalpha():
        one.attrib |= {"lspace": "0.17em", "rspace": "0.12em", "movablelimits": "true"}
    elif kind == "msub" and one[0].text in ("max", "min"):
        one.tag = f"{{{_MATHML}}}munder"


def _drawn(found: re.Match[str]) -> str:
    formula = unescape(found[2])
    if found[1] == "div":
        return f'<div class="formula" tabindex="0">{mathml(formula, "block")}</div>'
    return mathml(formula)

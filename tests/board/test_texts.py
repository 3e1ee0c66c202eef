"""What cards say, made fit to be shown: names, links, and BibTeX that ends where it seems to."""

from __future__ import annotations

import pytest

from hyperacuity.board.bibtex import entry_of, given_entry, library
from hyperacuity.board.names import labels_of, paragraphs, short, web_link
from hyperacuity.cards import About

GOOD = """@article{arbelaez2011,
  title = {Contour Detection and {H}ierarchical Segmentation},
  author = {Arbel{\\'a}ez, Pablo and Maire, Michael},
  year = 2011
}"""


def test_a_plain_entry_is_taken_as_it_is():
    assert given_entry(GOOD) == GOOD
    assert given_entry(f"\n{GOOD}\n\n") == GOOD


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no entry at all",
        "@misc{a, title = {never closed}",
        "@misc{a, title = {closed} } twice}",
        "@misc{a, title = {one}}\n@misc{b, title = {two}}",
        "@preamble{a, {\\input{secret}}}",
        "@string{a, b = {c}}",
        "@comment{a, b}",
        "@misc{a, title = {\\input{/etc/passwd}}}",
        "@misc{a, title = {\\write18{rm -rf}}}",
        "@misc{a, title = {\\catcode`x=0}}",
        "@misc{a, title = {\\href{javascript:boom()}{x}}}",
        "@misc{, title = {no key}}",
    ],
)
def test_anything_else_is_not(text):
    assert given_entry(text) == ""


def test_an_entry_is_made_where_there_is_none(make_card):
    about = About("100% of {braces} & \\commands", ("A. B_C", "Rock and Roll"), 2020, "https://example.org/x%20y")
    entry = entry_of(make_card("My System!", [50], images=["x"], about=about), "0123ab")
    assert entry.splitlines() == [
        "@misc{my-system-0123ab,",
        "  title = {100\\% of \\{braces\\} \\& \\textbackslash{}commands},",
        "  author = {A. B\\_C and Rock {and} Roll},",
        "  year = {2020},",
        "  url = {https://example.org/x%20y},",
        "}",
    ]


def test_a_library_has_each_entry_once_and_no_key_twice():
    other = GOOD.replace("2011\n", "2012\n")
    text = library([GOOD, GOOD, other])
    assert text.count("@article") == 2
    assert "@article{arbelaez2011," in text
    assert "@article{arbelaez2011-2," in text


def test_only_the_web_is_linked():
    assert web_link("http://example.org/~a") == "http://example.org/~a"
    for link in (
        "javascript:x",
        "https://a b",
        'https://a"b',
        "https://a\n",
        "file:///etc",
        "//x",
        "https://\u202e",
        "",
    ):
        assert web_link(link) == "", link


def test_texts_are_shown_in_one_line_and_cut():
    assert short("a\u202eb") == "a\\u202eb"
    assert len(short("x" * 10_000)) == 60
    assert paragraphs("a\n\n\tb\x00") == ["a", "b\\x00"]
    cut = labels_of(["x" * 100 + "1", "x" * 100 + "2"], ["aaaaaaaa", "bbbbbbbb"])
    assert cut[0] != cut[1]
    assert len(set(labels_of(["a", "a", "a · aaaaaa"], ["aaaaaaaa", "bbbbbbbb", "cccccccc"]))) == 3

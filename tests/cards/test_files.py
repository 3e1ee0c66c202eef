"""Cards as files: what is written is read, what was changed is found, and what means harm is refused in a sentence."""

from __future__ import annotations

import hashlib
import json
import re

import fuzz_cards
import numpy as np
import pytest

from hyperacuity.boundary import Protocol
from hyperacuity.boundary.tallies import BoundaryTally
from hyperacuity.cards import About, Card, Made, digest_of, fingerprint, parsed, read_card, shipped, write_card, written
from hyperacuity.errors import InputError, UsageError

CARD = fuzz_cards.boundary_card()
BYTES = written(CARD)


def test_a_card_comes_back_as_it_was(tmp_path):
    write_card(CARD, tmp_path / "mine.card")
    found = read_card(tmp_path / "mine.card")
    assert (found.system, found.about, found.made, found.expected) == ("mine", CARD.about, CARD.made, 3)
    assert found.tallies == CARD.tallies
    assert found.truths == CARD.truths
    assert found.signature == CARD.signature
    assert written(found) == BYTES
    assert found.digest == BYTES.split(b"\n")[-2][:64].decode()
    assert [path.name for path in tmp_path.iterdir()] == ["mine.card"]


def test_the_format_is_what_the_documentation_says():
    first, *lines, last, end = BYTES.decode().split("\n")
    assert first == "hyperacuity card 1"
    assert end == ""
    for line in lines:
        checksum, text = line[:16], line[17:]
        assert checksum == hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
        json.loads(text)
    body = "".join(f"{line}\n" for line in (first, *lines))
    assert last == hashlib.blake2b(body.encode(), digest_size=32).hexdigest() + "  end"
    head, *images = (json.loads(line[17:]) for line in lines)
    assert head["system"] == "mine"
    assert head["signature"] == "boundary|tol:0.0075diag|nms:none|thin:guo-hall|thr:5|precision:any|v:1"
    assert [one["image"] for one in images] == ["100007", "a b"]


def test_any_changed_byte_is_found_and_its_line_named():
    ends = [n for n, byte in enumerate(BYTES) if byte == 10]
    for at in range(len(BYTES)):
        damaged = BYTES[:at] + bytes([BYTES[at] ^ 1 << at % 8]) + BYTES[at + 1 :]
        with pytest.raises(InputError) as caught:
            parsed(damaged, "mine.card")
        line = 1 + sum(end < at for end in ends)
        said = str(caught.value)
        assert said.startswith("mine.card: "), said
        assert re.search(r"line \d|first line|at its end|digest at the end", said), said
        if 1 < line < 5 and at not in ends and "\n" not in chr(BYTES[at] ^ 1 << at % 8):
            assert f"line {line}" in said, (at, said)


def test_a_damaged_line_of_an_image_names_the_image():
    with pytest.raises(InputError, match=r"^a\.card: line 3 \(image 100007\) is damaged: its checksum does not match$"):
        parsed(BYTES.replace(b'"tally":"', b'"tally":"x', 1), "a.card")


@pytest.mark.parametrize("cut", [0, 1, 20, 200, len(BYTES) - 70, len(BYTES) - 1])
def test_a_cut_card_is_refused(cut):
    with pytest.raises(InputError, match=r"^a\.card: "):
        parsed(BYTES[:cut], "a.card")


def test_lines_that_are_moved_added_or_left_out_are_found():
    first, head, one, two, last, end = BYTES.split(b"\n")
    for lines in (
        [first, head, two, one, last, end],
        [first, head, one, last, end],
        [first, head, one, two, two, last, end],
    ):
        with pytest.raises(InputError, match="a line was added, moved or changed"):
            parsed(b"\n".join(lines))


def changed(**head):
    """The card with other words in its first line of JSON, and all sums right."""
    lines = [json.loads(line[17:]) for line in BYTES.split(b"\n")[1:-2]]
    return fuzz_cards.sealed([json.dumps(one).encode() for one in (lines[0] | head, *lines[1:])])


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ({"images": 3}, "has 2 images, but says 3"),
        ({"expected": 1}, "expected 1 images but has 2"),
        ({"data": "0" * 16}, "not those of the data set that it names"),
        ({"signature": "boundary|thr:9|v:1"}, "says boundary|thr:9|v:1, but its protocol is boundary|tol:0.0075diag"),
        ({"signature": "chess|v:1"}, "there is no benchmark 'chess'"),
        ({"protocol": {"tolerance": "x"}}, "written by another version"),
        ({"protocol": {"tolerance": {}}}, "say nothing that this version can read"),
        ({"system": ""}, "system is not a text"),
        ({"system": "a\x1b[2J"}, r"the name 'a\x1b[2J' is empty or has marks that do not print"),
        ({"system": "\u202egnp"}, "marks that do not print"),
        (
            {"about": {"link": "javascript:alert(1)"}},
            "link is 'javascript:alert(1)', expected one that starts with https://",
        ),
        ({"about": {"title": "a\nb"}}, "title holds line ends"),
        ({"about": {"year": "2011"}}, "year is '2011', expected a year"),
        ({"about": {"authors": "Ann"}}, "authors is not a list of names"),
        ({"about": 5}, "say nothing that this version can read"),
        ({"made": {"command": "x" * 20_000}}, "command is not a text of at most 10000 characters"),
    ],
)
def test_a_well_formed_card_that_makes_no_sense_is_refused_in_a_sentence(head, said):
    with pytest.raises(InputError) as caught:
        parsed(changed(**head), "a.card")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_parts_of_later_versions_are_left_out():
    assert parsed(changed(later=1, about={"title": "T", "mood": "good"})).about == About("T")


def tally(**arrays):
    counts = {name: np.ones(5, np.int64) for name in BoundaryTally.names()} | arrays
    return BoundaryTally(**counts, protocol=Protocol(thresholds=5))


@pytest.mark.parametrize(
    "arrays", [{"detected": np.full(5, -1)}, {"truth": np.full(5, 2**60)}, {"truth": np.ones(300_000, np.int64)}]
)
def test_counts_that_nothing_can_have_are_refused(arrays):
    with pytest.raises(UsageError, match=r"^the tally of a has "):
        Card("mine", {"a": tally(**arrays)}, {"a": (digest_of(1),)})


@pytest.mark.parametrize("shape", [(), (4,), (5, 2), (0,)])
def test_tallies_of_other_shapes_give_a_sentence_not_a_score(shape):
    card = Card(
        "mine", {"a": tally(), "b": tally(truth=np.ones(shape, np.int64))}, dict.fromkeys("ab", (digest_of(1),))
    )
    with pytest.raises(InputError, match=r"^the tallies of mine cannot be scored"):
        card.check()
    with pytest.raises(InputError, match=r"^truth(_matched)? has shape \("):
        written(card)


def test_a_protocol_that_does_not_print_is_refused():
    told = Protocol(thresholds=5).read_as(truth="\x1b[2J")
    one = BoundaryTally(*tally().arrays.values(), protocol=told)
    with pytest.raises(UsageError, match=r"^its protocol names '\\x1b\[2J', which has marks that do not print$"):
        Card("mine", {"a": one}, {"a": (digest_of(1),)})


def test_a_card_needs_tallies_of_one_protocol_each_with_its_truth():
    one, other = tally(), BoundaryTally(*tally().arrays.values(), protocol=Protocol(thresholds=5, thin=False))
    with pytest.raises(UsageError, match="no tally to put on a card"):
        Card("mine", {}, {})
    with pytest.raises(UsageError, match="b has a tally or a truth, expected both"):
        Card("mine", {"a": one, "b": one}, {"a": ("",)})
    with pytest.raises(UsageError, match="thin is guo-hall in one and none in the other"):
        Card("mine", {"a": one, "b": other}, dict.fromkeys("ab", ("",)))


def test_digests_tell_values_apart_and_nothing_else():
    mask = np.eye(4, dtype=bool)
    same = [mask, np.asfortranarray(mask), mask[::1]]
    assert len({digest_of(one) for one in same}) == 1
    assert digest_of(np.int16([1, 2])) == digest_of(np.int64([1, 2])) == digest_of(np.array([1, 2], ">u2"))
    apart = [
        mask,
        mask.astype(int),
        mask[:3],
        mask.ravel(),
        [mask],
        {"a": mask},
        np.array([0.5]),
        "a",
        None,
        ["a", "b"],
        ["ab"],
    ]
    assert len({digest_of(one) for one in apart}) == len(apart)
    assert digest_of(np.array([0.0, np.nan])) == digest_of(np.array([-0.0, -np.nan]))
    with pytest.raises(TypeError):
        digest_of(object())


def test_a_fingerprint_is_of_the_images_and_their_truths():
    one = {"a": ("1", "2"), "b": ("3",)}
    assert fingerprint(one) == fingerprint(dict(reversed(one.items())))
    others = [
        {"a": ("1", "2")},
        {"a": ("2", "1"), "b": ("3",)},
        {"a": ("1",), "b": ("2", "3")},
        {"c": ("1", "2"), "b": ("3",)},
    ]
    assert len({fingerprint(one), *map(fingerprint, others)}) == 5


def test_the_cards_of_the_package_are_sound():
    for path in shipped():
        read_card(path).check()


def test_made_and_about_are_checked_where_they_are_made():
    assert Made("bsds500 test").data == "bsds500 test"
    with pytest.raises(UsageError, match="command holds line ends"):
        Made(command="a\nb")
    assert About(description="two\nlines").description == "two\nlines"

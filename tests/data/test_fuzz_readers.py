"""Valid files of every format, changed at random: each is read, or refused in one line that names it; nothing else happens.

``fuzz/`` holds the same targets for Atheris, which is guided by what the readers do and runs for as long as one likes.
"""

from __future__ import annotations

import pytest
from fuzz_targets import SEEDS, target
from hypothesis import given, settings
from hypothesis import strategies as st

IN_THIS_PROCESS = [name for name in SEEDS if name != "mat73-here"]
EXTREMES = [0, 1, 2, 4, 255, 2**15 - 1, 2**16 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**64 - 1]
PLACE = st.floats(0, 1, exclude_max=True)

CHANGE = st.one_of(
    st.tuples(st.just("cut"), PLACE, PLACE),
    st.tuples(st.just("flip"), PLACE, st.integers(0, 7)),
    st.tuples(st.just("set"), PLACE, st.integers(0, 255)),
    st.tuples(
        st.just("number"),
        PLACE,
        st.tuples(st.sampled_from(EXTREMES), st.sampled_from([1, 2, 4, 8]), st.sampled_from(["little", "big"])),
    ),
    st.tuples(st.just("digits"), PLACE, st.sampled_from([b"0", b"-1", b"999999999", b"1e308", b"nan", b"9" * 40])),
    st.tuples(st.just("repeat"), PLACE, st.integers(1, 64)),
    st.tuples(st.just("splice"), PLACE, PLACE),
)


def changed(data: bytes, other: bytes, changes: list) -> bytes:
    """The file after some changes; a splice goes on with the end of another file."""
    for what, where, how in changes:
        at = int(where * len(data))
        if what == "cut":
            data = data[:at] + data[at + int(how * 40) :] if how < 0.5 else data[:at]
        elif what == "flip" and data:
            data = data[:at] + bytes([data[at] ^ 1 << how]) + data[at + 1 :]
        elif what == "set":
            data = data[:at] + bytes([how]) + data[at + 1 :]
        elif what == "number":
            value, width, order = how
            data = data[:at] + (value % (1 << 8 * width)).to_bytes(width, order) + data[at + width :]
        elif what == "digits":
            data = data[:at] + how + data[at + 1 :]
        elif what == "repeat":
            data = data[:at] + data[at : at + how] * 3 + data[at + how :]
        elif what == "splice":
            data = data[:at] + other[int(how * len(other)) :]
    return data


@pytest.mark.parametrize("name", IN_THIS_PROCESS)
def test_the_seeds_are_what_they_say(name):
    run = target(name)
    for seed in SEEDS[name]:
        run(seed)


@pytest.mark.parametrize("name", IN_THIS_PROCESS)
def test_a_changed_file_is_read_or_refused_and_nothing_else_happens(name):
    run, files = target(name), SEEDS[name]

    @given(st.sampled_from(files), st.sampled_from(files), st.lists(CHANGE, min_size=1, max_size=6))
    @settings(max_examples=100, deadline=None)
    def fuzz(file, other, changes):
        run(changed(file, other, changes))

    fuzz()

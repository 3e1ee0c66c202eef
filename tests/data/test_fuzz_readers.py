"""Valid files of every format, changed at random: each is read, or refused in one line that names it; nothing else happens.

``fuzz/`` holds the same targets for Atheris, which is guided by what the readers do and runs for as long as one likes, and
``fuzz/many.py``, which makes the same changes by the million.
"""

from __future__ import annotations

import pytest
from fuzz_changes import DIGITS, EXTREMES, WIDTHS, changed
from fuzz_targets import SEEDS, target
from hypothesis import given, settings
from hypothesis import strategies as st

IN_THIS_PROCESS = [name for name in SEEDS if name != "mat73-here"]
PLACE = st.floats(0, 1, exclude_max=True)

CHANGE = st.one_of(
    st.tuples(st.just("cut"), PLACE, PLACE),
    st.tuples(st.just("flip"), PLACE, st.integers(0, 7)),
    st.tuples(st.just("set"), PLACE, st.integers(0, 255)),
    st.tuples(
        st.just("number"),
        PLACE,
        st.tuples(st.sampled_from(EXTREMES), st.sampled_from(WIDTHS), st.sampled_from(["little", "big"])),
    ),
    st.tuples(st.just("digits"), PLACE, st.sampled_from(DIGITS)),
    st.tuples(st.just("repeat"), PLACE, st.integers(1, 64)),
    st.tuples(st.just("splice"), PLACE, PLACE),
)


@pytest.mark.parametrize("name", IN_THIS_PROCESS)
def test_the_seeds_are_what_they_say(name):
    run = target(name)
    for seed in SEEDS[name]:
        run(seed)


@pytest.mark.parametrize("name", IN_THIS_PROCESS)
def test_a_changed_file_is_read_or_refused_and_nothing_else_happens(name, many):
    run, files = target(name), SEEDS[name]

    @given(st.sampled_from(files), st.sampled_from(files), st.lists(CHANGE, min_size=1, max_size=6))
    @settings(max_examples=many(40, 100), deadline=None)
    def fuzz(file, other, changes):
        run(changed(file, other, changes))

    fuzz()

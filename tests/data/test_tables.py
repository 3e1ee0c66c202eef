"""CSV tables of systems by measures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from hyperacuity.data import NamedTable, read_table, write_table
from hyperacuity.errors import InputError

ANY = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1)
AWKWARD = st.text(",;\"'|#1-", min_size=1)
NAMES = (ANY | AWKWARD).filter(lambda name: name[0] != "#")
NUMBERS = st.lists(st.floats(allow_infinity=False), min_size=12, max_size=12)


@given(
    st.lists(NAMES, min_size=1, max_size=4, unique=True), st.lists(NAMES, min_size=1, max_size=3, unique=True), NUMBERS
)
@example([";;"], [";;"], [0.0])
@example(["0"], [';;"'], [0.0])
@example(["a;1;2"], ["b;c"], [math.nan])
@settings(max_examples=60, deadline=None)
def test_a_table_gives_back_what_was_written(scratch, names, columns, numbers):
    values = np.array(numbers[: len(names) * len(columns)]).reshape(len(names), len(columns))
    write_table(scratch / "t.csv", NamedTable(tuple(names), tuple(columns), values))
    back = read_table(scratch / "t.csv")
    assert (back.names, back.columns) == (tuple(names), tuple(columns))
    assert np.array_equal(back.values, values, equal_nan=True)


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_comments_empty_lines_and_other_separators_are_understood(put, separator):
    text = '\ufeff# who, what\n\nname,bad 1,bad 2\n # more\nGC+DP,1.5, 2\n"A, B",-,nan\n'.replace(
        "name,bad 1,bad 2", f"name{separator}bad 1{separator}bad 2"
    )
    text = text.replace("GC+DP,1.5, 2", f"GC+DP{separator}1.5{separator} 2").replace(
        '",-,nan', f'"{separator}-{separator}nan'
    )
    table = read_table(put(text.encode()))
    assert table.names == ("GC+DP", "A, B")
    assert table.column("bad 2")[0] == 2
    assert np.isnan(table.values[1]).all()
    with pytest.raises(InputError, match="no column bad 3, expected one of bad 1, bad 2"):
        table.column("bad 3")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (b"# only comments\n", "holds 0 lines besides comments"),
        (b"name,a\n", "holds 1 lines besides comments"),
        (b"name\nx\n", "has one column"),
        (b"name,a\nx,1,2\n", "row x has 3 cells, expected 2"),
        (b"name,a\nx,one\n", "'one' in row x, column a, is not a number"),
        (b"name,a\nx,1\nx,2\n", "the row x appears twice"),
        (b"name,a,a\nx,1,2\n", "the column a appears twice"),
        (b"name,a\nx,\xff\n", "not UTF-8 text"),
        (b'name,a\n"x,1\n', r"has 1 cells|no CSV table"),
    ],
)
def test_a_bad_table_is_refused_with_what_was_found(put, text, complaint):
    with pytest.raises(InputError, match=complaint):
        read_table(put(text))

"""What the studies share: order is kept, a bad item fails alone, a table is written whole."""

from __future__ import annotations

import csv
import time

import pytest

from hyperacuity.errors import InputError, UsageError
from hyperacuity.outputs import LIST, output_folder
from hyperacuity.run.many import attempt_each, each, write_csv


def test_results_stand_in_the_order_of_the_items_whichever_ends_first():
    def work(delay):
        time.sleep(delay)
        return delay

    delays = [0.05, 0.0, 0.02]
    assert list(each(work, delays, 3, "test")) == delays


def test_bad_data_do_not_stop_the_other_items_but_a_fault_of_the_program_does():
    def work(number):
        if number == 2:
            raise InputError("two is bad")
        return 10 // number

    found = list(attempt_each(work, [1, 2, 5], 2, "test"))
    assert [item for item, _ in found] == [1, 2, 5]
    assert found[0][1] == 10
    assert isinstance(found[1][1], InputError)
    assert str(found[1][1]) == "two is bad"
    assert found[2][1] == 2
    with pytest.raises(ZeroDivisionError):
        list(attempt_each(work, [1, 0], 2, "test"))


def test_a_table_reads_back_with_commas_quotes_and_missing_numbers(tmp_path):
    records = [{"name": 'a, "b"', "value": 0.1 + 0.2}, {"name": "c", "value": None}]
    with write_csv(tmp_path / "t.csv", records).open(encoding="utf-8", newline="") as file:
        assert list(csv.reader(file)) == [["name", "value"], ['a, "b"', "0.30000000000000004"], ["c", ""]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [LIST, "t.csv"], "nothing half written is left"


def test_a_folder_that_cannot_be_is_a_wrong_call(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot write to"):
        output_folder(tmp_path / "file")

"""The paper's tables 1 to 4 against made tables of the server, of which it is known what must come out."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from hyperacuity.errors import InputError
from hyperacuity_papers.cabezas2011.server_table import PAPER_TABLES, names_of, plain, read_server_table

IMAGES = ("tsukuba", "venus", "teddy", "cones")
REGIONS = ("nonocc", "all", "disc")
COLUMNS = [f"{image}_{region}" for image in IMAGES for region in REGIONS]


def made_table():
    """Errors that give the paper's sets with concatenated vectors, but not with means.

    Members of Table 3 are each better on Tsukuba the worse they are on Venus, where they lose more; those of Table 2 alone
    are beaten on nonocc and disc, and have the best values of all; local systems are like the first, but much worse.
    """
    table = {}
    for i, name in enumerate(names_of("Table 3")):
        row = dict.fromkeys(COLUMNS, 30.0)
        table[name] = row | {"tsukuba_nonocc": 5.0 + i, "venus_nonocc": 29.0 - 0.5 * i}
    for i, name in enumerate(sorted(set(names_of("Table 2")) - set(names_of("Table 3")))):
        row = dict.fromkeys(COLUMNS, 31.0)
        table[name] = row | {"tsukuba_all": 10.0 + i, "venus_all": 20.0 - i}
    for i, name in enumerate(names_of("Table 4")):
        row = dict.fromkeys(COLUMNS, 60.0)
        table[name] = row | {"tsukuba_disc": 40.0 + i, "venus_disc": 50.0 - 0.5 * i}
    for name in ("CostFilter", "SAD", "DP"):
        table[name] = dict.fromkeys(COLUMNS, 90.0)
    return table


def written(path, table, *, local=None):
    extra = [] if local is None else ["local"]
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["algorithm", *COLUMNS, *extra])
        for name, row in table.items():
            writer.writerow([name, *(row[column] for column in COLUMNS), *([int(name in local)] if extra else [])])
    return path


def test_the_papers_tables_have_the_sizes_that_its_text_tells():
    assert [len(PAPER_TABLES[f"Table {n}"]) for n in (1, 2, 3, 4)] == [15, 16, 13, 7]
    assert "CostFilter" not in names_of("Table 2")
    assert set(names_of("Table 2")) - set(names_of("Table 1")) == {"P-LinearS", "PUTV3"}


def test_names_are_compared_without_references_and_dashes():
    assert plain("CostAggr+occ [39]") == plain("costaggr + occ") != plain("CostAggr")


def test_a_table_that_has_it_all_reproduces_the_paper_and_decides_between_the_readings(tmp_path):
    found = read_server_table(written(tmp_path / "server.csv", made_table()))
    for name in ("Table 2", "Table 3", "Table 4"):
        one = found.membership(name, "concat")
        assert one.status == "reproduced", one
        assert set(one.found) == set(names_of(name))
        assert found.membership(name, "mean").status == "contradicted"
    assert found.verdict().startswith("Concatenated vectors reproduce Table 2 and Table 3 and Table 4; mean vectors")
    assert found.verdict().endswith("the paper has concatenated vectors.")


def test_the_same_errors_on_every_image_do_not_decide(tmp_path):
    table = {
        name: {f"{image}_{region}": row[f"tsukuba_{region}"] if region != "disc" else 70 - row["tsukuba_nonocc"]
               for image in IMAGES for region in REGIONS}
        for name, row in made_table().items()
        if name in names_of("Table 3")
    }  # fmt: skip
    found = read_server_table(written(tmp_path / "server.csv", table))
    assert {one.status for one in found.memberships if one.table == "Table 3"} == {"reproduced"}
    assert "both ways to make vectors agree" in found.verdict()


def test_what_is_optimal_among_all_must_be_optimal_among_some(tmp_path):
    """The implication itself, on random parts of a random table, and what is said when it is broken."""
    random = np.random.default_rng(5)
    whole = random.integers(0, 30, (40, 6))
    dominated = [any((b <= a).all() and (b < a).any() for b in whole) for a in whole]
    for _ in range(50):
        part = random.choice(40, 12, replace=False)
        within = [any((whole[b] <= whole[a]).all() and (whole[b] < whole[a]).any() for b in part) for a in part]
        assert all(dominated[a] for a, lost in zip(part, within, strict=True) if lost)
    table = made_table()
    some = {name: table[name] for name in ("ADCensus", "RDP", "CostFilter", "WarpMat")}
    found = read_server_table(written(tmp_path / "some.csv", some))
    assert found.membership("Table 2").status == "consistent"
    assert found.membership("Table 2").absent
    some["RDP"] = dict.fromkeys(COLUMNS, 95.0)
    found = read_server_table(written(tmp_path / "broken.csv", some))
    assert found.membership("Table 2").lost == ("RDP",)
    assert "these are not the errors that the paper had" in found.verdict()


def test_the_user_says_which_systems_are_local(tmp_path):
    table = made_table()
    found = read_server_table(written(tmp_path / "server.csv", table, local={"SAD", "DP"}))
    assert found.scenarios[-1].concat.systems == ("SAD", "DP")
    assert found.membership("Table 4").lost == names_of("Table 4")


def test_the_ten_public_rows_have_none_of_the_papers_systems(shared_data):
    found = read_server_table(shared_data / "middlebury-v2" / "server-table-10.csv")
    assert {one.status for one in found.memberships} == {"nothing to check"}
    assert "cannot tell how the paper made its vectors" in found.verdict()


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda text: text.replace("_nonocc", "_x"), "has no column such as tsukuba_nonocc"),
        (lambda text: text.replace("venus_disc", "venus_dics"), "has no column venus_disc"),
        (lambda text: text.replace("95.0", "950", 1), "of SAD is 950, expected a percentage from 0 to 100"),
        (lambda text: text.replace("95.0", "", 1), "of SAD is nan, expected a percentage"),
    ],
)
def test_bad_tables_are_refused_in_a_sentence(tmp_path, change, sentence):
    path = written(tmp_path / "server.csv", {"SAD": dict.fromkeys(COLUMNS, 95.0), "DP": dict.fromkeys(COLUMNS, 9.0)})
    path.write_text(change(path.read_text()))
    with pytest.raises(InputError, match=sentence):
        read_server_table(path)

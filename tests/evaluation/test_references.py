"""Whom to cite: every benchmark and named protocol has references, every entry is whole and used."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import hyperacuity as ha
from hyperacuity import tasks
from hyperacuity.cli import app
from hyperacuity.edges.names import FAMILIES, PAPER, measure
from hyperacuity.edges.task import MEASURES
from hyperacuity.errors import UsageError
from hyperacuity.evaluation import references
from hyperacuity.evaluation.references import bibtex, cite, keys_of

ROOT = Path(__file__).parents[2]
NAMED = [(name, protocol) for name in tasks.BUILT_IN for protocol in tasks.task(name).protocols]


def keys(text: str) -> list[str]:
    return re.findall(r"^@\w+\{(\w+),$", text, re.M)


@pytest.mark.parametrize("name", tasks.BUILT_IN)
def test_every_benchmark_has_references(name):
    assert keys(cite(name))


def test_references_are_of_protocols_that_there_are():
    for one in map(tasks.task, tasks.BUILT_IN):
        assert one.protocol_references.keys() <= one.protocols.keys()


@pytest.mark.parametrize(("name", "protocol"), NAMED)
def test_every_named_protocol_has_those_of_its_benchmark_and_its_own(name, protocol):
    found = keys(cite(f"{name} {protocol}"))
    assert set(keys(cite(name))) <= set(found)
    assert set(tasks.task(name).protocol_references.get(protocol, ())) <= set(found)


def test_papers_that_define_a_benchmark_are_cited_for_it():
    assert keys(cite("boundary")) == ["martin2004", "arbelaez2011"]
    assert {"scharstein2002", "cabezas2011"} == set(keys(cite("disparity")))
    assert {"palou2014", "maire2016"} == set(keys(cite("ordering")))
    assert "hou2013" in keys(cite("audit"))
    assert "mely2016" in keys(cite("multicue-edge"))
    assert {"perazzi2016", "cheng2021", "ponttuset2017"} == set(keys(cite("davis2017")))
    assert "dollar2015" in keys(cite("biped")), "maps are suppressed first"


def test_edges_cite_the_origin_of_the_measures_used_and_no_other():
    assert set(MEASURES) == set(FAMILIES)
    protocol = tasks.task("edges").protocol(names=("psi", "baddeley(k=2)", "hausdorff(percent=5)"))
    found = set(keys_of(protocol))
    expected = {"magnier2017", "abdulrahman2017normalized", "baddeley1992", "huttenlocher1993"}
    assert found == {"abdulrahman2017", *expected}
    every = {key for name in PAPER for key in MEASURES[measure(name).family]}
    assert every <= set(keys_of("edges"))


def test_every_entry_is_whole_and_used():
    entries = references._entries()
    used = {key for name in tasks.BUILT_IN for key in keys_of(name)}
    used |= {key for name in tasks.BUILT_IN for of in tasks.task(name).protocol_references.values() for key in of}
    used |= {key for of in MEASURES.values() for key in of}
    assert used | {"dollar2015", "efron1993", "holm1979"} == set(entries)
    for key, entry in entries.items():
        fields = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry, re.M))
        assert {"author", "title", "year"} <= set(fields), key
        assert key.startswith(re.sub("[^a-z]", "", fields["author"].split(",")[0].lower().replace("\\'", ""))[:4]), key
        assert fields["year"] in key
        assert re.sub(r"\\[{}]", "", entry).count("{") == entry.count("}")
        home = {"article": "journal", "inproceedings": "booktitle"}.get(entry[1 : entry.index("{")])
        assert home is None or home in fields, key


def test_a_result_adds_the_statistics_it_shows():
    line = np.eye(16, dtype=bool)
    maps = {name: [line * np.float32(0.5)] for name in "abc"}
    assert keys(cite(ha.evaluate("boundary", maps, [line])))[2:] == ["efron1993", "holm1979"]
    alone = ha.evaluate("boundary", [line * np.float32(0.5)], [line], precision="mean")
    assert keys(ha.cite(alone)) == ["martin2004", "arbelaez2011", "hou2013", "efron1993"]


def test_what_nobody_knows_is_refused():
    with pytest.raises(UsageError, match="there is no benchmark or protocol 'chess'"):
        cite("chess")


def test_the_command_prints_each_entry_once(tmp_path):
    done = CliRunner().invoke(app, ["cite", "boundary", "regions", "audit"])
    assert done.exit_code == 0
    assert sorted(keys(done.stdout)) == sorted(
        {"martin2004", "arbelaez2011", "unnikrishnan2007", "meila2005", "hou2013"}
    )
    assert done.stdout == bibtex(keys(done.stdout))


@pytest.mark.skipif(not (ROOT / "CITATION.cff").is_file(), reason="needs the project's root")
def test_the_citation_file_is_in_step():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    told = dict(re.findall(r'^([a-z-]+): "?([^"\n]*)"?$', text, re.M))
    assert told["cff-version"] == "1.2.0"
    assert told["version"] == ha.__version__
    assert {"message", "title", "license", "type"} <= set(told)
    titles = re.findall(r'^    title: "(.*)"$', text, re.M)
    five = bibtex(["palou2014", "maire2016", "cabezas2011", "hou2013", "abdulrahman2017"])
    assert titles == [re.sub("[{}]", "", title) for title in re.findall(r"^  title = \{(.*)\},$", five, re.M)]

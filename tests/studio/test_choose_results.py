"""The forced choice as the experimenter meets it: invitations and results."""

from __future__ import annotations

import asyncio
import csv
import io
import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperacuity.audit.risk import read_answers, risk
from hyperacuity.audit.trials import read_trials
from hyperacuity.errors import UsageError
from hyperacuity.studio.choose.page import ChoosePage
from hyperacuity.studio.choose.plan import SCHEMA, Design
from hyperacuity.studio.choose.trials import load_study
from hyperacuity.studio.state import State

from .choosing import rows, walk


class TestInvitations:
    COUNT = 12

    def answered_meanwhile(self, experiment, run_async, monkeypatch, **design):
        """The rows that each change stored, and how many invitations there were when an answer sent among them was told."""
        folder, experimenter, client, invite = experiment(24, **design)
        httpx = pytest.importorskip("httpx", reason="needs the package httpx")
        (link,) = invite()
        sizes, submit = [], State._submit

        def measured(state, change):
            def run(file):
                before = file.total_changes
                value = change(file)
                sizes.append(file.total_changes - before)
                return value

            return submit(state, run)

        monkeypatch.setattr(State, "_submit", measured)

        async def at_once():
            transport = httpx.ASGITransport(client.app)
            cookies = dict(experimenter.cookies)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", cookies=cookies) as one:
                inviting = asyncio.create_task(one.post("/invitations", json={"count": self.COUNT}))
                body = {"position": 0, "side": "left", "seconds": 1.0, "away": False}
                assert (await one.post(f"{link}/answer", json=body)).status_code == 200
                ((then,),) = rows(folder, "SELECT count(*) FROM choose_people")
                assert len((await inviting).json()["links"]) == self.COUNT
                return then

        return sizes, run_async(at_once())

    @pytest.mark.parametrize("design", [{}, {"per_person": 12}])
    def test_answers_do_not_wait_for_many_of_them(self, experiment, run_async, monkeypatch, design):
        sizes, then = self.answered_meanwhile(experiment, run_async, monkeypatch, **design)
        plan = 1 + 3 + design.get("per_person", 24) + design.get("per_person", 24) // 20
        assert sorted(sizes) == [1] + [plan] * self.COUNT, "a transaction holds one plan, or the answer"
        assert then < 1 + self.COUNT, "the answer was told before all of them were made"

    def test_two_servers_that_invite_at_once_make_whole_plans(self, experiment):
        folder, _, _, invite = experiment(6)
        again = experiment(folder=folder)[3]
        with ThreadPoolExecutor(2) as pool:
            links = [link for made in pool.map(lambda one: one(5), (invite, again)) for link in made]
        assert len(set(links)) == 10
        assert rows(folder, "SELECT DISTINCT count(*) FROM choose_plan GROUP BY person") == [(9,)]
        assert rows(folder, "SELECT count(*), max(id) FROM choose_people") == [(10, 10)]


class TestResults:
    def test_the_risk_is_that_of_the_exported_answers(self, experiment, tmp_path):
        folder, experimenter, client, invite = experiment(24)
        assert experimenter.get("/results").json()["modes"] == []
        for number, link in enumerate(invite(3)):
            walk(client, link, pick=lambda q, n=number: ("left", "right")[(q["position"] * (n + 3)) % 5 < 2])
        table = tmp_path / "answers.csv"
        table.write_text(experimenter.get("/answers.csv").text, encoding="utf-8")
        answers = read_answers(table)
        assert len(answers) == 72
        expected = risk(read_trials(folder / "trials"), answers)
        found = experimenter.get("/results").json()
        assert found["answers"] == 72
        assert found["subjects"] == 3
        for mode in found["modes"]:
            assert mode["alpha"] == pytest.approx(expected.alpha[mode["mode"]])
            for row in mode["rows"]:
                one = expected.risks[mode["mode"]][row["name"]]
                assert (row["risk"], row["trials"], row["ties"]) == (one.risk, one.trials, one.ties)
                assert (row["low"], row["high"]) == one.interval

    def test_choosing_every_false_alarm_is_a_risk_of_one(self, experiment):
        folder, experimenter, client, invite = experiment(24)
        trials = {trial.trial: trial for trial in read_trials(folder / "trials")}
        (link,) = invite()
        names = [name for (name,) in rows(folder, "SELECT question FROM choose_plan ORDER BY position")]

        def alarm(question):
            trial = trials.get(names[question["position"]])
            if trial is None:
                return "left"
            pixels = getattr(trial, trial.false_alarm).pixels
            turned = sorted([r, 199 - c if question["mirrored"] else c] for r, c in pixels)
            return "left" if question["left"]["pixels"] == turned else "right"

        walk(client, link, pick=alarm)
        for mode in experimenter.get("/results").json()["modes"]:
            assert [row["risk"] for row in mode["rows"]] == [1.0, 1.0]
            assert mode["rows"][0]["high"] == 1.0
            assert mode["rows"][0]["low"] == pytest.approx(0.6097, abs=1e-4)  # Wilson, 6 of 6

    def test_those_who_fail_checks_can_be_left_out(self, experiment):
        folder, experimenter, client, invite = experiment(10, check_every=5)
        study = load_study(folder / "trials", folder / "photos")

        def strongest(question):
            left = {tuple(pixel) for pixel in question["left"]["pixels"]}
            edge = range(135, 150)
            columns = {199 - c if question["mirrored"] else c for _, c in left}
            return "left" if columns & set(edge) else "right"

        attentive, other = invite(2)
        walk(client, attentive, pick=strongest)
        walk(client, other, pick=lambda q: {"left": "right", "right": "left"}[strongest(q)])
        assert study.obvious
        people = experimenter.get("/results").json()["people"]
        assert [(p["right"], p["checks"]) for p in people] == [(2, 2), (0, 2)]
        assert experimenter.get("/results").json()["subjects"] == 2
        assert experimenter.get("/results?attentive=0.75").json()["subjects"] == 1
        table = list(csv.DictReader(io.StringIO(experimenter.get("/everything.csv").text)))
        checks = [(row["subject"], row["passed"]) for row in table if row["kind"] == "check"]
        assert checks == [("P01", "yes")] * 2 + [("P02", "no")] * 2
        assert {row["kind"] for row in table} == {"practice", "trial", "check"}

    @pytest.mark.parametrize("share", ["2", "-1", "nan", "x", "", "1e999"])
    def test_shares_that_are_none_are_refused(self, experiment, share):
        assert experiment(2)[1].get(f"/results?attentive={share}").status_code == 400

    def test_invitations_have_a_limit(self, experiment, monkeypatch):
        from hyperacuity.studio.choose import page as choose

        monkeypatch.setattr(choose, "MAX_INVITATIONS", 3)
        _, experimenter, _, invite = experiment(2)
        invite(2)
        assert experimenter.post("/invitations", json={"count": 2}).status_code == 409
        assert experimenter.post("/invitations", json={"count": 0}).status_code == 400

    def test_answers_to_other_trials_are_not_mixed_in(self, experiment, make_trials, tmp_path):
        folder, *_ = experiment(4)
        other = make_trials(4, flipped=True, folder=tmp_path / "other")
        study = load_study(other / "trials", other / "photos")
        with (
            State(folder / "trials" / "studio.sqlite", [SCHEMA]) as state,
            pytest.raises(UsageError, match="other trials"),
        ):
            ChoosePage(study, state, Design())


values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8), st.lists(st.integers(), max_size=2)
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_no_request_breaks_the_server(experiment, data):
    if not hasattr(experiment, "made"):
        experiment.made = experiment(4)
        experiment.link = experiment.made[3]()[0]
    _, experimenter, client, _ = experiment.made
    from urllib.parse import quote

    token = data.draw(st.one_of(st.just(experiment.link.removeprefix("/take/")), st.text(max_size=8)))
    tail = data.draw(st.one_of(st.integers().map(str), st.text(max_size=8)))
    path = data.draw(
        st.sampled_from(
            [
                "/", "/results", f"/results?attentive={quote(tail)}", "/invitations", "/answers.csv", "/everything.csv",
                f"/take/{quote(token)}", f"/take/{quote(token)}/next", f"/take/{quote(token)}/picture/{quote(tail)}",
                f"/take/{quote(token)}/answer", f"/{quote(tail)}",
            ]
        )
    )  # fmt: skip
    method = data.draw(st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD"]))
    body = data.draw(
        st.one_of(
            st.binary(max_size=40),
            st.dictionaries(st.sampled_from(["position", "side", "seconds", "away", "count"]), values).map(json.dumps),
            st.fixed_dictionaries({"position": st.integers(0, 3), "side": st.sampled_from(["left", "right"]),
                                   "seconds": st.floats(0, 10), "away": st.booleans()}).map(json.dumps),
        )
    )  # fmt: skip
    one = data.draw(st.sampled_from([client, experimenter]))
    response = one.request(method, path, content=body, headers={"content-type": "application/json"})
    assert response.status_code < 500
    assert "Traceback" not in response.text

"""The forced choice as participants and experimenter meet it, without a browser."""

from __future__ import annotations

import asyncio
import csv
import dataclasses
import io
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hyperacuity.audit.risk import read_answers, risk
from hyperacuity.audit.trials import read_trials
from hyperacuity.errors import UsageError
from hyperacuity.studio.choose import plan as choose_plan
from hyperacuity.studio.choose.page import ChoosePage
from hyperacuity.studio.choose.plan import SCHEMA, Design, draw_plan
from hyperacuity.studio.choose.trials import load_study
from hyperacuity.studio.state import State

TRIALS = "SELECT question FROM choose_plan WHERE kind = 'trial' AND person = ?"
TOKEN = "the-experimenters-own-token"  # noqa: S105 (of a test)


@pytest.fixture(scope="module")
def studies():
    """What trials and photographs that are made anew for each test have been found to hold: always the same."""
    return {}


@pytest.fixture
def experiment(make_trials, client_of, studies):
    """``experiment(count, **design)``: (folder, experimenter's client, participants' client, a function that invites)."""
    states = []

    def study_of(folder, keep):
        return load_study(folder / "trials", folder / "photos", keep=keep)

    def new_study(count, keep):
        folder = make_trials(count)
        if (count, keep) not in studies:
            studies[count, keep] = study_of(folder, keep)
        known = studies[count, keep]
        photographs = {name: folder / "photos" / path.name for name, path in known.photographs.items()}
        return folder, dataclasses.replace(known, photographs=photographs)

    def make(count=24, *, break_every=50, folder=None, keep=1 << 20, **design):
        folder, study = (folder, study_of(folder, keep)) if folder else new_study(count, keep)
        state = State(folder / "trials" / "studio.sqlite", [SCHEMA])
        states.append(state)
        choose = ChoosePage(study, state, Design(**design), break_every=break_every)
        experimenter = client_of(choose.page, token=TOKEN)
        experimenter.get(f"/?token={TOKEN}")

        def invite(count=1):
            return experimenter.post("/invitations", json={"count": count}).json()["links"]

        return folder, experimenter, client_of(choose.page, token=TOKEN), invite

    yield make
    for state in states:
        state.close()


def reply(client, link, position, side="left", seconds=1.5, away=False):
    return client.post(f"{link}/answer", json={"position": position, "side": side, "seconds": seconds, "away": away})


def walk(client, link, pick=lambda question: "left", most=None):
    """Answer questions until they end; returns those that were asked."""
    asked = []
    now = client.get(f"{link}/next").json()
    while now["question"] is not None and (most is None or len(asked) < most):
        question = now["question"]
        asked.append(question)
        now = reply(client, link, question["position"], pick(question)).json()
    return asked


def rows(folder, query, *values):
    with closing(sqlite3.connect(folder / "trials" / "studio.sqlite")) as file:
        return file.execute(query, values).fetchall()


class TestPlans:
    def test_everyone_is_asked_every_trial_once_in_an_order_of_their_own(self, experiment):
        folder, _, client, invite = experiment(24, check_every=8)
        for link in invite(3):
            walk(client, link)
        orders = [[q for (q,) in rows(folder, TRIALS, p)] for p in (1, 2, 3)]
        assert [sorted(order) for order in orders] == [[f"{n:02d}" for n in range(1, 25)]] * 3
        assert len({tuple(order) for order in orders}) == 3
        answered = "SELECT person, count(*) FROM choose_answers GROUP BY person"
        assert rows(folder, answered) == [(1, 30), (2, 30), (3, 30)]  # 3 of practice, 24 trials, 3 checks

    def test_sides_are_drawn_for_each_person_and_recorded(self, experiment):
        folder, _, client, invite = experiment(24)
        for person, link in enumerate(invite(2), 1):
            recorded = rows(folder, "SELECT mirrored FROM choose_plan WHERE person = ?", person)
            assert [(int(question["mirrored"]),) for question in walk(client, link)] == recorded
        sides = [dict(rows(folder, "SELECT question, mirrored FROM choose_plan WHERE person = ?", p)) for p in (1, 2)]
        assert sides[0] != sides[1]
        for own in sides:
            assert 4 < sum(own.values()) < 23  # of 27; outside by chance once in 30 000 seeds

    def test_the_recorded_seed_gives_the_plan_again(self, experiment):
        folder, _, _, invite = experiment(12, seed=7)
        invite(2)
        study = load_study(folder / "trials", folder / "photos")
        for person, seed in rows(folder, "SELECT id, seed FROM choose_people"):
            base, number = map(int, seed.split())
            planned = rows(folder, "SELECT kind, question, mirrored FROM choose_plan WHERE person = ?", person)
            assert list(draw_plan(study, Design(base), number, {})) == planned

    def test_practice_comes_first_and_checks_are_strewn_about(self, experiment):
        folder, _, _, invite = experiment(20, check_every=5, practice=2)
        invite(8)
        positions = set()
        for person in range(1, 9):
            kinds = [k for (k,) in rows(folder, "SELECT kind FROM choose_plan WHERE person = ?", person)]
            assert kinds[:2] == ["practice"] * 2
            assert kinds.count("practice") == 2
            assert kinds.count("check") == 4
            positions.add(tuple(n for n, kind in enumerate(kinds) if kind == "check"))
        assert len(positions) > 1

    def test_fewer_trials_per_person_are_shared_out_evenly(self, experiment):
        folder, _, _, invite = experiment(12, per_person=4)
        invite(6)
        counts = rows(folder, "SELECT count(*) FROM choose_plan WHERE kind = 'trial' GROUP BY question")
        assert counts == [(2,)] * 12


class TestAnswers:
    def test_each_is_kept_with_all_that_belongs_to_it(self, experiment):
        folder, _, client, invite = experiment(4, practice=0)
        (link,) = invite()
        question = client.get(f"{link}/next").json()["question"]
        assert reply(client, link, question["position"], "right", 0.75, True).status_code == 200
        ((side, choice, seconds, away, name, mirrored),) = rows(
            folder,
            "SELECT side, choice, seconds, away, question, mirrored FROM choose_answers NATURAL JOIN choose_plan",
        )
        assert (side, seconds, away, bool(mirrored)) == ("right", 0.75, 1, question["mirrored"])
        chosen = getattr({t.trial: t for t in read_trials(folder / "trials")}[name], choice)
        turned = sorted([r, 199 - c if mirrored else c] for r, c in chosen.pixels)
        assert turned == question["right"]["pixels"]

    def test_the_same_one_twice_counts_once(self, experiment):
        folder, _, client, invite = experiment(6, practice=0)
        (link,) = invite()
        first = reply(client, link, 0, "left", 1.0)
        again = reply(client, link, 0, "left", 1.0)
        assert first.json() == again.json()
        other = reply(client, link, 0, "right", 2.0)  # another tab: the first answer stays
        assert other.json() == first.json()
        assert rows(folder, "SELECT position, side, seconds FROM choose_answers") == [(0, "left", 1.0)]

    def test_many_at_the_same_moment_count_once(self, experiment, run_async):
        folder, _, client, invite = experiment(6, practice=0)
        httpx = pytest.importorskip("httpx", reason="needs the package httpx")
        (link,) = invite()

        async def all_at_once():
            transport = httpx.ASGITransport(client.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as one:
                bodies = [
                    {"position": 0, "side": side, "seconds": 1.0, "away": False} for side in ("left", "right") * 10
                ]
                return await asyncio.gather(*(one.post(f"{link}/answer", json=body) for body in bodies))

        responses = run_async(all_at_once())
        assert {response.status_code for response in responses} == {200}
        assert {response.json()["question"]["position"] for response in responses} == {1}
        assert rows(folder, "SELECT position FROM choose_answers") == [(0,)]

    def test_questions_cannot_be_answered_before_they_are_asked(self, experiment):
        folder, _, client, invite = experiment(6)
        (link,) = invite()
        assert reply(client, link, 1).status_code == 409
        assert reply(client, link, 999).status_code == 404
        assert rows(folder, "SELECT * FROM choose_answers") == []

    @pytest.mark.parametrize(
        "change",
        [
            {"side": "up"},
            {"side": None},
            {"position": -1},
            {"position": 10**30},
            {"position": "0"},
            {"position": True},
            {"seconds": -1},
            {"seconds": 1e9},
            {"seconds": "1"},
            {"away": 1},
            {"away": None},
        ],
    )
    def test_what_is_no_answer_is_refused(self, experiment, change):
        folder, _, client, invite = experiment(4)
        (link,) = invite()
        body = {"position": 0, "side": "left", "seconds": 1.0, "away": False, **change}
        assert client.post(f"{link}/answer", json=body).status_code == 400
        assert rows(folder, "SELECT * FROM choose_answers") == []

    def test_someone_who_comes_back_goes_on_where_they_were(self, experiment):
        folder, _, client, invite = experiment(8)
        (link,) = invite()
        asked = walk(client, link, most=5)
        resumed = experiment(folder=folder)[2]  # another server on the same file
        rest = walk(resumed, link)
        assert [q["position"] for q in asked + rest] == list(range(11))
        assert resumed.get(f"{link}/next").json() == {"done": 8, "total": 8, "question": None}

    def test_practice_says_which_was_right_and_nothing_else_does(self, experiment):
        _, _, client, invite = experiment(10, check_every=5)
        (link,) = invite()
        told = []
        now = client.get(f"{link}/next").json()
        while now["question"] is not None:
            practice = now["question"]["practice"]
            now = reply(client, link, now["question"]["position"]).json()
            told.append((practice, "right" in now))
        assert told == [(True, True)] * 3 + [(False, False)] * 12

    def test_breaks_are_offered_but_not_at_the_ends(self, experiment):
        _, _, client, invite = experiment(9, break_every=3)
        (link,) = invite()
        breaks = []
        now = client.get(f"{link}/next").json()
        while now["question"] is not None:
            if now["break"]:
                breaks.append(now["done"])
            now = reply(client, link, now["question"]["position"]).json()
        assert breaks == [3, 6]

    def test_a_photograph_that_is_lost_on_the_way_is_passed_over(self, experiment):
        folder, _, client, invite = experiment(6, practice=0)
        (link,) = invite()
        (lost,) = rows(folder, "SELECT question FROM choose_plan WHERE position = 2")[0]
        (folder / "photos" / f"holiday-{int(lost) - 1:03d}.png").write_bytes(b"gone")
        _, experimenter, client, _ = experiment(folder=folder)
        assert [q["position"] for q in walk(client, link)] == [0, 1, 3, 4, 5]
        failed = experimenter.get("/results").json()["failed"]
        assert [(f["trial"], f["reason"].split(":")[0]) for f in failed] == [(lost, f"holiday-{int(lost) - 1:03d}")]


class TestPictures:
    def test_the_current_and_the_next_one_can_be_had(self, experiment):
        _, _, client, invite = experiment(6)
        (link,) = invite()
        now = client.get(f"{link}/next").json()
        for position in (now["question"]["position"], now["ahead"]):
            picture = client.get(f"{link}/picture/{position}")
            assert picture.headers["content-type"] == "image/png"
            assert picture.content.startswith(b"\x89PNG")
        for position in ("2", "8", "99", "-1", "x", "١", "1" * 30, "0.png", "%2e%2e"):
            assert client.get(f"{link}/picture/{position}").status_code == 404

    def test_one_that_breaks_while_the_server_runs_says_so(self, experiment):
        folder, _, client, invite = experiment(4, keep=0)
        (link,) = invite()
        for file in (folder / "photos").iterdir():
            file.write_bytes(b"broken")
        refused = client.get(f"{link}/picture/0")
        assert refused.status_code == 422
        assert refused.json()["error"].startswith("this picture: is")
        assert "holiday" not in refused.text


class TestSecrecy:
    def everything(self, experiment, make_trials, monkeypatch, tmp_path, flipped):
        """All that two participants are ever sent, byte for byte."""
        tokens = iter(f"token-{n}" for n in range(99))
        monkeypatch.setattr(choose_plan.secrets, "token_urlsafe", lambda size: next(tokens))
        folder = make_trials(24, flipped=flipped, folder=tmp_path / f"flipped-{flipped}")
        _, _, client, invite = experiment(folder=folder, check_every=6, break_every=7)
        seen = []

        def take(response):
            headers = {name: value for name, value in response.headers.items() if name != "date"}
            seen.append((response.status_code, headers, response.content))
            return response

        for link in invite(2):
            take(client.get(link))
            now = take(client.get(f"{link}/next")).json()
            while now["question"] is not None:
                position = now["question"]["position"]
                take(client.get(f"{link}/picture/{position}"))
                now = take(reply(client, link, position, ("left", "right")[position % 3 == 0])).json()
            take(client.get(link))
        return seen

    def test_turning_the_key_round_changes_nothing_that_participants_are_sent(
        self, experiment, make_trials, monkeypatch, tmp_path
    ):
        seen = self.everything(experiment, make_trials, monkeypatch, tmp_path, flipped=False)
        assert len(seen) > 100
        assert seen == self.everything(experiment, make_trials, monkeypatch, tmp_path, flipped=True)

    def test_what_answers_participants_never_looks_at_the_key(self, make_trials, client_of):
        """So that not even the time an answer takes can tell it."""
        folder = make_trials(10)
        study = load_study(folder / "trials", folder / "photos")
        keyless = dataclasses.replace(study, trials=dict.fromkeys(study.trials))
        with State(folder / "trials" / "studio.sqlite", [SCHEMA]) as state:
            choose = ChoosePage(keyless, state, Design(check_every=5))
            client = client_of(choose.page, token=TOKEN)
            for token in choose.ensure_invitations(2):
                link = f"/take/{token}"
                assert client.get(link).status_code == 200
                assert client.get(f"{link}/picture/0").status_code == 200
                assert len(walk(client, link)) == 3 + 10 + 2

    def test_nothing_names_a_file_a_trial_a_system_or_a_mode(self, experiment, make_trials, monkeypatch, tmp_path):
        secrets = (
            b"holiday",
            b"canny",
            b"sobel",
            b"hard",
            b"easy",
            b"obvious",
            b"check",
            b"alarm",
            b"first",
            b"second",
        )
        for _, headers, content in self.everything(experiment, make_trials, monkeypatch, tmp_path, flipped=False):
            if headers["content-type"] == "application/json":
                assert not [word for word in secrets if word in content]
                question = json.loads(content)["question"]
                assert question is None or set(question) == {
                    "position", "practice", "height", "width", "size", "mirrored", "left", "right",
                }  # fmt: skip
            elif headers["content-type"] == "image/png":
                chunks = {kind for kind in (b"tEXt", b"iTXt", b"zTXt", b"eXIf", b"tIME", b"pHYs") if kind in content}
                assert not chunks
            assert "content-disposition" not in headers

    def test_an_attention_check_looks_like_any_trial(self, experiment):
        folder, _, client, invite = experiment(10, check_every=5, practice=0)
        (link,) = invite()
        asked = walk(client, link)
        kinds = [kind for (kind,) in rows(folder, "SELECT kind FROM choose_plan")]
        assert kinds.count("check") == 2
        shapes = {
            kind: {json.dumps([sorted(q), q["size"]]) for q, k in zip(asked, kinds, strict=True) if k == kind}
            for kind in kinds
        }
        assert shapes["check"] == shapes["trial"]

    def test_participants_cannot_open_what_is_the_experimenters(self, experiment):
        _, _, client, invite = experiment(4)
        (link,) = invite()
        for path in ("/", "/results", "/answers.csv", "/everything.csv"):
            assert client.get(path).status_code == 403
            assert client.get(path + f"?token={link.removeprefix('/take/')}").status_code == 403
        assert client.post("/invitations", json={"count": 1}).status_code == 403

    def test_a_link_that_was_not_given_out_opens_nothing(self, experiment):
        _, _, client, invite = experiment(4)
        (link,) = invite()
        for token in ("", "x", link.removeprefix("/take/")[:-1], "%00", "a" * 5000):
            for path in ("", "/next", "/picture/0"):
                assert client.get(f"/take/{token}{path}").status_code in (404, 405)
        assert len(link.removeprefix("/take/")) >= 32


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

"""The forced choice as participants meet it: plans, answers, pictures."""

from __future__ import annotations

import asyncio

import pytest

from hyperacuity.audit.trials import read_trials
from hyperacuity.studio.choose.plan import Design, draw_plan
from hyperacuity.studio.choose.trials import load_study

from .choosing import TRIALS, reply, rows, walk


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

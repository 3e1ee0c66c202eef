"""What participants of the forced choice are sent says nothing about the key, and nothing about others."""

from __future__ import annotations

import dataclasses
import json

from hyperacuity.studio.choose import plan as choose_plan
from hyperacuity.studio.choose.page import ChoosePage
from hyperacuity.studio.choose.plan import SCHEMA, Design
from hyperacuity.studio.choose.trials import load_study
from hyperacuity.studio.state import State

from .choosing import TOKEN, reply, rows, walk


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

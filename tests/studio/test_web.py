"""What every page of the studio can rely on: who is let in, from where, with what, and what is never said."""

from __future__ import annotations

import hmac
import json
import re
import sqlite3
from contextlib import closing

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.responses import JSONResponse
from starlette.routing import Route

from hyperacuity.errors import InputError, UsageError
from hyperacuity.studio.app import make_app
from hyperacuity.studio.people import SCHEMA, People, folders
from hyperacuity.studio.server import choose_token, prepared, public_address
from hyperacuity.studio.state import APPLICATION, VERSION, State
from hyperacuity.studio.web import Page, Refused, field, read_json, render

TOKEN = "a-token-nobody-guesses"  # noqa: S105 (of a test)
EVERYWHERE = "0.0.0.0"  # noqa: S104 (what a token is for)


@pytest.fixture
def state(tmp_path):
    with State(tmp_path / "studio.sqlite", [SCHEMA]) as opened:
        yield opened


@pytest.fixture
def page(state):
    """A page that greets, echoes, and fails on request."""
    people = People(state, "echo")

    async def front(request):
        person = await people.find(request)
        if person is None:
            return await people.welcome(request, title="Echo <room>")
        return render(request, "refusal.html.j2", sentence=f"hello {person.name}")

    async def echo(request):
        values = await read_json(request)
        return JSONResponse({"text": field(values, "text", str, high=10), "who": (await people.require(request)).name})

    async def fail(request):
        how = request.path_params["how"]
        if how == "input":
            raise InputError("/home/secret/a.png: is damaged")
        if how == "refused":
            raise Refused(409, "not now")
        raise RuntimeError("a detail that is nobody's business")

    async def open_door(request):
        return JSONResponse({"open": True})

    routes = [
        Route("/", front),
        Route("/echo", echo, methods=["POST"]),
        Route("/fail/{how}", fail),
        Route("/guests/room", open_door),
        *people.routes,
    ]
    return Page("Echo", routes, guests=("/guests/",), max_body=1000)


class TestVisitors:
    def test_a_name_is_kept_and_known_again(self, page, client_of):
        client = client_of(page)
        assert "Who are you?" in client.get("/").text
        assert client.post("/echo", json={"text": "hi"}).status_code == 401
        assert client.post("/people", json={"name": "  Ada \t Lovelace "}).status_code == 400  # a tab is not printable
        assert client.post("/people", json={"name": "  Ada   Lovelace "}).json() == {"name": "Ada Lovelace"}
        assert "Hello Ada Lovelace" in client.get("/").text
        assert client.post("/echo", json={"text": "hi"}).json() == {"text": "hi", "who": "Ada Lovelace"}
        assert client.delete("/people").status_code == 200
        assert "Who are you?" in client.get("/").text

    def test_the_same_person_again_is_nobody_new(self, page, client_of, state):
        client = client_of(page)
        for _ in range(2):
            assert client.post("/people", json={"name": "Ada"}).json() == {"name": "Ada"}
        assert state.read_now(lambda file: file.execute("SELECT count(*) FROM people").fetchone()) == (1,)

    def test_everyone_has_a_folder_that_file_systems_take_and_nobody_else_has(self, page, client_of, state):
        expected = {
            "Ada": "Ada",
            "ada": "ada 2",
            "../Ada": "___Ada",
            "..\\Ada": "___Ada 2",
            "nul": "nul_",
            "é" * 80: "é" * 60,
        }
        for name in expected:
            client_of(page).post("/people", json={"name": name})
            found, names = state.read_now(
                lambda file: (folders(file), dict(file.execute("SELECT id, name FROM people")))
            )
            assert {names[person]: folder for person, folder in found.items()}.items() <= expected.items()
        assert len(found) == len(expected)

    @pytest.mark.parametrize("name", ["", "   ", "x" * 81, 3, None, ["a"], "\ud800", "a\0b"])
    def test_names_that_are_none_are_refused(self, page, client_of, name):
        body, headers = json.dumps({"name": name}), {"content-type": "application/json"}
        assert client_of(page).post("/people", content=body, headers=headers).status_code == 400

    def test_names_are_shown_as_text(self, page, client_of):
        client = client_of(page)
        client.post("/people", json={"name": "<script>alert(1)</script>"})
        for text in (client.get("/").text, client.get("/me").text):
            assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
            assert "<script>alert" not in text

    def test_cookies_stay_on_the_site_and_out_of_scripts(self, page, client_of):
        kept = client_of(page).post("/people", json={"name": "Ada"}).headers["set-cookie"].lower()
        assert "samesite=strict" in kept
        assert "httponly" in kept


class TestOwnLinks:
    def own_link(self, client):
        return re.search(r'value="([^"]+/me/[^"]+)"', client.get("/me").text)[1]

    def test_a_name_alone_does_not_take_over_someones_work(self, page, client_of):
        ada, eve = client_of(page), client_of(page)
        ada.post("/people", json={"name": "Ada"})
        for name in ("Ada", " Ada  "):
            refused = eve.post("/people", json={"name": name})
            assert refused.status_code == 403
            assert "someone called Ada works here already" in refused.json()["error"]
            assert "set-cookie" not in refused.headers
        assert eve.post("/echo", json={"text": "hi"}).status_code == 401
        assert eve.post("/people", json={"name": "Eve"}).status_code == 200
        assert eve.post("/people", json={"name": "Ada"}).status_code == 403, "someone else's secret is not enough"
        assert ada.post("/echo", json={"text": "hi"}).json()["who"] == "Ada"

    def test_their_own_link_lets_someone_continue_in_another_browser(self, page, client_of):
        ada, elsewhere = client_of(page, token=TOKEN), client_of(page, token=TOKEN)
        ada.get(f"/?token={TOKEN}")
        ada.post("/people", json={"name": "Ada"})
        link = self.own_link(ada)
        assert link.startswith("http://127.0.0.1/me/")
        first = elsewhere.get(link)  # the token of the studio is taken from the link, then the secret
        assert f'url={link.partition("?")[0].removeprefix("http://127.0.0.1")}"' in first.text
        assert 'url=/"' in elsewhere.get(link.partition("?")[0]).text
        assert elsewhere.post("/echo", json={"text": "hi"}).json()["who"] == "Ada"
        stranger = client_of(page, token=TOKEN)
        assert stranger.get(link.partition("?")[0]).status_code == 403, "the secret does not stand in for the token"

    def test_someone_elses_link_asks_before_it_makes_anybody_somebody_else(self, page, client_of):
        ada, bea = client_of(page), client_of(page)
        ada.post("/people", json={"name": "Ada"})
        bea.post("/people", json={"name": "Bea"})
        link = self.own_link(ada)
        asked = bea.get(link)
        assert asked.status_code == 200
        assert "You are signed in as Bea. This is the personal link of Ada." in asked.text
        assert "set-cookie" not in asked.headers
        assert bea.post("/echo", json={"text": "hi"}).json()["who"] == "Bea"
        assert bea.post(link, json={}, headers={"origin": "http://evil.example"}).status_code == 403
        assert bea.post(link, content=b"").status_code == 415, "a form of another site cannot switch either"
        assert bea.post(f"{link}x", json={}).status_code == 404
        assert bea.post("/echo", json={"text": "hi"}).json()["who"] == "Bea"
        assert bea.post(link, json={}).json() == {"name": "Ada"}
        assert bea.post("/echo", json={"text": "hi"}).json()["who"] == "Ada"

    def test_ones_own_link_leads_in_without_asking(self, page, client_of):
        ada = client_of(page)
        ada.post("/people", json={"name": "Ada"})
        assert 'url=/"' in ada.get(self.own_link(ada)).text

    def test_a_link_that_is_nearly_right_is_nobodys(self, page, client_of, state):
        ada, eve = client_of(page), client_of(page)
        ada.post("/people", json={"name": "Ada"})
        key = self.own_link(ada).rpartition("/")[2]
        person, _, secret = key.partition(".")
        assert len(secret) >= 32
        for wrong in (
            person,
            f"{person}.",
            f"{person}.{secret[:-1]}",
            f"{person}.{secret}x",
            f".{secret}",
            "%00",
            "%C3%A9.%C3%BC",
            "x.y",
        ):
            refused = eve.get(f"/me/{wrong}")
            assert refused.status_code == 404
            assert "set-cookie" not in refused.headers
            eve.cookies.set(ada_cookie := next(iter(ada.cookies)), wrong)
            assert eve.post("/echo", json={"text": "hi"}).status_code == 401
            eve.cookies.delete(ada_cookie)

    def test_secrets_are_compared_in_constant_time(self, page, client_of, monkeypatch):
        ada = client_of(page)
        ada.post("/people", json={"name": "Ada"})
        compared, compare = [], hmac.compare_digest
        monkeypatch.setattr(hmac, "compare_digest", lambda a, b: compared.append((a, b)) or compare(a, b))
        ada.get(self.own_link(ada)[:-1])
        assert compared[-1][0][:-1] == compared[-1][1]

    def test_files_of_a_version_without_secrets_get_them(self, page, client_of, state, tmp_path):
        with closing(sqlite3.connect(tmp_path / "old.sqlite")) as old, old:
            for statement in (
                "CREATE TABLE schemas (name TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID",
                "INSERT INTO schemas VALUES ('people', 1)",
                "CREATE TABLE people (id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, made TEXT NOT NULL) WITHOUT ROWID",
                "INSERT INTO people VALUES ('id-of-ada', 'Ada', 'then'), ('id-of-bea', 'Bea', 'then')",
                f"PRAGMA application_id = {APPLICATION}",
                f"PRAGMA user_version = {VERSION}",
            ):
                old.execute(statement)
        found = []
        for _ in range(2):
            with State(tmp_path / "old.sqlite", [SCHEMA]) as opened:
                found.append([(one.id, one.name, one.secret) for one in People(opened, "label").everybody()])
        assert found[0] == found[1]
        assert [one[:2] for one in found[0]] == [("id-of-ada", "Ada"), ("id-of-bea", "Bea")]
        assert len({secret for *_, secret in found[0]}) == 2
        assert all(len(secret) >= 32 for *_, secret in found[0])

    def test_behind_a_proxy_the_link_names_the_public_address(self, page, client_of):
        from starlette.testclient import TestClient

        app = make_app(page, token=TOKEN, hosts=None, public="https://studio.example.org")
        client = TestClient(app, base_url="https://studio.example.org")
        client.get(f"/?token={TOKEN}")
        client.post("/people", json={"name": "Ada"})
        link = self.own_link(client)
        assert re.fullmatch(r"https://studio\.example\.org/me/[\w.-]+\?token=" + TOKEN, link)

    def test_studios_on_one_machine_do_not_forget_each_others_people(self, state, tmp_path):
        with State(tmp_path / "other.sqlite", [SCHEMA]) as other:
            assert People(state, "label").cookie != People(other, "label").cookie
        assert People(state, "label").cookie != People(state, "order").cookie


class TestToken:
    def test_without_it_there_is_nothing_to_see(self, page, client_of):
        client = client_of(page, token=TOKEN)
        for path in ("/", "/fail/refused", "/nowhere", "/?token=wrong", "/?token="):
            assert client.get(path).status_code == 403
        assert client.post("/people", json={"name": "Ada"}).status_code == 403
        assert client.get("/guests/room").json() == {"open": True}
        assert client.get("/static/studio.css").status_code == 200

    def test_with_it_a_cookie_takes_over(self, page, client_of):
        client = client_of(page, token=TOKEN)
        first = client.get(f"/?token={TOKEN}&image=3")
        assert first.status_code == 200
        assert "url=/?image=3" in first.text
        assert TOKEN not in first.text
        assert "samesite=strict" in first.headers["set-cookie"].lower()
        assert "httponly" in first.headers["set-cookie"].lower()
        assert "Who are you?" in client.get("/").text

    def test_it_cannot_send_people_elsewhere(self, page, client_of):
        for path in ("//evil.example/", "/%5Cevil.example/", "/%2F%5C/evil.example/"):
            text = client_of(page, token=TOKEN).get(f"http://127.0.0.1{path}?token={TOKEN}").text
            assert 'content="0;url=/evil.example/"' in text

    def test_it_is_demanded_of_every_host_but_loopback(self, page):
        assert choose_token("127.0.0.1", None) is None
        assert choose_token("127.0.0.1", None, always=True)
        assert len(choose_token(EVERYWHERE, None)) >= 32
        assert choose_token(EVERYWHERE, TOKEN) == TOKEN
        with pytest.raises(UsageError, match="token="):
            choose_token(EVERYWHERE, "short")
        with pytest.raises(UsageError, match="needs a token"), prepared(page, host=EVERYWHERE):
            pass


class TestOrigin:
    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "", "localhost.evil.example:80"])
    def test_a_name_that_points_here_is_not_ours(self, page, client_of, host):
        assert client_of(page).get("/", headers={"host": host}).status_code == 400

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8123", "[::1]:80", "LOCALHOST"])
    def test_loopback_has_several_names(self, page, client_of, host):
        assert client_of(page).get("/", headers={"host": host}).status_code == 200

    @pytest.mark.parametrize(
        "headers",
        [
            {"origin": "http://evil.example"},
            {"origin": "null"},
            {"origin": "http://127.0.0.1:81"},
            {"origin": "http://[bad"},
            {"sec-fetch-site": "cross-site"},
            {"sec-fetch-site": "same-site"},
        ],
    )
    def test_other_sites_cannot_change_anything(self, page, client_of, headers):
        assert client_of(page).post("/people", json={"name": "Eve"}, headers=headers).status_code == 403

    @pytest.mark.parametrize(
        ("url", "origin"),
        [
            ("https://Studio.Example.ORG", "https://studio.example.org"),
            ("HTTPS://studio.example.org/Edges/", "https://studio.example.org"),
            ("https://studio.example.org:443", "https://studio.example.org"),
            ("http://studio.example.org:80/edges", "http://studio.example.org"),
            ("https://studio.example.org:8443", "https://studio.example.org:8443"),
            ("https://[2001:DB8::1]:443", "https://[2001:db8::1]"),
            ("https://bücher.example", "https://xn--bcher-kva.example"),
        ],
    )
    def test_a_public_address_is_ours_however_it_is_written(self, page, url, origin):
        from starlette.testclient import TestClient

        for name, public in (("Ada", url), ("Bea", public_address(url))):
            client = TestClient(make_app(page, hosts=None, public=public), base_url="http://127.0.0.1:8123")
            send = {"json": {"name": name}, "headers": {"origin": origin, "sec-fetch-site": "same-origin"}}
            assert client.post("/people", **send).status_code == 200
            for other in (f"{origin}1", "null", "https://example.org", f"{origin}:81"):
                assert client.post("/people", json={"name": "Eve"}, headers={"origin": other}).status_code == 403

    def test_a_host_may_name_the_port_that_goes_without_saying(self, page, client_of):
        headers = {"origin": "http://127.0.0.1", "host": "127.0.0.1:80"}
        assert client_of(page).post("/people", json={"name": "Ada"}, headers=headers).status_code == 200

    @pytest.mark.parametrize(
        "url", ["https://example.org:0x1", "https://example.org:99999", "https://a@example.org", "https://[::1"]
    )
    def test_a_public_address_that_is_none_is_refused(self, url):
        with pytest.raises(UsageError, match="expected an address such as https://studio"):
            public_address(url)

    def test_forms_of_other_sites_cannot_either(self, page, client_of):
        body = json.dumps({"name": "Eve"})
        assert client_of(page).post("/people", content=body, headers={"content-type": "text/plain"}).status_code == 415

    def test_our_own_pages_can(self, page, client_of):
        headers = {"origin": "http://127.0.0.1", "sec-fetch-site": "same-origin"}
        assert client_of(page).post("/people", json={"name": "Ada"}, headers=headers).status_code == 200


class TestBodies:
    def test_too_much_is_refused_whether_announced_or_not(self, page, client_of):
        client = client_of(page)
        headers = {"content-type": "application/json"}
        assert client.post("/people", content=b"[" * 1001, headers=headers).status_code == 413
        assert client.post("/people", content=iter([b"[" * 600] * 2), headers=headers).status_code == 413
        assert client.post("/people", content=b"[" * 900, headers=headers | {"content-length": "5"}).status_code == 400
        assert client.post("/people", content=b"[" * 1001, headers=headers | {"content-length": "5"}).status_code == 413

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b"3", b'"a"', b"\xff", b'{"name": NaN}', b"[" * 999])
    def test_what_is_no_object_is_refused(self, page, client_of, body):
        refused = client_of(page).post("/people", content=body, headers={"content-type": "application/json"})
        assert refused.status_code == 400
        assert refused.json()["error"]

    def test_a_field_is_what_it_should_be(self):
        values = {"n": 3, "x": 0.5, "yes": True, "text": "abc", "list": [1, 2], "endless": float("inf")}
        assert field(values, "n", int, low=0, high=3) == 3
        assert field(values, "n", float) == 3.0
        assert field(values, "yes", bool) is True
        assert field(values, "list", list, high=2) == [1, 2]
        for name, kind, bounds in [
            ("n", int, {"low": 4}),
            ("n", str, {}),
            ("yes", int, {}),
            ("yes", float, {}),
            ("x", int, {}),
            ("x", float, {"high": 0.4}),
            ("text", str, {"high": 2}),
            ("list", list, {"low": 3}),
            ("missing", str, {}),
            ("endless", float, {}),
        ]:
            with pytest.raises(Refused):
                field(values, name, kind, **bounds)


class TestAnswers:
    def test_every_answer_restrains_the_browser(self, page, client_of):
        client = client_of(page, token=None)
        for response in (
            client.get("/"),
            client.get("/nowhere"),
            client.get("/fail/boom"),
            client.get("/", headers={"host": "evil.example"}),
            client.get("/static/studio.js"),
        ):
            policy = response.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert response.headers["x-content-type-options"] == "nosniff"
            assert response.headers["referrer-policy"] == "no-referrer"
            assert response.headers["cache-control"] in ("no-store", "no-cache")

    @pytest.mark.parametrize("accept", ["application/json", "text/html"])
    def test_failures_say_a_sentence_and_no_more(self, page, client_of, accept, caplog):
        client = client_of(page, headers={"accept": accept})
        for how, status in (("input", 422), ("refused", 409), ("boom", 500)):
            response = client.get(f"/fail/{how}")
            assert response.status_code == status
            for secret in ("Traceback", "RuntimeError", "business", "/home", ".py"):
                assert secret not in response.text
        assert "not now" in client.get("/fail/refused").text.lower()
        ours = [record for record in caplog.records if record.name == "hyperacuity.studio"]
        assert [record.getMessage() for record in ours] == ["/home/secret/a.png: is damaged", "GET /fail/boom"]
        assert "RuntimeError: a detail that is nobody's business" in caplog.text, "the terminal says more"

    @pytest.mark.parametrize(
        "name",
        [
            "../web.py",
            "..%2fweb.py",
            "base.html.j2",
            "%2e%2e/templates/base.html.j2",
            "/etc/passwd",
            "label",
            "%00",
            "",
        ],
    )
    def test_only_scripts_and_styles_are_handed_out(self, page, client_of, name):
        assert client_of(page).get(f"/static/{name}").status_code == 404

    def test_files_that_have_not_changed_are_not_sent_again(self, page, client_of):
        client = client_of(page)
        tag = client.get("/static/studio.css").headers["etag"]
        assert client.get("/static/studio.css", headers={"if-none-match": tag}).status_code == 304

    def test_scripts_have_a_type_that_browsers_run(self, page, client_of):
        assert client_of(page).get("/static/studio.js").headers["content-type"].startswith("text/javascript")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    method=st.sampled_from(["GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"]),
    path=st.one_of(
        st.sampled_from(["/", "/echo", "/people", "/me", "/me/a.b", "/static/studio.js"]),
        st.text(max_size=20).map(lambda text: "/" + text),
    ),
    body=st.one_of(st.binary(max_size=60), st.dictionaries(st.sampled_from(["name", "text"]), st.text(max_size=12)).map(
        lambda values: json.dumps(values).encode()
    )),
    cookie=st.one_of(st.none(), st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)),
)  # fmt: skip
def test_no_request_breaks_the_server(page, client_of, state, method, path, body, cookie):
    from urllib.parse import quote

    name = People(state, "echo").cookie
    headers = {"content-type": "application/json"} | ({} if cookie is None else {"cookie": f"{name}={cookie}"})
    response = client_of(page).request(method, quote(path), content=body, headers=headers)
    assert response.status_code < 500

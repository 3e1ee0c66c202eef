"""Files on the web: whatever a server does, no more is read or waited for than the limits say, and nothing is left behind."""

from __future__ import annotations

import gzip
import json
import socketserver
import ssl
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hyperacuity.cli import app
from hyperacuity.data import remote, web, write_png
from hyperacuity.data.remote import LocalCopies, files_at, is_file, is_folder, stamp
from hyperacuity.errors import InputError

LIMIT = 1 << 21
END = b"\r\n\r\n"
CHUNK = b"10000\r\n" + bytes(0x10000) + b"\r\n"


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch) -> Path:
    """Small limits, no proxy, and a folder of temporary files that can be looked into."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(remote, "MAX_BYTES", LIMIT)
    monkeypatch.setattr("hyperacuity.data.files.MAX_BYTES", LIMIT)
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return folder


class Scripted(socketserver.ThreadingTCPServer):
    """A server that answers each request by a function of its first line and headers; it counts the bytes it could send."""

    daemon_threads = True
    sent = 0

    def __init__(self, script):
        super().__init__(("127.0.0.1", 0), None)
        self.script, self.asked, self.closing = script, [], threading.Event()

    def finish_request(self, request, client_address):
        asked = b""
        while END not in asked:
            asked += request.recv(65536)
        self.asked.append(asked.decode())
        with suppress(OSError):  # the client has gone, as it should
            for piece in self.script(asked.decode()):
                if self.closing.is_set():
                    return
                request.sendall(piece)
                self.sent += len(piece)


@contextmanager
def serving(server):
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield Path(f"http://127.0.0.1:{server.server_address[1]}/maps/a.png")
    finally:
        if isinstance(server, Scripted):
            server.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


def refusal(server, folder) -> str:
    """Why a file is refused; what is on the disk is checked while the block is open, and afterwards."""
    with serving(server) as url, LocalCopies() as copies:
        with pytest.raises(InputError) as refused:
            copies.copy_of(url)
        assert not [path for path in folder.rglob("*") if path.is_file()]
    assert not list(folder.iterdir())
    assert "\n" not in str(refused.value)
    return str(refused.value).replace(str(url).replace("http:/", "http://"), "URL")


def endless(start: bytes, piece: bytes):
    def script(_):
        yield start
        while True:
            yield piece

    return script


def slowly(start: bytes, piece: bytes = b"x"):
    def script(_):
        yield start
        while True:
            time.sleep(0.05)
            yield piece

    return script


class TestHostileServers:
    def test_an_endless_answer_ends_at_the_limit(self, temporary):
        server = Scripted(endless(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked" + END, CHUNK))
        assert refusal(server, temporary) == "URL: sends more than the limit of 2,097,152 bytes"
        assert server.sent < 5 * LIMIT  # what is under way in buffers counts

    def test_a_size_that_is_declared_wrongly_changes_nothing(self, temporary):
        def script(asked):
            yield b"HTTP/1.1 200 OK\r\n" + (b"Content-Length: 10" if asked.startswith("HEAD") else b"X: y") + END
            while not asked.startswith("HEAD"):
                yield bytes(1 << 16)

        assert refusal(Scripted(script), temporary) == "URL: sends more than the limit of 2,097,152 bytes"

    def test_a_declared_size_beyond_the_limit_is_refused_at_once(self, temporary):
        server = Scripted(endless(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999" + END, bytes(1 << 16)))
        assert "asks for 99,999,999,999 bytes, more than the limit of 2,097,152" in refusal(server, temporary)

    def test_content_encoding_is_not_asked_for_and_refused(self, temporary):
        bomb = gzip.compress(bytes(1 << 24))
        server = Scripted(lambda _: [b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + bomb])
        assert "is sent with content encoding gzip, expected none" in refusal(server, temporary)
        assert all("\r\nAccept-Encoding: identity\r\n" in asked for asked in server.asked)

    @pytest.mark.parametrize(
        ("start", "piece"),
        [
            (b"HTTP/1.1 200 OK\r\nContent-Length: 100000" + END, b"x"),
            (b"HTTP/1.1 200 OK" + END, b"x"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked" + END, b"1\r\nx\r\n"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"Trailer: x\r\n"),
            (b"HTTP/1.1 200 OK\r\nX: ", b"x"),
            (b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"),
            (b"", b"H"),
        ],
        ids=["body", "body without size", "chunks", "trailers", "one header", "headers", "status"],
    )
    def test_a_byte_now_and_then_is_not_waited_for_forever(self, start, piece, temporary, monkeypatch):
        monkeypatch.setattr(web, "MAX_SECONDS", 0.4)
        began = time.monotonic()
        reason = refusal(Scripted(slowly(start, piece)), temporary)
        assert time.monotonic() - began < 20
        assert reason == "URL: cannot be read (OSError: took more than 0.4 seconds)"

    def test_nor_is_a_handshake(self, temporary, monkeypatch):
        monkeypatch.setattr(web, "MAX_SECONDS", 0.4)

        class Dripping(Scripted):
            def finish_request(self, request, client_address):
                with suppress(OSError):
                    request.sendall(b"\x16\x03\x03\x40\x00")  # a long message of TLS begins
                    while not self.closing.wait(0.05):
                        request.sendall(b"\x02")

        late = pytest.raises(InputError, match=r"took more than 0\.4 seconds")
        with serving(Dripping(None)) as plain, LocalCopies() as copies, late:
            copies.copy_of(Path(str(plain).replace("http:", "https:")))

    def test_silence_is_not_waited_for_forever(self, temporary, monkeypatch):
        monkeypatch.setattr(web, "MAX_SECONDS", 0.4)
        assert refusal(Scripted(slowly(b"", b"")), temporary).startswith("URL: cannot be read (")

    def test_an_answer_that_breaks_off_is_an_error(self, temporary):
        server = Scripted(lambda _: [b"HTTP/1.1 200 OK\r\nContent-Length: 1000" + END + bytes(300)])
        assert refusal(server, temporary) == "URL: cannot be read (ConnectionError: only 300 of 1000 bytes came)"

    def test_what_comes_with_a_redirect_is_not_read(self, temporary):
        def script(asked):
            if "/maps/a.png" in asked:
                yield b"HTTP/1.1 302 Found\r\nLocation: /b.png" + END
                while True:
                    yield bytes(1 << 16)
            yield b"HTTP/1.1 200 OK\r\nContent-Length: 3" + END + b"abc"

        server = Scripted(script)
        with serving(server) as url, LocalCopies() as copies:
            assert copies.copy_of(url).read_bytes() == b"abc"
        assert server.sent < 5 * LIMIT

    @pytest.mark.parametrize("target", ["/maps/a.png", "file:///etc/passwd", "ftp://127.0.0.1/a.png", "gopher://x/"])
    def test_redirects_in_a_circle_or_off_the_web_are_refused(self, target, temporary):
        server = Scripted(lambda _: [f"HTTP/1.1 302 Found\r\nLocation: {target}".encode() + END])
        assert refusal(server, temporary).startswith("URL: cannot be read (")
        assert len(server.asked) < 20

    @pytest.mark.parametrize(
        "answer",
        [b"", b"nonsense\r\n\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"\0" * 99999],
    )
    def test_nonsense_is_one_sentence(self, answer, temporary):
        assert refusal(Scripted(lambda _: [answer]), temporary).startswith("URL: cannot be read (")

    def test_a_listing_has_a_limit_too(self, monkeypatch):
        monkeypatch.setattr(web, "MAX_LISTING", 1 << 16)
        page = endless(b"HTTP/1.1 200 OK\r\nContent-Type: text/html" + END, b"<a href='x'>x</a>" * 99)
        with serving(Scripted(page)) as url, pytest.raises(InputError, match="its listing has more than 65,536 bytes"):
            files_at(url.parent)

    def test_a_driver_of_fsspec_has_the_same_limits(self, temporary, monkeypatch):
        fsspec = pytest.importorskip("fsspec", reason="needs the extra cluster")
        memory = fsspec.filesystem("memory")
        memory.pipe("/bucket/large.png", bytes(LIMIT + 1))
        try:
            with LocalCopies() as copies, pytest.raises(InputError, match="more than the limit of 2,097,152"):
                copies.copy_of(Path("memory://bucket/large.png"))
            # One that does not say how large it is, and never ends.
            monkeypatch.setattr(type(memory), "open", lambda *_: Endless())
            with (
                LocalCopies() as copies,
                pytest.raises(InputError, match="sends more than the limit of 2,097,152 bytes"),
            ):
                copies.copy_of(Path("memory://bucket/large.png"))
            monkeypatch.setattr(web, "MAX_SECONDS", 0.0)
            with (
                LocalCopies() as copies,
                pytest.raises(InputError, match="took more than 0 seconds"),
            ):
                copies.copy_of(Path("memory://bucket/large.png"))
        finally:
            memory.rm("/bucket", recursive=True)
        assert not list(temporary.iterdir())


class Endless:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def read(self, size: int) -> bytes:
        return bytes(size)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def certified(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine, which nobody else has signed, and its key."""
    x509 = pytest.importorskip("cryptography.x509", reason="needs the extra cluster")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now, day = datetime.now(UTC), timedelta(days=1)
    here = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    builder = x509.CertificateBuilder(name, name, key.public_key(), 1, now - day, now + day)
    signed = builder.add_extension(here, critical=True).sign(key, hashes.SHA256())
    (folder / "certificate.pem").write_bytes(signed.public_bytes(serialization.Encoding.PEM))
    form = serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, *form))
    return folder / "certificate.pem", folder / "key.pem"


class TestHonestServers:
    @pytest.fixture
    def site(self, tmp_path):
        """A folder of maps and truths, served as Python serves folders; also the file names that URLs cannot have."""
        folder = tmp_path / "site"
        truth = np.zeros((24, 32), bool)
        truth[:, 9] = True
        for name in ("a", "b c", "50% ä"):
            for part, pixels in (("soft", np.roll(truth, 1, axis=1) * np.uint8(200)), ("truth", truth)):
                (folder / part).mkdir(parents=True, exist_ok=True)
                write_png(folder / part / f"{name}.png", pixels)
        return folder

    @pytest.fixture
    def url(self, site):
        with serving(ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))) as one:
            yield one.parent.parent

    def test_a_file_is_copied_to_the_byte(self, site, url):
        with LocalCopies() as copies:
            for path in site.rglob("*.png"):
                assert copies.copy_of(url / path.relative_to(site)).read_bytes() == path.read_bytes()

    def test_files_and_folders_are_told_apart_and_listed(self, site, url):
        assert is_file(url / "soft/a.png")
        assert is_folder(url / "soft")
        assert not is_file(url / "soft/d.png")
        assert not is_folder(url / "soft/a.png")
        assert {path.name for path in files_at(url / "soft")} == {path.name for path in (site / "soft").iterdir()}

    def test_a_missing_file_is_named(self, url):
        with (
            LocalCopies() as copies,
            pytest.raises(InputError, match=r"http://.*d\.png: cannot be read \(no such file\)"),
        ):
            copies.copy_of(url / "soft/d.png")

    def test_a_change_shows(self, site, url):
        before, dated = stamp(url / "soft/a.png")
        assert dated
        assert stamp(url / "soft/a.png")[0] == before
        (site / "soft/a.png").write_bytes((site / "soft/a.png").read_bytes() + b"more")
        assert stamp(url / "soft/a.png")[0] != before

    def test_a_password_goes_to_its_server_alone(self):
        def script(asked):
            if "GET /maps" in asked:
                yield f"HTTP/1.1 302 Found\r\nLocation: http://localhost:{port}/b.png".encode() + END
            yield b"HTTP/1.1 200 OK\r\nContent-Length: 0" + END

        server = Scripted(script)
        with serving(server) as url, LocalCopies() as copies:
            port = server.server_address[1]
            copies.copy_of(Path(str(url).replace("127.0.0.1", "me:secret@127.0.0.1")))
        first, second = server.asked
        assert "Authorization: Basic bWU6c2VjcmV0" in first  # RFC 7617: base64 of me:secret
        assert "Authorization" not in second

    def test_the_same_over_tls_where_the_certificate_is_trusted(self, site, tmp_path, monkeypatch):
        certificate, key = certified(tmp_path)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site)))
        server.socket = context.wrap_socket(server.socket, server_side=True)
        with serving(server) as plain:
            url = Path(str(plain).replace("http:", "https:")).parent.parent
            with LocalCopies() as copies, pytest.raises(InputError, match="certificate verify failed"):
                copies.copy_of(url / "soft/a.png")
            monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
            with LocalCopies() as copies:
                assert copies.copy_of(url / "soft/a.png").read_bytes() == (site / "soft/a.png").read_bytes()
            assert len(files_at(url / "soft")) == 3

    def test_a_benchmark_takes_folders_there(self, site, url):
        def score(root):
            done = CliRunner().invoke(app, ["boundary", f"{root}/soft", f"{root}/truth", "--thresholds", "9", "--json"])
            assert done.exit_code == 0, done.output
            return json.loads(done.stdout)

        assert score(url) == score(site)
        assert score(url)["images"] == 3

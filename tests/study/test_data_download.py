import hashlib
import http.server
import random
import re
import socket
import threading

import pytest

from study.data.download import FetchError, download

BODY = random.Random(0).randbytes(1_000_000)
RIGHT = f"sha256:{hashlib.sha256(BODY).hexdigest()}"


class Server(http.server.ThreadingHTTPServer):
    """Serves one file on the loopback interface, by the rules of RFC 9110 for ranges.

    `cuts` says after how many bytes of their body the next answers break off.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.body, self.tag, self.ranges, self.chunked = BODY, '"1"', True, False
        self.cuts, self.requests = [], []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/folder/data.bin"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        wanted = self.headers.get("Range")
        server.requests.append(wanted)
        if not self.path.endswith("/folder/data.bin"):
            self.send_error(404)
            return
        start = 0
        if wanted and server.ranges and self.headers.get("If-Range") in (None, server.tag):
            start = int(re.fullmatch(r"bytes=(\d+)-", wanted)[1])
        if start and start >= len(server.body):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(server.body)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(server.body) - 1}/{len(server.body)}")
        if server.tag:
            self.send_header("ETag", server.tag)
        rest = server.body[start:]
        cut = server.cuts.pop(0) if server.cuts else len(rest)
        if server.chunked:
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            self.wfile.write(f"{len(rest):x}\r\n".encode() + rest[:cut])
            if cut == len(rest):
                self.wfile.write(b"\r\n0\r\n\r\n")
        else:
            self.send_header("Content-Length", str(len(rest)))
            self.end_headers()
            self.wfile.write(rest[:cut])
        self.close_connection = True


@pytest.fixture
def server():
    with Server() as one:
        thread = threading.Thread(target=one.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield one
        one.shutdown()
        thread.join()


@pytest.fixture
def file(tmp_path):
    return tmp_path / "data.bin"


def refusal(*args, **kwargs):
    with pytest.raises(FetchError) as refused:
        download(*args, pause_s=0, **kwargs)
    return str(refused.value)


def nothing_but(file):
    return [one.name for one in file.parent.iterdir()] == [file.name]


@pytest.mark.parametrize("chunked", [False, True])
def test_a_file_comes_whole_and_nothing_else_stays(server, file, chunked):
    server.chunked = chunked
    seen = []
    download(server.url, file, RIGHT, lambda *what: seen.append(what))
    assert file.read_bytes() == BODY
    assert nothing_but(file)
    assert ("downloading data.bin", len(BODY), None if chunked else len(BODY)) in seen


def test_a_file_that_is_there_is_not_asked_for(server, file):
    file.write_bytes(b"mine")
    download(server.url, file)
    assert (server.requests, file.read_bytes()) == ([], b"mine")


@pytest.mark.parametrize("chunked", [False, True])
def test_a_cut_download_goes_on_where_it_was_cut(server, file, chunked):
    server.chunked = chunked
    server.cuts = [300_000, 200_000]
    download(server.url, file, RIGHT, pause_s=0)
    assert file.read_bytes() == BODY
    whole, second, third = server.requests
    assert whole is None
    starts = [int(re.search(r"\d+", one)[0]) for one in (second, third)]
    assert 0 < starts[0] < starts[1] < len(BODY)


def test_a_later_call_goes_on_where_the_first_gave_up(server, file):
    server.cuts = [400_000]
    assert "broke off after 400,000 of 1,000,000 bytes" in refusal(server.url, file, RIGHT, tries=1)
    assert not file.exists()
    download(server.url, file, RIGHT)
    assert file.read_bytes() == BODY
    assert server.requests == [None, "bytes=400000-"]
    assert nothing_but(file)


def test_a_file_that_has_changed_in_between_is_loaded_anew(server, file):
    server.cuts = [400_000]
    refusal(server.url, file, tries=1)
    server.body, server.tag = BODY[::-1][:500_000], '"2"'
    download(server.url, file)
    assert file.read_bytes() == BODY[::-1][:500_000]


@pytest.mark.parametrize("setting", [{"ranges": False}, {"tag": None}, {"tag": 'W/"weak"'}])
def test_a_server_that_cannot_resume_gives_all_of_it_again(server, file, setting):
    for name, value in setting.items():
        setattr(server, name, value)
    server.cuts = [400_000]
    download(server.url, file, RIGHT, pause_s=0)
    assert file.read_bytes() == BODY


def test_a_part_that_is_whole_already_is_taken(server, file):
    file.with_name("data.bin.part").write_bytes(BODY)
    file.with_name("data.bin.part.version").write_text(server.tag)
    download(server.url, file, RIGHT)
    assert file.read_bytes() == BODY
    assert server.requests == ["bytes=1000000-"]


def test_a_part_that_is_longer_than_the_file_is_loaded_anew(server, file):
    file.with_name("data.bin.part").write_bytes(BODY + b"more")
    file.with_name("data.bin.part.version").write_text(server.tag)
    download(server.url, file, RIGHT, pause_s=0)
    assert file.read_bytes() == BODY


def test_a_wrong_checksum_leaves_nothing_behind(server, file):
    sentence = refusal(server.url, file, f"md5:{'0' * 32}")
    assert (
        sentence == f"gave data.bin with the checksum md5:{hashlib.md5(BODY).hexdigest()}, not md5:{'0' * 32}"
    )
    assert not [*file.parent.iterdir()]


def test_a_server_that_keeps_breaking_off_is_given_up(server, file):
    server.cuts = [1000] * 10
    assert "broke off after 3,000 of 1,000,000 bytes" in refusal(server.url, file, tries=3)
    assert len(server.requests) == 3


def test_an_address_without_a_file_is_not_tried_twice(server, file):
    assert refusal(server.url.replace("data.bin", "no.bin"), file) == "answered 404 Not Found"
    assert len(server.requests) == 1
    assert not [*file.parent.iterdir()]


def test_a_server_that_is_not_there_is_said_so(file):
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # taken, and nobody listens
        port = held.getsockname()[1]
        assert refusal(f"http://127.0.0.1:{port}/x", file) == "cannot be reached (Connection refused)"
    assert not [*file.parent.iterdir()]

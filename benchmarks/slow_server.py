"""A folder served over HTTP as slowly as asked: latency, bandwidth, bursts, and faults planted in files.

What is slow about it goes by a clock. All answers share one bandwidth, that of the link: while nobody takes
anything, it makes one burst ready and no more. How much further ahead a client may get is what the system's
buffers hold (here, `send_buffer` bytes on this side).

    python benchmarks/slow_server.py FOLDER --bandwidth 2e6 --latency 0.02 --burst 1e6
"""

from __future__ import annotations

import argparse
import math
import re
import socket
import struct
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

from pipelines.pace import Pace

CHUNK = 1 << 14
_RST_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER, on, 0 s


@dataclass(frozen=True)
class Fault:
    """What goes wrong in one answer.

    Attributes:
        kind: "status" answers with `status` alone. The others send the file up to byte `at`, and then: "cut"
            closes the connection, "reset" does so by force, "stall" sends nothing more.
        at: a byte of the file; an answer that begins beyond it sends nothing.
        status: an HTTP status.
    """

    kind: Literal["status", "cut", "reset", "stall"]
    at: int = 0
    status: int = 503


class SlowServer:
    """Serves the files of a folder on 127.0.0.1, between `with SlowServer(folder) as address:` and its end.

    Args:
        folder: whose files are served.
        latency_s: seconds before each answer.
        bandwidth: bytes a second, of file contents, for all answers together.
        burst: so many bytes come at once, after the time of all of them; the mean stays that of `bandwidth`.
        ranges: whether it can send the rest of a file (HTTP Range); if not, it sends all, as servers do.
        faults: by the name of the file: what happens to the answers about it, in turn; those beyond the last
            fault are sound. None for a sound answer in between.
        port: 0 = any that is free.
        send_buffer: bytes that the system may hold back for a client that does not read.

    Attributes:
        asked: file and first byte of each request so far.
    """

    def __init__(
        self,
        folder: Path,
        *,
        latency_s: float = 0.0,
        bandwidth: float = math.inf,
        burst: int = CHUNK,
        ranges: bool = True,
        faults: Mapping[str, Iterable[Fault | None]] | None = None,
        port: int = 0,
        send_buffer: int = 1 << 16,
    ) -> None:
        self.folder, self.ranges, self.send_buffer = folder, ranges, send_buffer
        self.asked: list[tuple[str, int]] = []
        self.stopping = threading.Event()
        self._latency_s = latency_s
        self._link = threading.Lock()
        self._pace = None if bandwidth == math.inf else Pace(1 / bandwidth, burst)
        self._faults = {name: iter(planted) for name, planted in (faults or {}).items()}
        self._port = port

    def __enter__(self) -> str:
        self._open()
        return f"http://127.0.0.1:{self._port}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._close()

    @contextmanager
    def down(self) -> Iterator[None]:
        """While the block runs, nobody listens: what is open is cut, and connections are refused."""
        self._close()
        try:
            yield
        finally:
            self._open()

    def fault_of(self, name: str) -> Fault | None:
        """What is to happen to the next answer about a file."""
        return next(self._faults.get(name, iter(())), None)

    def wait_for_answer(self) -> None:
        """The latency."""
        time.sleep(self._latency_s)

    def wait_for_link(self, count: int) -> None:
        """Return when it is time to send so many bytes more."""
        if self._pace is not None:
            with self._link:
                self._pace.wait_for(count)

    def _open(self) -> None:
        self._listener = _Listener(("127.0.0.1", self._port), self)
        self._port = self._listener.server_port
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), name="slow-server")
        self._thread.start()

    def _close(self) -> None:
        self._listener.shutdown()
        self._thread.join()
        self._listener.server_close()


class _Listener(ThreadingHTTPServer):
    daemon_threads = False  # so that closing waits for them

    def __init__(self, address: tuple[str, int], server: SlowServer) -> None:
        self.slow = server
        self._open: set[Any] = set()
        self.to_reset: set[Any] = set()
        super().__init__(address, _Handler)

    def get_request(self) -> tuple[Any, Any]:
        connection, address = super().get_request()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, self.slow.send_buffer)
        self._open.add(connection)
        return connection, address

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        if request in self.to_reset:
            self.to_reset.remove(request)
            request.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RST_ON_CLOSE)
            self.close_request(request)  # without the end that `super` announces first
        else:
            super().shutdown_request(request)

    def server_close(self) -> None:
        for connection in list(self._open):  # or it would wait for clients that read nothing
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        super().server_close()


class _Handler(SimpleHTTPRequestHandler):
    server: _Listener

    def __init__(self, *args: Any) -> None:
        self.slow: SlowServer = args[2].slow
        super().__init__(*args, directory=str(self.slow.folder))

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        self.slow.wait_for_answer()
        fault = self.slow.fault_of(path.name)
        if not path.is_file():
            self.send_error(404)
        elif fault is not None and fault.kind == "status":
            self.send_error(fault.status)
        else:
            with suppress(ConnectionError):  # clients may hang up
                self._send(path, fault)

    def _send(self, path: Path, fault: Fault | None) -> None:
        size, asked = path.stat().st_size, re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        begin = int(asked[1]) if asked else 0
        self.slow.asked.append((path.name, begin))
        begin *= self.slow.ranges
        if begin >= max(size, 1):
            self.send_error(416)
            return
        self.send_response(206 if begin else 200)
        if begin:
            self.send_header("Content-Range", f"bytes {begin}-{size - 1}/{size}")
        self.send_header("Content-Length", str(size - begin))
        self.send_header("ETag", f'"{path.stat().st_mtime_ns}-{size}"')
        self.end_headers()
        with path.open("rb") as file:
            file.seek(begin)
            left = (size if fault is None else min(fault.at, size)) - begin
            while left > 0 and (chunk := file.read(min(left, CHUNK))):
                self.slow.wait_for_link(len(chunk))
                self.wfile.write(chunk)
                left -= len(chunk)
        if fault is not None:
            self._fail(fault)

    def _fail(self, fault: Fault) -> None:
        if fault.kind == "stall":
            self.slow.stopping.wait()
        elif fault.kind == "reset":
            self.server.to_reset.add(self.connection)

    def log_message(self, *args: Any) -> None:
        """Quiet."""


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve a folder over HTTP on this machine, slowly.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument("--bandwidth", type=float, default=math.inf, help="bytes a second")
    parser.add_argument("--burst", type=float, default=CHUNK, help="bytes that come at once")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    server = SlowServer(
        given.folder,
        latency_s=given.latency,
        bandwidth=given.bandwidth,
        burst=int(given.burst),
        port=given.port,
    )
    with server as address, suppress(KeyboardInterrupt):
        print("\n".join(f"{address}/{path.name}" for path in sorted(given.folder.iterdir())), flush=True)
        while True:
            time.sleep(3600)


if __name__ == "__main__":
    main()

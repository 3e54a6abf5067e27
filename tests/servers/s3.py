"""An object store that speaks as much of Amazon's S3 as PyArrow asks for: in memory, on loopback."""

from __future__ import annotations

import io
import threading
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import IO
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

HOST = "127.0.0.1"
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}


class ObjectStore:
    """`objects` maps bucket/key to bytes; PyArrow opens `uri(bucket)`, with `KEYS` in its environment."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self._parts: dict[str, dict[int, bytes]] = {}
        store = self

        class Handler(_Handler):
            objects, parts = store.objects, store._parts

        self._server = ThreadingHTTPServer((HOST, 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def uri(self, bucket: str) -> str:
        """The address of a bucket."""
        port = self._server.server_address[1]
        return f"s3://{bucket}/studies?endpoint_override={HOST}:{port}&scheme=http&region=local"

    def __enter__(self) -> ObjectStore:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    objects: dict[str, bytes]
    parts: dict[str, dict[int, bytes]]
    protocol_version = "HTTP/1.1"

    def do_PUT(self) -> None:
        name, query = self._target()
        data = self._body()
        if "uploadId" in query:
            self.parts[query["uploadId"]][int(query["partNumber"])] = data
        elif "/" in name:
            self.objects[name] = data
        self._answer(200, headers={"ETag": '"tag"'})

    def do_POST(self) -> None:
        name, query = self._target()
        data = self._body()
        if "uploads" in query:
            upload = f"upload-{len(self.parts)}"
            self.parts[upload] = {}
            self._answer(200, _xml("InitiateMultipartUploadResult", f"<UploadId>{upload}</UploadId>"))
        elif "uploadId" in query:
            parts = self.parts.pop(query["uploadId"])
            self.objects[name] = b"".join(parts[number] for number in sorted(parts))
            self._answer(200, _xml("CompleteMultipartUploadResult", "<ETag>tag</ETag>"))
        else:
            for key in ElementTree.fromstring(data).iter():
                if key.tag.endswith("Key"):
                    self.objects.pop(f"{name}/{key.text}", None)
            self._answer(200, _xml("DeleteResult", ""))

    def do_HEAD(self) -> None:
        name, _ = self._target()
        if "/" in name and name not in self.objects:
            self._answer(404)
        else:
            self._answer(200, self.objects.get(name, b""), send=False)

    def do_GET(self) -> None:
        name, query = self._target()
        if "list-type" in query:
            self._list(name, query.get("prefix", ""))
        elif name not in self.objects:
            self._answer(404, _xml("Error", "<Code>NoSuchKey</Code>"))
        elif asked := self.headers.get("Range"):
            first, last = (int(end) for end in asked.removeprefix("bytes=").split("-"))
            self._answer(206, self.objects[name][first : last + 1])
        else:
            self._answer(200, self.objects[name])

    def do_DELETE(self) -> None:
        self.objects.pop(self._target()[0], None)
        self._answer(204)

    def log_message(self, *_: object) -> None:
        """Keep quiet."""

    def _list(self, bucket: str, prefix: str) -> None:
        keys = [name.partition("/")[2] for name in self.objects if name.startswith(f"{bucket}/{prefix}")]
        entries = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(self.objects[f'{bucket}/{key}'])}</Size>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for key in keys
        )
        counts = f"<KeyCount>{len(keys)}</KeyCount><IsTruncated>false</IsTruncated>"
        self._answer(200, _xml("ListBucketResult", counts + entries))

    def _target(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        query = {key: values[0] for key, values in parse_qs(parts.query, keep_blank_values=True).items()}
        return unquote(parts.path).lstrip("/"), query

    def _body(self) -> bytes:
        """What was sent: in one piece, or in HTTP's chunks, and in Amazon's within those."""
        if "chunked" in self.headers.get("Transfer-Encoding", ""):
            data = _chunks(self.rfile)
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if "STREAMING" in self.headers.get("x-amz-content-sha256", ""):
            return _chunks(io.BytesIO(data))
        return data

    def _answer(
        self, code: int, data: bytes = b"", headers: dict[str, str] | None = None, *, send: bool = True
    ) -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Last-Modified", formatdate(usegmt=True))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        if send:
            self.wfile.write(data)


def _chunks(stream: IO[bytes]) -> bytes:
    """Pieces with their sizes in front, up to one of size 0 and the lines after it."""
    data = b""
    while size := int(stream.readline().partition(b";")[0], 16):
        data += stream.read(size)
        stream.readline()
    while stream.readline().strip():
        pass
    return data


def _xml(root: str, inside: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><{root}>{inside}</{root}>'.encode()

"""HTTP requests and answers of the proxy, and their meaning for an object store."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import unescape
from urllib.parse import parse_qsl, unquote, urlsplit

_KEY = re.compile("<Key>([^<]*)</Key>")
_COMPLETED = re.compile(r"/\.hoodie/timeline/\d{17}_\d{17}\.[a-z]+$")
_CLIENT = re.compile(r"Credential=([^/,\s]+)/")
#: Headers of one connection, which the proxy does not forward.
HOP = frozenset({"connection", "keep-alive", "transfer-encoding", "content-length", "expect"})
Headers = Mapping[str, str]


@dataclass(frozen=True)
class Request:
    """A request with the names of its headers in lower case. `client` is the id of its access key."""

    client: str
    method: str
    target: str
    headers: Headers
    body: bytes = field(repr=False)

    @property
    def path(self) -> str:
        """Bucket and key."""
        return unquote(urlsplit(self.target).path).lstrip("/")

    @property
    def query(self) -> dict[str, str]:
        """The parameters after the path."""
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))

    @property
    def kind(self) -> str:
        """The kind of the request: get, head, list, put, create, replace, delete, copy, or a step of an upload in parts."""
        if self.method == "GET":
            return "list" if "/" not in self.path or self.query.keys() & {"list-type", "prefix"} else "get"
        if self.method == "POST":
            return (
                "delete many" if "delete" in self.query else "complete upload" if "uploadId" in self.query else "begin upload"
            )
        if self.method == "PUT":
            if "partNumber" in self.query:
                return "part"
            if "x-amz-copy-source" in self.headers:
                return "copy"
            return "create" if "if-none-match" in self.headers else "replace" if "if-match" in self.headers else "put"
        return self.method.lower()

    @property
    def place(self) -> str:
        """The key, the prefix of a list, or several keys separated by spaces."""
        if self.kind == "delete many":
            return unescape(" ".join(_KEY.findall(self.body.decode(errors="replace"))))
        return self.query.get("prefix", "") if self.kind == "list" else self.path.partition("/")[2]

    @property
    def completes(self) -> bool:
        """Whether it publishes a completed instant."""
        return self.method == "PUT" and _COMPLETED.search(self.path) is not None

    def without_conditions(self) -> "Request":
        """The request as a store without conditional writes sees it."""
        kept = {name: value for name, value in self.headers.items() if name not in ("if-match", "if-none-match")}
        return Request(self.client, self.method, self.target, kept, self.body)


@dataclass(frozen=True)
class Answer:
    """An answer of the store, or a made-up one of the proxy."""

    status: int
    headers: Headers = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)

    def encode(self, method: str) -> bytes:
        """The bytes for the client of a request of this method."""
        names = {name: value for name, value in self.headers.items() if name not in HOP}
        if method == "HEAD":
            names["content-length"] = self.headers.get("content-length", "0")
        elif self.status not in (204, 304):
            names["content-length"] = str(len(self.body))
        lines = [f"HTTP/1.1 {self.status} {REASONS.get(self.status, 'Answer')}", *(f"{n}: {v}" for n, v in names.items())]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + (b"" if method == "HEAD" else self.body)


#: Reason phrases by status.
REASONS = {
    200: "OK", 204: "No Content", 206: "Partial Content", 304: "Not Modified", 400: "Bad Request", 403: "Forbidden",
    404: "Not Found", 409: "Conflict", 412: "Precondition Failed", 500: "Internal Server Error", 503: "Service Unavailable",
}  # fmt: skip
_WORDS = {
    403: "InvalidAccessKeyId", 409: "ConditionalRequestConflict", 412: "PreconditionFailed", 500: "InternalError",
    503: "SlowDown",
}  # fmt: skip


def error_answer(status: int) -> Answer:
    """An error of S3 with that status."""
    word = _WORDS.get(status, "Refused")
    body = f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{word}</Code><Message>{word}</Message></Error>'
    return Answer(status, {"content-type": "application/xml"}, body.encode())


async def read_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> Request | None:
    """The next request of a connection; None where the client has closed it."""
    line, headers = await _head(reader)
    if not line:
        return None
    if headers.get("expect", "").lower() == "100-continue":
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    method, target, _ = line.split(" ", 2)
    body = await _body(reader, headers)
    client = _CLIENT.search(headers.get("authorization", ""))
    return Request(client[1] if client else "anonymous", method, target, headers, body)


async def forward_request(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, request: Request) -> Answer:
    """Send a request on to the store; its answer."""
    headers = {name: value for name, value in request.headers.items() if name not in HOP}
    if request.body or request.method in ("PUT", "POST"):
        headers["content-length"] = str(len(request.body))
    lines = [f"{request.method} {request.target} HTTP/1.1", *(f"{n}: {v}" for n, v in headers.items())]
    writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + request.body)
    line, found = await _head(reader)
    if not line:
        raise ConnectionResetError("the store closed the connection")
    status = int(line.split(" ", 2)[1])
    has_body = request.method != "HEAD" and status not in (204, 304)
    return Answer(status, found, await _body(reader, found, to_end=True) if has_body else b"")


async def _head(reader: asyncio.StreamReader) -> tuple[str, dict[str, str]]:
    """The first line, "" at the end of the connection, and the headers."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except (asyncio.IncompleteReadError, ConnectionError):
        return "", {}
    line, *rest = head.split("\r\n")
    pairs = (header.split(":", 1) for header in rest if ":" in header)
    return line, {name.strip().lower(): value.strip() for name, value in pairs}


async def _body(reader: asyncio.StreamReader, headers: Headers, *, to_end: bool = False) -> bytes:
    if headers.get("transfer-encoding", "").lower() == "chunked":
        parts = []
        while size := int((await reader.readline()).split(b";")[0], 16):
            parts.append(await reader.readexactly(size))
            await reader.readline()
        await reader.readuntil(b"\r\n")
        return b"".join(parts)
    if "content-length" in headers:
        return await reader.readexactly(int(headers["content-length"]))
    return await reader.read() if to_end else b""

"""A real OpenAI-compatible server on loopback, scripted request by request.

    python -m tests.server SECONDS

prints its base URL, and until SIGTERM or SIGINT gives each request a reply after these seconds,
which quotes 12 to 15 words for each claim.
"""

import asyncio
import base64
import signal
import socket
import ssl
import struct
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Final, Self
from zlib import crc32

import numpy as np
from aiohttp import web

from judge.config import Config
from tests.chat_call import ChatCall, tokens
from tests.replies import (
    Answer,
    Body,
    Reset,
    Says,
    Script,
    Slow,
    Status,
    Trickle,
    Wire,
    quoting,
    right,
)

_WIDTH: Final = 64
_BODY_LIMIT: Final = 64 << 20
_BACKLOG: Final = 1024  # at the default of 128 a burst of clients waits a second to connect


def vectors(texts: Sequence[str]) -> list[list[float]]:
    """Return vectors of hashed character pairs: similar texts have similar vectors."""
    rows = np.zeros((len(texts), _WIDTH), dtype=np.float32)
    for row, text in zip(rows, texts, strict=True):
        for i in range(len(text) - 1):
            row[crc32(text[i : i + 2].encode()) % _WIDTH] += 1
    found: list[list[float]] = rows.tolist()
    return found


def refused_url() -> str:
    """Return a base URL on a port without a listener."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{free.getsockname()[1]}/v1"


class JudgeServer:
    """A server on a thread of its own, which runs while its `with` block lasts.

    Args:
        script: returns the answer to each chat request, probes included.
        embedding: returns the vectors of a request's texts, or another answer.
    """

    def __init__(
        self,
        script: Script = right,
        embedding: Callable[[Sequence[str]], list[list[float]] | Answer] = vectors,
    ) -> None:
        self._script = script
        self._embedding = embedding
        self._loop: asyncio.AbstractEventLoop
        self._stop: asyncio.Event
        self._serving = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve()))
        self._mistake: Exception | None = None
        self.base_url = ""
        """The address, such as `http://127.0.0.1:PORT/v1`, once the server has started."""
        self.requests: list[ChatCall] = []
        """All chat requests in the order of arrival, probes included."""
        self.embedded: list[list[str]] = []
        """The texts of every embedding request."""
        self.calls = 0
        self.probes = 0
        self.prompt_tokens = 0
        """The sum of `usage` over the calls with a reply: characters ÷ 4."""
        self.reply_tokens = 0

    @property
    def words(self) -> tuple[str, ...]:
        """The options that name this server and its model."""
        return ("--model", "tiny", "--base-url", self.base_url)

    def config(self, **settings: object) -> Config:
        """Return settings for this server, without a cache and a second attempt."""
        plain = {"model": "tiny", "base_url": self.base_url, "cache": False, "attempts": 1}
        plain["patience"] = 0
        return Config.model_validate(plain | settings)

    def __enter__(self) -> Self:
        self._thread.start()
        assert self._serving.wait(10), "the test server does not start"
        return self

    def __exit__(self, _: object, error: BaseException | None, *__: object) -> None:
        self.close()
        # An error in a test's script looks like a failure of the server.
        if error is None and self._mistake is not None:
            raise self._mistake

    def close(self) -> None:
        """Stop and break all connections; a second call does nothing."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    async def serve(self, started: Callable[[str], object] = str) -> None:
        """Serve on a free port until stopped, and give the address to `started`."""
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(client_max_size=_BODY_LIMIT)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/responses", self._chat)
        app.router.add_post("/v1/embeddings", self._embed)
        app.router.add_get("/stats", self._stats)
        self.add_routes(app.router)
        # A hanging handler ends with its client or with the server; zero would wait for ever.
        runner = web.AppRunner(
            app, handler_cancellation=True, shutdown_timeout=0.001, access_log=None
        )
        await runner.setup()
        listening = socket.create_server(("127.0.0.1", 0))
        site = web.SockSite(runner, listening, backlog=_BACKLOG, ssl_context=self.certificate())
        await site.start()
        self.base_url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
        self._serving.set()
        started(self.base_url)
        await self._stop.wait()
        # asyncio drops connections that it accepted while the server closed, and warns later.
        self._loop.remove_reader(listening)
        for _ in range(3):
            await asyncio.sleep(0)
        await runner.cleanup()

    def add_routes(self, router: web.UrlDispatcher) -> None:
        """Add routes beside chat and embeddings."""

    def certificate(self) -> ssl.SSLContext | None:
        """Return the certificate of a server that speaks https."""
        return None

    def stop(self) -> None:
        """End `serve`, from within its loop."""
        self._stop.set()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        raw, headers = await request.read(), request.headers
        call = ChatCall(self.calls, raw, headers)
        if call.is_probe:
            call = ChatCall(self.probes, raw, headers)
            self.probes += 1
        else:
            self.calls += 1
        self.requests.append(call)
        try:
            answer = self._script(call)
        except Exception as mistake:  # noqa: BLE001  kept, and raised where the test ends
            self._mistake = self._mistake or mistake
            answer = Status(500, "the script failed")
        while isinstance(answer, Slow):
            await asyncio.sleep(answer.seconds)
            answer = answer.then
        if isinstance(answer, Says):
            return web.json_response(self.completion(call, answer), headers=answer.headers)
        return await send(request, answer)

    def completion(self, call: ChatCall, answer: Says) -> dict[str, object]:
        """Return the body of a chat completion, or of a response if the request has `input`."""
        prompt, reply = call.prompt_tokens, tokens(answer.text or "")
        if not call.is_probe:
            self.prompt_tokens += prompt
            self.reply_tokens += reply
        if "input" in call.body:
            return response(call, answer, prompt, reply)
        message = {"role": "assistant", "content": answer.text, "refusal": answer.refusal}
        return {
            "id": f"chatcmpl-{call.number}",
            "object": "chat.completion",
            "created": 0,
            "model": answer.model or call.body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": answer.finish}],
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": reply,
                "total_tokens": prompt + reply,
            },
        }

    async def _embed(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        texts = [body["input"]] if isinstance(body["input"], str) else list(body["input"])
        self.embedded.append(texts)
        answer = self._embedding(texts)
        if not isinstance(answer, list):
            return await send(request, answer)
        packed = body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": i, "embedding": encoded(row) if packed else row}
            for i, row in enumerate(answer)
        ]
        used = sum(tokens(text) for text in texts)
        usage = {"prompt_tokens": used, "total_tokens": used}
        return web.json_response(
            {"object": "list", "model": body["model"], "data": data, "usage": usage}
        )

    async def _stats(self, _request: web.Request) -> web.Response:
        names = ("calls", "probes", "prompt_tokens", "reply_tokens")
        return web.json_response({name: getattr(self, name) for name in names})


_INCOMPLETE: Final = {"length": "max_output_tokens", "content_filter": "content_filter"}


def response(call: ChatCall, answer: Says, prompt: int, reply: int) -> dict[str, object]:
    """Return the body of a response, with the fields of `openai.types.responses`."""
    text: dict[str, object] = {"type": "output_text", "text": answer.text, "annotations": []}
    refusal: dict[str, object] = {"type": "refusal", "refusal": answer.refusal}
    part = refusal if answer.refusal else text
    message = {"type": "message", "id": "msg", "role": "assistant", "content": [part]}
    why = _INCOMPLETE.get(answer.finish)
    status = "incomplete" if why else "completed"
    reasoning = {"type": "reasoning", "id": "rs", "summary": []}
    return {
        "id": f"resp_{call.number}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": why} if why else None,
        "model": answer.model or call.body["model"],
        "output": [
            reasoning,
            *([message | {"status": status}] if answer.text or answer.refusal else []),
        ],
        "usage": {
            "input_tokens": prompt,
            "output_tokens": reply,
            "total_tokens": prompt + reply,
        },
    }


async def send(request: web.Request, answer: Answer) -> web.StreamResponse:
    """Send any answer but a completion."""
    match answer:
        case Status(code, str(page), headers):
            return web.Response(
                status=code, text=page, headers=dict(headers), content_type="text/html"
            )
        case Status(code, body, headers):
            return web.json_response(body, status=code, headers=dict(headers))
        case Body(text, content_type):
            return web.Response(text=text, content_type=content_type)
        case Trickle(every):
            response = web.StreamResponse(headers={"Content-Type": "application/json"})
            await response.prepare(request)
            while True:
                await response.write(b" ")
                await asyncio.sleep(every)
        case Wire(sent) if request.transport is not None:
            request.transport.write(sent)
            request.transport.close()
        case Reset() if request.transport is not None:
            # Lingering for zero seconds makes the kernel send RST instead of FIN.
            line = request.transport.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.transport.abort()
    # Hang until the connection is lost, which cancels this.
    await asyncio.Event().wait()
    raise AssertionError("this wait has no end")


def encoded(row: Sequence[float]) -> str:
    """Return a vector in base64, as OpenAI sends it on request."""
    return base64.b64encode(np.array(row, dtype="<f4").tobytes()).decode()


async def main(delay: float) -> None:
    server = JudgeServer(lambda call: Slow(delay, quoting(call)) if delay else quoting(call))
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, server.stop)
    await server.serve(lambda url: print(url, flush=True))  # noqa: T201  a benchmark reads it


if __name__ == "__main__":
    asyncio.run(main(float(sys.argv[1])))

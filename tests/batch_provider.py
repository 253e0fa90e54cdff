"""A provider on loopback that takes files and batches, and answers their requests."""

import json
from collections.abc import Mapping
from typing import Final

from aiohttp import web

from tests.chat_call import ChatCall
from tests.replies import Says, Script, Status, right
from tests.server import JudgeServer, send


class BatchProvider(JudgeServer):
    """A `JudgeServer` that takes batches, too.

    Args:
        script: answers the requests in batches; a `Status` of code 0 is an error without a status.
        live: answers the other requests.
        refusing: by method and path the answer to the first such request, which is not done.
        losing: the same for a request that is done.
        failing: the number of first batches that fail, and the message.
        looks: the number of status requests after which a batch is done.
    """

    def __init__(
        self,
        script: Script = right,
        live: Script = right,
        *,
        refusing: Mapping[str, Status] | None = None,
        losing: Mapping[str, Status] | None = None,
        failing: tuple[int, str] = (0, ""),
        looks: int = 1,
    ) -> None:
        super().__init__(live)
        self._answering = script
        self._refusing = dict(refusing or {})
        self._losing = dict(losing or {})
        self._failing = failing
        self._looks = looks
        self.files: Final[dict[str, bytes]] = {}
        """The uploaded files and the results, by id."""
        self.batches: Final[dict[str, dict[str, object]]] = {}
        self._looked: dict[str, int] = {}
        self._answered = 0

    def add_routes(self, router: web.UrlDispatcher) -> None:
        router.add_post("/v1/files", self._take)
        router.add_post("/v1/batches", self._order)
        router.add_get("/v1/batches", self._list)
        router.add_get("/v1/batches/{id}", self._look)
        router.add_get("/v1/files/{id}/content", self._content)

    def _refused(self, request: web.Request) -> Status | None:
        return self._refusing.pop(f"{request.method} {request.path}", None)

    async def _take(self, request: web.Request) -> web.StreamResponse:
        form = await request.post()
        if refusal := self._refused(request):
            return await send(request, refusal)
        sent = form["file"]
        assert isinstance(sent, web.FileField)
        assert form["purpose"] == "batch"
        name = f"file-{len(self.files)}"
        self.files[name] = sent.file.read()
        return web.json_response({"id": name, "object": "file"})

    async def _order(self, request: web.Request) -> web.StreamResponse:
        order = await request.json()
        if refusal := self._refused(request):
            return await send(request, refusal)
        lines = self.files[order["input_file_id"]].splitlines()
        assert {json.loads(line)["url"] for line in lines} == {order["endpoint"]}
        name = f"batch_{len(self.batches)}"
        self.batches[name] = {"id": name, "status": "validating", **order}
        if lost := self._losing.pop(f"{request.method} {request.path}", None):
            return await send(request, lost)
        return web.json_response(self.batches[name])

    async def _list(self, _: web.Request) -> web.StreamResponse:
        return web.json_response({"object": "list", "data": list(self.batches.values())})

    async def _look(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["id"]
        if refusal := self._refused(request):
            return await send(request, refusal)
        self._looked[name] = self._looked.get(name, 0) + 1
        if self._looked[name] == self._looks:
            self._finish(name)
        return web.json_response(self.batches[name])

    def _finish(self, name: str) -> None:
        done, failed = list[str](), list[str]()
        batch = self.batches[name]
        if list(self.batches).index(name) < self._failing[0]:
            batch |= {"status": "failed", "errors": {"data": [{"message": self._failing[1]}]}}
            return
        for line in self.files[str(batch["input_file_id"])].splitlines():
            request = json.loads(line)
            call = ChatCall(self._answered, json.dumps(request["body"]).encode(), {})
            self._answered += 1
            reply = self._answering(call)
            row: dict[str, object] = {"id": "r", "custom_id": request["custom_id"], "error": None}
            if isinstance(reply, Says):
                body: object = self.completion(call, reply)
                done.append(json.dumps(row | {"response": {"status_code": 200, "body": body}}))
            elif isinstance(reply, Status) and reply.code:
                response = {"status_code": reply.code, "body": reply.body}
                failed.append(json.dumps(row | {"response": response}))
            elif isinstance(reply, Status):
                failed.append(json.dumps(row | {"response": None, "error": reply.body}))
        batch |= {"status": "expired" if failed else "completed"}
        batch["request_counts"] = {"total": 0, "completed": len(done), "failed": len(failed)}
        for field, lines in (("output_file_id", done), ("error_file_id", failed)):
            if lines:
                batch[field] = f"file-{len(self.files)}"
                self.files[f"file-{len(self.files)}"] = "\n".join(lines).encode()

    async def _content(self, request: web.Request) -> web.StreamResponse:
        return web.Response(body=self.files[request.match_info["id"]])

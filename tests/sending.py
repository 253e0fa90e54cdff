"""How an answer of the test server goes out on the wire, where it is no completion."""

import asyncio
import socket
import struct

from aiohttp import web

from tests.replies import Answer, Body, Reset, Status, Trickle


async def send(request: web.Request, answer: Answer) -> web.StreamResponse:
    """Anything but a completion."""
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
        case Reset() if request.transport is not None:
            # Lingering for zero seconds makes the kernel send RST instead of FIN.
            line = request.transport.get_extra_info("socket")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            request.transport.abort()
    # Hangs; whoever was reset is cancelled by the loss of the connection.
    await asyncio.Event().wait()
    raise AssertionError("nobody ends this wait")

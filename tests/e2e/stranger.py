"""A client written from docs/protocol.md alone: websockets, msgpack, json, and nothing of ours."""

import json
from typing import Any, Self

import msgpack
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

ENCODINGS = ("cellmates.v1.msgpack", "cellmates.v1.json")
Body = dict[str, Any]


class Refused(Exception):
    """The server answered with an error."""

    def __init__(self, error: Body) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code: str = error["code"]
        self.context: Body = error["context"]


class Stranger:
    """One connection. ``events`` holds what came unasked."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket
        self.events: list[Body] = []
        self._last = 0

    @classmethod
    async def connect(cls, url: str, encoding: str = ENCODINGS[0], **options: Any) -> Self:  # noqa: ANN401
        return cls(
            await connect(
                url, subprotocols=[Subprotocol(encoding)], compression=None, proxy=None, **options
            )
        )

    async def send(self, message: str, **body: object) -> int:
        """Send a request; its number."""
        self._last += 1
        frame = {"t": message, "id": self._last, "d": {k.rstrip("_"): v for k, v in body.items()}}
        if self.socket.subprotocol == ENCODINGS[0]:
            await self.socket.send(msgpack.packb(frame))
        else:
            await self.socket.send(json.dumps(frame))
        return self._last

    async def receive(self) -> Body:
        """Next frame, whatever it is."""
        frame = await self.socket.recv()
        read: Body = msgpack.unpackb(frame) if isinstance(frame, bytes) else json.loads(frame)
        return read

    async def answer(self, number: int) -> Body:
        """Answer to a request that was sent; events that come before it are kept."""
        while (frame := await self.receive()).get("re", -1) != number:
            assert "re" not in frame, f"an answer to another request: {frame}"
            self.events.append(frame)
        if frame["t"] == "error":
            raise Refused(frame["d"])
        told: Body = frame["d"]
        return told

    async def ask(self, message: str, **body: object) -> Body:
        return await self.answer(await self.send(message, **body))

    async def hello(self, token: str | None = None) -> Body:
        client = {"name": "stranger", "version": "1"}
        return await self.ask(
            "hello", proto=1, client=client, **({"token": token} if token else {})
        )

    async def close(self) -> None:
        await self.socket.close()

"""The protocol as an AsyncAPI 3 document, made from the classes: docs/asyncapi.json is this one.

It says what JSON Schema can say; docs/protocol.md says the rest.
"""

from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from .codec import Encoding
from .errors import CONTEXTS, CloseCode, ErrorCode
from .limits import CLIENT_FRAME_BYTES, LAST_INTEGER, SERVER_FRAME_BYTES
from .messages import EVENTS, REQUESTS, may_be_left_out
from .replies import Refused
from .version import PROTO

_Json: TypeAlias = dict[str, Any]

_SCHEMAS = "#/components/schemas/"
_MESSAGES = "#/components/messages/"
_CHANNEL = "wire"
_SAYS = (
    "One frame is one message. Each request gets exactly one reply, `ok` or `error`, with the"
    f" request's `id` in `re`. Subprotocols: {', '.join(Encoding)}; the maps are the same in both."
    f" Client frames are up to {CLIENT_FRAME_BYTES} bytes, server frames up to"
    f" {SERVER_FRAME_BYTES}. Clients ignore fields and messages that they do not know."
)


def asyncapi() -> _Json:
    """The document, seen from the server: it receives requests and sends events."""
    messages = _messages()
    return {
        "asyncapi": "3.0.0",
        "info": {
            "title": "Cellmates",
            "version": str(PROTO),
            "description": "FreeCell and Eight Off over the wire.",
            "license": {"name": "MIT"},
        },
        "defaultContentType": "application/json",
        "channels": {
            _CHANNEL: {
                "address": "/ws",
                "description": _SAYS,
                "messages": {name: {"$ref": _MESSAGES + name} for name in messages},
                "bindings": {"ws": {"method": "GET"}},
                "x-close-codes": {str(int(code)): code.reconnect.value for code in CloseCode},
            }
        },
        "operations": _operations(),
        "components": {"messages": messages, "schemas": _schemas()},
        "x-error-codes": {code.value: list(CONTEXTS.get(code, ())) for code in ErrorCode},
    }


def asyncapi_text() -> bytes:
    """The document as a file: UTF-8 JSON, indented, with a line feed at the end."""
    return msgspec.json.format(msgspec.json.encode(asyncapi()), indent=2) + b"\n"


def _messages() -> _Json:
    """Every message by its name; the answers of a request under the request's name."""
    number: _Json = {"type": "integer", "minimum": 0, "maximum": LAST_INTEGER}
    found = {}
    for name, exchange in REQUESTS.items():
        found[name] = _message(name, {"id": number}, exchange.request)
        if may_be_left_out(exchange.request):
            found[name]["payload"]["required"].remove("d")
        found[f"{name}.ok"] = _message("ok", {"re": number}, exchange.reply)
    found["error"] = _message("error", {"re": {"anyOf": [number, {"type": "null"}]}}, Refused)
    for name, body in EVENTS.items():
        found[name] = _message(name, {}, body)
    return found


def _message(t: str, number: _Json, body: type[Struct]) -> _Json:
    """One message: ``t``, ``id`` or ``re`` where it has one, and ``d``."""
    properties = {"t": {"const": t}, **number, "d": {"$ref": _SCHEMAS + body.__name__}}
    payload = {"type": "object", "properties": properties, "required": [*properties]}
    return {"payload": payload}


def _operations() -> _Json:
    channel = {"$ref": f"#/channels/{_CHANNEL}"}

    def refs(*names: str) -> list[_Json]:
        return [{"$ref": f"#/channels/{_CHANNEL}/messages/{name}"} for name in names]

    asked = {
        name: {
            "action": "receive",
            "channel": channel,
            "messages": refs(name),
            "reply": {"channel": channel, "messages": refs(f"{name}.ok", "error")},
        }
        for name in REQUESTS
    }
    told = {name: {"action": "send", "channel": channel, "messages": refs(name)} for name in EVENTS}
    return asked | told


def _schemas() -> _Json:
    """Schema of every body, and of what they are made of."""
    bodies: list[Any] = [body for exchange in REQUESTS.values() for body in exchange]
    _, schemas = msgspec.json.schema_components(
        [*bodies, Refused, *EVENTS.values()],
        schema_hook=lambda _: {"description": "see x-error-codes"},  # what a context holds
        ref_template=f"{_SCHEMAS}{{name}}",
    )
    for schema in schemas.values():
        if "prefixItems" in schema:  # AsyncAPI speaks draft 7, which has another word for it
            schema["items"] = schema.pop("prefixItems")
    return schemas

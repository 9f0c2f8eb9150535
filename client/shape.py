"""From the maps of the wire to values with types: what is missing or of another kind is told."""

from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from .errors import WrongFrame

T = TypeVar("T")


def read(shape: type[T], value: object) -> T:
    """Value of a dataclass as it came over the wire: a map, or an array of the fields in order.

    Unknown fields are ignored; a field that has a default may be missing.

    Raises:
        WrongFrame: the message names the field that is missing or of another kind.
    """
    found: T = _read(shape, value, shape.__name__)
    return found


def _read(shape: Any, value: object, where: str) -> Any:  # noqa: ANN401 - any shape
    if shape is object:
        return value
    if is_dataclass(shape) and isinstance(shape, type):
        return _dataclass(shape, value, where)
    arguments = get_args(shape)
    match get_origin(shape) or shape:
        case origin if origin is UnionType:
            if value is None and NoneType in arguments:
                return None
            [only] = [argument for argument in arguments if argument is not NoneType]
            return _read(only, value, where)
        case origin if origin is tuple and isinstance(value, list | tuple):
            return tuple(_read(arguments[0], item, where) for item in value)
        case origin if origin is Mapping and isinstance(value, dict):
            return {
                _read(str, key, where): _read(arguments[1], item, f"{where}.{key}")
                for key, item in value.items()
            }
        # An exact type: true is not 1.
        case plain if type(value) is plain:
            return value
    raise WrongFrame(f"{where} from the server is of the wrong kind")


def _dataclass(shape: type, value: object, where: str) -> object:
    if isinstance(value, list | tuple):
        value = dict(zip((field.name for field, _ in _fields(shape)), value, strict=False))
    if not isinstance(value, dict):
        raise WrongFrame(f"{where} from the server is no map")
    read_fields = {}
    for field, kind in _fields(shape):
        if field.name in value:
            read_fields[field.name] = _read(kind, value[field.name], f"{where}.{field.name}")
        elif field.default is MISSING:
            raise WrongFrame(f"{where}.{field.name} from the server is missing")
    return shape(**read_fields)


@cache
def _fields(shape: Any) -> list[tuple[Field[object], object]]:  # noqa: ANN401 - any dataclass
    kinds = get_type_hints(shape)
    return [(field, kinds[field.name]) for field in fields(shape)]

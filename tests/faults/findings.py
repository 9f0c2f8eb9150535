"""What fuzzing finds: how often it tried what, and what went wrong."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

ENOUGH = 5


@dataclass
class Findings:
    """How often what was tried, how often it was accepted, and what went wrong."""

    tried: dict[str, int] = field(default_factory=dict)
    accepted: dict[str, int] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    @contextmanager
    def trying(self, part: str, told: object) -> Iterator[None]:
        """Try something; whatever it raises is a fault, also an assertion of ours."""
        self.tried[part] = self.tried.get(part, 0) + 1
        try:
            yield
        except Exception as error:  # noqa: BLE001 - any at all is what is looked for
            self.wrong.append(f"{part}: {told!r:.300} gives {error!r:.300}")

    def accept(self, part: str) -> None:
        self.accepted[part] = self.accepted.get(part, 0) + 1

    @property
    def is_enough(self) -> bool:
        return len(self.wrong) >= ENOUGH

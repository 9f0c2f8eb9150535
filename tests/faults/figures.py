"""What a fault has cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Figures:
    """How often a fault was tried, what was lost or doubled, and the worst time to recover in ms.

    ``more`` has what else is worth a line, by its name.
    """

    fault: str
    tried: int
    lost: int
    doubled: int
    recovery_ms: float | None = None
    more: Mapping[str, str | int | float] = field(default_factory=dict)

    def __str__(self) -> str:
        recovery = "" if self.recovery_ms is None else f", recovered in {self.recovery_ms:.0f} ms"
        more = "".join(f", {name} {value}" for name, value in self.more.items())
        return (
            f"{self.fault}: tried {self.tried}, lost {self.lost}, doubled {self.doubled}"
            f"{recovery}{more}"
        )

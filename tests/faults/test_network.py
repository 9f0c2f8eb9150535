"""F6 and F7: networks that are cut, that stand still, and everybody who comes back at once."""

from pathlib import Path

import pytest

from server.gateway import GatewaySettings

from .network import NOTICED_S, cut_networks, half_open, noticed_at_most_s, storm


@pytest.mark.asyncio
async def test_cut_networks_lose_and_double_nothing(tmp_path: Path) -> None:
    figures = await cut_networks(tmp_path, cuts=60)
    assert (figures.tried, figures.lost, figures.doubled) == (60, 0, 0), figures
    assert int(figures.more["connections"]) > 60, figures


@pytest.mark.asyncio
async def test_half_open_peers_are_noticed_and_play_goes_on(tmp_path: Path) -> None:
    figures = await half_open(tmp_path, peers=3, heartbeat_s=0.5)
    assert (figures.tried, figures.lost, figures.doubled) == (9, 0, 0), figures


def test_silent_peers_are_dropped_in_time() -> None:
    assert noticed_at_most_s(GatewaySettings()) <= NOTICED_S


@pytest.mark.asyncio
@pytest.mark.parametrize("is_killed", [False, True], ids=["stopped", "killed"])
async def test_everybody_comes_back_after_a_restart(is_killed: bool, tmp_path: Path) -> None:
    figures = await storm(tmp_path, clients=200, is_killed=is_killed)
    assert (figures.tried, figures.lost, figures.doubled) == (200, 0, 0), figures
    assert figures.more["errors"] == "none", figures
    assert figures.recovery_ms is not None
    assert figures.recovery_ms < 30_000, figures

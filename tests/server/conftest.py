"""What the tests of the server's rooms share."""

import pytest

from .world import World


@pytest.fixture
def world() -> World:
    return World()

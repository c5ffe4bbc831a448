import pytest

from exchange_ops.rehearsals.drills.sandbox_control import SandboxControl


@pytest.fixture
def control(walk, settings):
    """The control plane of the sandbox, on the desk of a rehearsal."""
    settings.REHEARSAL = True
    return SandboxControl(walk.sandbox.url)

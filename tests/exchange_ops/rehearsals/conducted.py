"""A drill in a test: people take one step in each second."""

from desk import clock
from exchange_ops.rehearsals.drills import conducting
from exchange_ops.rehearsals.drills.table import DRILLS


def conduct(name, control, *steps):
    """The record of the drill, and what it said, with people who take one of these steps in each second."""
    left, said = iter(steps), []

    def pause(_):
        step = next(left, None)
        assert step is not None, f"it goes on after everything was done: {said}"
        step()

    return conducting.conduct(DRILLS[name], control=control, say=said.append, now=clock.now, pause=pause), said

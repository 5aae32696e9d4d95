"""Turns: places that people share."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable

import pytest
from millrace_backend.turns import Busy, Turns


def test_half_is_the_most_and_the_last_place_is_for_who_has_none() -> None:
    turns = Turns(4)
    with contextlib.ExitStack() as stack:

        def takes(owner: str) -> bool:
            try:
                stack.enter_context(turns.place(owner, 0.05))
            except Busy:
                return False
            return True

        assert [takes(each) for each in "aaabbc"] == [True, True, False, True, False, True]
    with contextlib.ExitStack() as stack:
        for owner in "aabc":
            stack.enter_context(turns.place(owner, 0.05))
        with pytest.raises(Busy) as caught, turns.place("d", 0.05):
            pass
        # Nothing is free: that is not the owner's own doing.
        assert not caught.value.own
    with turns.place("d", 0.05):
        pass


def test_waiting_people_take_turns() -> None:
    turns, order, begun = Turns(1), [], threading.Semaphore(0)

    def wait(owner: str) -> Callable[[], None]:
        def run() -> None:
            begun.release()
            with turns.place(owner, 20):
                order.append(owner)

        return run

    with turns.place("first", 1):
        threads = []
        for owner in "aaab":
            threads.append(threading.Thread(target=wait(owner)))
            threads[-1].start()
            begun.acquire()
            while sum(turns._owners.waits.values()) < len(threads):
                threading.Event().wait(0.01)
    for each in threads:
        each.join(20)
    assert order == ["a", "b", "a", "a"]

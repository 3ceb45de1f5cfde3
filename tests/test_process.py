"""What a process asks of its system: cores, and whether it is to stop."""

import os
import signal
import threading

import pytest

from unweave.process import asked_to_stop, usable_cores


def test_cores_are_those_this_process_may_use():
    assert 1 <= usable_cores() <= os.cpu_count()
    if hasattr(os, "sched_setaffinity"):
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        try:
            assert usable_cores() == 1
        finally:
            os.sched_setaffinity(0, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_a_wish_and_the_second_an_order(number):
    before = signal.getsignal(number)
    with asked_to_stop() as stop:
        assert not stop.is_set()
        signal.raise_signal(number)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(number)
    assert signal.getsignal(number) is before


def test_threads_are_never_asked():
    found = []

    def ask() -> None:
        with asked_to_stop() as stop:
            found.append(stop.is_set())

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    assert found == [False]

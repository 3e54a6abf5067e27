"""Reading ahead in threads: the order of one thread, bounded, and honest about errors."""

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from study.data.ahead import PER_THREAD, ahead


@given(items=st.lists(st.integers(), max_size=60), threads=st.integers(1, 4))
def test_results_come_in_the_order_of_the_items_whatever_the_number_of_threads(items, threads):
    assert [one.result() for one in ahead(lambda item: item * 2, items, threads)] == [2 * i for i in items]


def test_at_most_so_many_items_a_thread_are_taken_in_advance():
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield taken

    results = ahead(str, endless(), threads=2)
    for given_out in range(1, 5):
        assert next(results).result() == str(given_out)
        assert taken == 2 * PER_THREAD + given_out
    results.close()


def test_several_items_are_worked_on_at_the_same_time():
    both = threading.Barrier(2, timeout=60)
    assert len([one.result() for one in ahead(lambda _: both.wait(), range(2), threads=2)]) == 2


def test_an_error_of_one_item_leaves_the_others_alone():
    futures = list(ahead(lambda item: 6 // item, [1, 0, 2], threads=2))
    assert [futures[0].result(), futures[2].result()] == [6, 3]
    with pytest.raises(ZeroDivisionError):
        futures[1].result()


def test_an_error_of_the_items_arrives_after_the_items_before_it():
    def broken():
        yield from range(5)
        raise OSError("gone")

    results = ahead(lambda item: item, broken(), threads=2)
    assert [next(results).result() for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(OSError, match="gone"):
        next(results)


def test_what_has_been_handed_out_is_finished_though_the_rest_is_given_up():
    may_go_on = threading.Event()

    def slow(item):
        assert may_go_on.wait(60)
        return item

    results = ahead(slow, range(100), threads=1)
    handed_out = [next(results) for _ in range(5)]
    closing = threading.Thread(target=results.close)
    closing.start()
    may_go_on.set()
    closing.join()
    assert [one.result() for one in handed_out] == [0, 1, 2, 3, 4]


def test_closing_ends_the_threads():
    def those_of_ahead():
        return [thread for thread in threading.enumerate() if thread.name.startswith("echostudy-ahead")]

    results = ahead(str, iter(int, 1), threads=3)
    next(results)
    assert those_of_ahead()
    results.close()
    assert not those_of_ahead()

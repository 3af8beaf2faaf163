# SPDX-License-Identifier: Apache-2.0
"""Where calls run, and what ends them: sessions, threads, signals, forks, and the end of the interpreter.

Calls must have used CPU time before something ends them: on a machine with other work they may not have begun yet. There a try may also take longer than
it should, but one of several must not.
"""
import os
import signal
import threading
import time

import numpy as np
import pytest
from conftest import HANG_SECONDS, cpu_seconds, ranks, rest, run, start

import warren

GRAPH = warren.from_edges([0, 1, 2], [1, 2, 3])
# On a star the ranks of the middle and of the others swing back and forth for ever.
LONG = "warren.from_edges([0] * 9, range(1, 10), symmetrize=True).pagerank(damping=1 - 1e-12, tolerance=0, max_iterations=2**32 - 1, personalization=[1] * 10)"


LONG_CALLS = {
    "pagerank": LONG,
    # Back is likeliest by far, and among many neighbours seldom drawn.
    "random_walks": "warren.generate('kron:10,200', symmetrize=True).random_walks([1] * 5000, length=1000, p=1e-12)",
    # A draw by weights looks at all neighbours.
    "sample_batches": "warren.from_edges([0] * 10**5, range(1, 10**5 + 1), [1.0] * 10**5).sample_batches([0] * 400000, fanouts=[1], batch_size=16, weighted=True)"}

# What comes before, and a call that is one step of a second or more on one core.
RANDOM = "graph = warren.from_edges(*np.random.default_rng(1).integers(0, 2**{}, (2, 2**22), dtype=np.uint32), symmetrize=True)"
ONE_STEP = {
    "spmm": (f"{RANDOM.format(12)}; B = np.ones((2**12, 2048), np.float32)", "graph.spmm(B, device='cpu')"),
    "sddmm": (f"{RANDOM.format(12)}; B = np.ones((2**12, 2048), np.float32)", "graph.sddmm(B, B, device='cpu')"),
    "gather": ("table = np.ones((2**20, 64), np.float32); ids = np.random.default_rng(1).integers(0, 2**20, 2**22)", "warren.gather(table, ids, device='cpu')"),
    "lookup": ("table = np.ones((2**12, 512), np.float32); ids = np.random.default_rng(1).integers(0, 2**12, (2**12, 2**13))",
               "warren.lookup(table, ids, device='cpu')"),
    "from_edges": ("", "warren.from_edges([0], [1], num_vertices=2**27)"),
    "save": (RANDOM.format(20), "graph.save('graph.el.gz')"),
    "reorder": (RANDOM.format(20), "graph.reorder('rabbit')"),
    "partition": (RANDOM.format(20), "graph.partition(4, 'rabbit')"),
    "train": ("data = warren.read_dataset('community:20000,20', features=256, classes=8)", "warren.train(data, model='gat', hidden=512, heads=8, epochs=1, device='cpu')")}


def test_with_makes_it_the_session_of_calls_inside():
    with warren.Session(**ranks(2), threads=2) as outer:
        assert GRAPH.bfs(0).info["devices"] == 2
        assert GRAPH.bfs(0, devices=1).info["devices"] == 1
        with warren.Session(**ranks(3), threads=3):
            info = GRAPH.bfs(0).info
            assert (info["devices"], info["threads"]) == (3, 3)
            assert GRAPH.bfs(0, session=outer).info["devices"] == 2
        assert GRAPH.bfs(0).info["devices"] == 2
    assert GRAPH.bfs(0).info["devices"] == 1


def test_other_threads_have_their_own():
    seen = []
    with warren.Session(**ranks(2)):
        thread = threading.Thread(target=lambda: seen.append(GRAPH.bfs(0).info["devices"]))
        thread.start()
        thread.join()
    assert seen == [1]


def test_use_after_close():
    session = warren.Session()
    assert not session.is_closed and GRAPH.bfs(0, session=session).reached == 4
    session.close()
    session.close()
    assert session.is_closed and "closed" in repr(session)
    with pytest.raises(ValueError, match="the session is closed: make another one"):
        GRAPH.bfs(0, session=session)
    with pytest.raises(ValueError, match="closed"), session:
        pass
    assert GRAPH.bfs(0).reached == 4


def test_the_same_session_entered_twice_closes_at_the_outer_end():
    with warren.Session(**ranks(2)) as session:
        with session:
            pass
        assert GRAPH.bfs(0).info["devices"] == 2
    assert session.is_closed


def test_several_threads_enter_one():
    """In whatever order they leave; the last one closes it."""
    session = warren.Session(**ranks(2))
    both_in, first_is_out = threading.Barrier(2), threading.Event()
    seen = []

    def first():
        with session:
            both_in.wait()
            seen.append(GRAPH.bfs(0).info["devices"])
        seen.append(GRAPH.bfs(0).info["devices"])
        first_is_out.set()

    def second():
        with session:
            both_in.wait()
            first_is_out.wait(HANG_SECONDS)
            seen.append(GRAPH.bfs(0).info["devices"])
        seen.append(session.is_closed)

    threads = [threading.Thread(target=work) for work in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [2, 1, 2, True]


@pytest.mark.parametrize("options", [{"devices": 0}, {"devices": 33}, {"devices": "all"}, {"threads": 0}, {"threads": -2}, {"threads": 1.5}, {"device": "gpu"}])
def test_options_out_of_range(options):
    with pytest.raises(ValueError, match=next(iter(options))):
        warren.Session(**options)


def test_options_are_looked_at_each_time():
    """What a call is told of where it runs is kept for the next one: by type and value, so that no wrong option passes for a right one of before."""
    with warren.Session(devices=1) as session:
        for own in (None, session):
            assert GRAPH.bfs(0, devices=1, session=own).reached == GRAPH.bfs(0, devices=np.int64(1), session=own).reached
            for wrong in (True, 1.0, [1], "1", None):
                with pytest.raises(ValueError, match="devices: got"):
                    GRAPH.bfs(0, devices=wrong, session=own)
            for wrong in (["auto"], {}, 0):
                with pytest.raises(ValueError, match="mode: got"):
                    GRAPH.bfs(0, mode=wrong, session=own)
    with pytest.raises(ValueError, match="session is closed"):
        GRAPH.bfs(0, devices=1, session=session)


def test_release_keeps_the_graph():
    graph = warren.generate("kron:6")
    before = graph.bfs(1)
    graph.release()
    assert np.array_equal(graph.bfs(1).depth, before.depth)


def test_threads_call_at_the_same_time():
    graph = warren.generate("kron:9", symmetrize=True)
    expected = [graph.bfs(v).depth for v in range(8)]
    wrong = []

    def work(v):
        for turn in range(20):
            depth = graph.bfs(v, **ranks(1 + turn % 2)).depth
            if not np.array_equal(depth, expected[v]):
                wrong.append(v)

    threads = [threading.Thread(target=work, args=(v,)) for v in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_other_threads_run_meanwhile():
    """The lock of the interpreter is given up for as long as a call takes."""
    graph = warren.from_edges([0] * 9, range(1, 10), symmetrize=True)
    assert any(turns_during_a_call(graph) > 5 for _ in range(5))


def turns_during_a_call(graph):
    counted = 0
    done = threading.Event()

    def work():
        graph.pagerank(damping=1 - 1e-12, tolerance=0, max_iterations=20_000, personalization=np.ones(10))
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    while not done.wait(0.001):
        counted += 1
    thread.join()
    return counted


@pytest.mark.parametrize("devices", [1, 3])
@pytest.mark.parametrize("call", LONG_CALLS)
def test_ctrl_c_ends_a_call_within_a_second(call, devices):
    assert any(seconds_to_interrupt(LONG_CALLS[call], devices) < 1 for _ in range(10))


def seconds_to_interrupt(call, devices):
    return seconds_from_signal(f"""
        import warren
        warren.from_edges([0], [1]).bfs(0)
        try:
            print("ready", flush=True)
            {call[:-1]}, **{ranks(devices)})
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        print(warren.from_edges([0], [1]).bfs(0).reached)
    """, sleep=0.7, used=0.05)


@pytest.mark.parametrize("step", ONE_STEP)
def test_ctrl_c_ends_one_long_step_on_the_cpu(step, tmp_path):
    before, call = ONE_STEP[step]
    script = f"""
        import os
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
        os.chdir({str(tmp_path)!r})
        import numpy as np, warren
        warren.from_edges([0], [1]).bfs(0, device="cpu")
        {before}
        try:
            print("ready", flush=True)
            {call}
        except KeyboardInterrupt:
            print("interrupted", flush=True)
        print(warren.from_edges([0], [1]).bfs(0, device="cpu").reached)
    """
    assert any(seconds_from_signal(script, sleep=0.1, used=0.1) < 1 for _ in range(4))
    assert list(tmp_path.iterdir()) == [], "nothing half written stays"


def seconds_from_signal(script, sleep, used):
    """From the signal, which comes after `sleep` seconds and `used` ones of the CPU's time."""
    process = start(script)
    watch = threading.Timer(HANG_SECONDS, process.kill)
    watch.start()
    try:
        assert process.stdout.readline() == "ready\n"
        ready = cpu_seconds(process)
        time.sleep(sleep)
        while process.poll() is None and cpu_seconds(process) < ready + used:
            time.sleep(0.01)
        assert process.poll() is None, process.communicate()
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        line = process.stdout.readline()
        seconds = time.monotonic() - begin
        out, err = rest(process)
    finally:
        watch.cancel()
    assert (line, out, err, process.returncode) == ("interrupted\n", "2\n", "", 0)
    return seconds


def test_a_handler_of_ones_own_decides():
    status, out, err = run(f"""
        import signal, warren
        class Enough(Exception): pass
        def handler(number, frame):
            raise Enough
        signal.signal(signal.SIGALRM, handler)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.5)
            {LONG}
        except Enough:
            print("enough")
    """)
    assert (status, out, err) == (0, "enough\n", "")


def test_a_fork_after_use_is_refused():
    status, out, err = run("""
        import os, sys, warnings, warren
        warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 and later warn of any fork beside threads.
        graph = warren.from_edges([0, 1], [1, 2])
        graph.bfs(0)
        child = os.fork()
        if child == 0:
            for call in (lambda: graph.bfs(0), lambda: warren.from_edges([0], [1]), lambda: graph.is_symmetric, warren.Session):
                try:
                    call()
                except warren.Error as error:
                    assert "forked" in str(error) and "spawn" in str(error), error
                else:
                    sys.exit(3)
            del graph
            sys.exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        print(graph.bfs(0).reached)
    """)
    assert (status, out, err) == (0, "3\n", "")


POOL = """
    import multiprocessing, pickle, sys, warnings, warren
    warnings.simplefilter("ignore", DeprecationWarning)
    graph = warren.from_edges([0, 1], [1, 2])
    graph.bfs(0)
    def by_global(v):
        return graph.bfs(v).reached
    def by_argument(g):
        return g.bfs(0).reached
    def handed_on(g):
        return g
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for work, arguments in ((by_global, [0, 1]), (by_argument, [graph, graph]), (graph.bfs, [0, 1])):
            try:
                pool.map(work, arguments)
            except warren.Error as error:
                assert isinstance(error, RuntimeError) and "forked" in str(error) and "spawn" in str(error), error
                print("refused")
        print([g.bfs(0).reached for g in pool.map(handed_on, [graph, graph])])
"""


def test_a_pool_of_forked_processes_is_refused_at_once():
    assert run(POOL) == (0, "refused\nrefused\nrefused\n[3, 3]\n", "")


def test_a_fork_before_use_works():
    status, out, err = run("""
        import multiprocessing, warren
        def work(v):
            return warren.from_edges([0, 1], [1, 2]).bfs(v).reached
        if __name__ == "__main__":
            with multiprocessing.get_context("fork").Pool(2) as pool:
                print(pool.map(work, [0, 1, 2]))
    """)
    assert (status, out, err) == (0, "[3, 2, 1]\n", "")


@pytest.mark.parametrize("threads", [1, 3])
def test_the_interpreter_ends_in_the_middle_of_a_call(threads):
    assert any(seconds_to_end(threads) < 15 for _ in range(3))


def seconds_to_end(threads):
    process = start(f"""
        import threading, time, warren
        def work():
            while True:
                {LONG}
        for _ in range({threads}):
            threading.Thread(target=work, daemon=True).start()
        session = warren.Session(**{ranks(2)})
        def work_there():
            with session:
                work()
        threading.Thread(target=work_there, daemon=True).start()
        begin = time.process_time()
        time.sleep(0.7)
        while time.process_time() < begin + 0.1:
            time.sleep(0.01)
        print("the end", flush=True)
    """)
    watch = threading.Timer(HANG_SECONDS, process.kill)
    watch.start()
    try:
        assert process.stdout.readline() == "the end\n"
        begin = time.monotonic()
        out, err = rest(process)
    finally:
        watch.cancel()
    assert (out, err, process.returncode) == ("", "", 0)
    return time.monotonic() - begin


def test_the_interpreter_ends_in_many_short_calls():
    status, out, err = run("""
        import threading, time, warren
        graph = warren.generate("kron:6")
        def work():
            while True:
                warren.from_edges([0, 1], [1, 2]).bfs(0)
                graph.bfs(0)
        for _ in range(4):
            threading.Thread(target=work, daemon=True).start()
        begin = time.process_time()
        while time.process_time() < begin + 0.3:
            time.sleep(0.01)
    """)
    assert (status, out, err) == (0, "", "")


def test_calls_at_exit_still_work():
    status, out, err = run(f"""
        import atexit
        atexit.register(lambda: print(warren.from_edges([0], [1]).bfs(0).reached))
        import warren
        warren.from_edges([0], [1]).bfs(0)
        session = warren.Session(**{ranks(2)})
        warren.from_edges([0], [1]).bfs(0, session=session)
    """)
    assert (status, out, err) == (0, "2\n", "")


def test_process_is_left_clean():
    """No thread is left over by sessions that were closed."""
    before = len(os.listdir("/proc/self/task"))
    for _ in range(5):
        with warren.Session(**ranks(3)):
            GRAPH.bfs(0)
    # A thread that has been joined may be listed a little longer.
    deadline = time.monotonic() + HANG_SECONDS
    while len(os.listdir("/proc/self/task")) > before + 1 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert len(os.listdir("/proc/self/task")) <= before + 1


def test_a_gpu_that_is_not_there():
    """Errors are in words of all faces: options of the command line have dashes."""
    status, out, err = run("""
        import os
        os.environ["CUDA_VISIBLE_DEVICES"] = ""
        import warren
        try:
            warren.Session(device="cuda")
        except ValueError as error:
            print(error)
    """)
    assert status == 0, err
    assert out.startswith("a GPU was asked for, but ") and out.endswith('device="cpu"\n') and "--device" not in out


@pytest.mark.parametrize("progress", ["lambda epoch: None", "lambda epoch: time.sleep(0.01)", "lambda epoch: warren.from_edges([0], [1]).bfs(0, session=other)"])
def test_the_interpreter_ends_in_a_training_that_calls_back(progress):
    status, out, err = run(f"""
        import threading, time, warren
        other, begun = warren.Session(devices=1, threads=1), threading.Event()
        call = {progress}
        def seen(epoch):
            begun.set()
            call(epoch)
        def work():
            warren.train("community:3000,10", features=16, classes=4, hidden=8, epochs=10**6, progress=seen)
        threading.Thread(target=work, daemon=True).start()
        begun.wait()
        time.sleep(0.3)
        print("the end")
    """)
    assert (status, out, err) == (0, "the end\n", "")


def test_sessions_that_are_left_in_another_order():
    first, second = warren.Session(device="cpu", threads=1), warren.Session(device="cpu", threads=1)
    graph = warren.from_edges([0], [1])
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert first.is_closed
    assert graph.bfs(0).reached == 2  # In the second, which is open.
    second.__exit__(None, None, None)
    assert graph.bfs(0).reached == 2

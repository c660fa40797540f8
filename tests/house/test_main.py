"""Which steps run beside each other."""
import threading
import unittest

from house.main import Run
from house.steps import QUICK, Step


def step(key, **more):
    return Step(key, key, QUICK, ["true"], 10, **more)


def together(steps, jobs):
    """Takes what may start beside each other, in turns: keys by turn. The steps of a turn end before the next one."""
    run, turns = Run(steps, jobs), []
    while run.waiting:
        while chosen := next((one for one in run.waiting if run.may_start(one)), None):
            run.waiting.remove(chosen)
            run.running.append(chosen)
        turns.append([one.key for one in run.running])
        run.running.clear()
    return turns


class Beside(unittest.TestCase):
    def test_steps_use_no_more_processors_than_there_are(self):
        self.assertEqual(together([step("a"), step("b"), step("c")], 2), [["a", "b"], ["c"]])

    def test_steps_that_wait_run_beside_those_that_compute(self):
        waits = [step(f"waits-{at}", load=0.25) for at in range(5)]
        self.assertEqual(together([step("a"), *waits, step("b")], 2), [["a", "waits-0", "waits-1", "waits-2", "waits-3"], ["waits-4", "b"]])

    def test_a_step_that_needs_more_than_there_is_runs_alone(self):
        self.assertEqual(together([step("a", load=2), step("b")], 1), [["a"], ["b"]])

    def test_only_one_step_builds(self):
        self.assertEqual(together([step("a", cargo=True), step("b", cargo=True), step("c")], 4), [["a", "c"], ["b"]])

    def test_nothing_runs_beside_what_measures_time(self):
        self.assertEqual(together([step("a"), step("b", alone=True), step("c", load=0.25)], 4), [["a", "c"], ["b"]])

    def test_all_steps_of_a_run_end(self):
        run = Run([step("a"), step("b", after=("a",)), step("c", alone=True), step("d", load=0.5)], 1)
        ended = []

        def work():
            while one := run.take():
                with run.change:
                    ended.append(one.key)
                    run.running.remove(one)
                    run.change.notify_all()
        workers = [threading.Thread(target=work) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(10)
        self.assertEqual(sorted(ended), ["a", "b", "c", "d"])
        self.assertLess(ended.index("a"), ended.index("b"))


if __name__ == "__main__":
    unittest.main()

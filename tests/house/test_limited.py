import subprocess
import sys
import time
import unittest
from pathlib import Path

from house import limited

# a shell with a child that has a child and would write after the limit
TREE = "sh -c 'sleep 600; echo late' & wait"


class Limited(unittest.TestCase):
    def test_a_command_that_ends_in_time_has_its_code_and_no_account(self):
        code, processor_s, account = limited.run(["sh", "-c", "exit 3"], 60)
        self.assertEqual((code, account), (3, None))
        self.assertGreaterEqual(processor_s, 0)

    def test_one_that_does_not_is_ended_with_its_children_which_are_named(self):
        code, _, account = limited.run(["sh", "-c", TREE], 1, stdout=subprocess.DEVNULL)
        self.assertEqual(code, -9)
        self.assertIn("still running after 1 s", account)
        self.assertIn("sleep 600", account)
        pids = [int(line.split()[0]) for line in account.splitlines()[1:]]
        self.assertEqual(len(pids), 3)
        for _ in range(500):
            if not any(runs(pid) for pid in pids):
                break
            time.sleep(0.01)
        self.assertFalse([pid for pid in pids if runs(pid)])

    def test_threads_are_named(self):
        program = "import threading, time\nopen('/proc/self/task/%d/comm' % threading.get_native_id(), 'w').write('the_slow_test')\ntime.sleep(600)"
        _, _, account = limited.run([sys.executable, "-c", program], 2)
        self.assertIn("the_slow_test", account)


def runs(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


if __name__ == "__main__":
    unittest.main()

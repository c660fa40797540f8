"""The referee's rules on hand-made events, and on random ones: `python -m unittest explain.test_referee`."""
import random
import struct
import types
import unittest

from explain import account, families, far_families, held_families, pairs, referee, scenario, user_space
from explain.bench import DOWN, UP, Message, Packet
from explain.ktrace import Call, Probe

MS = 1_000_000
SEEDS = 300


def judged(events, end=100 * MS, to_server=False):
    return dict(referee.partition(events, 0, end, to_server))


def window_limited(unread=0, window=10_000):
    """A server that has sent a window of 10,000 bytes at 0; they arrive at 40 ms, and the ACK at 80 ms."""
    return [(0, DOWN, "written", 50_000), (0, DOWN, "edge", window), (0, DOWN, "window", window), (0, DOWN, "sent", window),
            (0, DOWN, "useful", 1), (5 * MS, DOWN, "useful", -1), (40 * MS, DOWN, "delivered", window),
            (40 * MS, DOWN, "read", window - unread), (40 * MS, DOWN, "ack_sent", window), (80 * MS, DOWN, "acked", window)]


class Rules(unittest.TestCase):
    def test_without_events_the_client_has_all_the_time(self):
        self.assertEqual(judged([]), {"client": 100 * MS})

    def test_useful_transmission_comes_before_every_other_reason(self):
        events = [(0, None, "serving", 1), (10 * MS, DOWN, "useful", 1), (40 * MS, DOWN, "useful", -1)]
        self.assertEqual(judged(events), {"server": 70 * MS, "carrying": 30 * MS})

    def test_a_packet_that_waits_while_the_link_stands_still_is_carried(self):
        self.assertEqual(judged([(0, UP, "useful_queued", 1), (0, UP, "own_queued", 1)]), {"carrying": 100 * MS})

    def test_a_packet_that_waits_for_others_is_behind_other_traffic(self):
        events = [(0, UP, "own_queued", 1), (0, UP, "useful_queued", 1), (0, UP, "other", 1), (30 * MS, UP, "other", -1), (30 * MS, UP, "own_queued", -1),
                  (30 * MS, UP, "useful_queued", -1), (30 * MS, UP, "useful", 1)]
        self.assertEqual(judged(events), {"other-traffic": 30 * MS, "carrying": 70 * MS})

    def test_other_traffic_in_the_other_direction_does_not_matter(self):
        self.assertEqual(judged([(0, UP, "own_queued", 1), (0, DOWN, "other", 1)]), {"client": 100 * MS})

    def test_a_full_receive_window_until_the_ack(self):
        self.assertEqual(judged(window_limited(), 80 * MS), {"carrying": 5 * MS, "receive-window": 75 * MS})

    def test_a_window_that_the_program_keeps_full(self):
        events = [*window_limited(unread=10_000), (40 * MS, DOWN, "window", 0)]
        self.assertEqual(judged(events, 80 * MS), {"carrying": 5 * MS, "receive-window": 35 * MS, "client-unread": 40 * MS})

    def test_an_ack_that_is_due_but_held_back(self):
        events = [event for event in window_limited() if event[2] not in ("ack_sent", "acked")]
        self.assertEqual(judged(events, 80 * MS), {"carrying": 5 * MS, "receive-window": 35 * MS, "delayed-ack": 40 * MS})

    def test_the_congestion_window_without_and_after_a_loss(self):
        full = [(0, DOWN, "written", 50_000), (0, DOWN, "cwnd", 10_000), (0, DOWN, "sent", 10_000), (0, DOWN, "delivered", 5_000)]
        self.assertEqual(judged(full), {"slow-start": 100 * MS})
        lost = [(0, DOWN, "sent", 20_000), (0, DOWN, "hole+", "fast-recovery"), (1, DOWN, "hole-", "fast-recovery"), (1, DOWN, "acked", 15_000)]
        again = [(0, DOWN, "written", 50_000), (0, DOWN, "cwnd", 5_000), *lost]
        self.assertEqual(judged(again), {"fast-recovery": 1, "window-after-loss": 100 * MS - 1})

    def test_a_congestion_window_that_has_grown_back_is_a_small_window(self):
        events = [(0, DOWN, "sent", 5_000), (0, DOWN, "hole+", "fast-recovery"), (1, DOWN, "hole-", "fast-recovery"), (1, DOWN, "acked", 5_000),
                  (1, DOWN, "cwnd", 10_000), (1, DOWN, "written", 50_000), (1, DOWN, "sent", 15_000)]
        self.assertEqual(judged(events), {"fast-recovery": 1, "congestion-window": 100 * MS - 1})

    def test_a_hole_until_the_retransmission_arrives(self):
        events = [(0, None, "serving", 1), (10 * MS, UP, "hole+", "timeout"), (60 * MS, UP, "hole-", "timeout")]
        self.assertEqual(judged(events), {"server": 50 * MS, "timeout": 50 * MS})

    def test_nagle_holds_back_less_than_a_segment_while_data_is_in_flight(self):
        events = [(0, UP, "written", 2_000), (0, UP, "sent", 1_460), (0, UP, "nodelay", 0), (20 * MS, UP, "delivered", 1_460), (20 * MS, UP, "ack_sent", 1_460),
                  (60 * MS, UP, "acked", 1_460), (60 * MS, UP, "sent", 2_000)]
        self.assertEqual(judged([*events, (0, UP, "departed", 1_460), (60 * MS, UP, "departed", 2_000)]), {"nagle": 60 * MS, "metadata": 40 * MS})

    def test_a_full_send_buffer(self):
        events = [(0, UP, "written", 5_000), (0, UP, "sent", 4_000), (0, UP, "stalled", 1)]
        self.assertEqual(judged(events), {"send-buffer": 100 * MS})

    def test_a_sender_that_paces(self):
        events = [(0, UP, "written", 50_000), (0, UP, "sent", 4_000), (0, UP, "paced", 1)]
        self.assertEqual(judged(events), {"pacing-start": 100 * MS})

    def test_a_sender_that_could_send_is_busy(self):
        self.assertEqual(judged([(0, UP, "written", 50_000)]), {"client-stack": 100 * MS})
        self.assertEqual(judged([(0, DOWN, "written", 50_000)]), {"server-stack": 100 * MS})

    def test_the_server_before_propagation_and_the_client_last(self):
        events = [(0, None, "data", 1), (0, UP, "departed", 100), (20 * MS, UP, "delivered", 100), (20 * MS, None, "serving", 1), (50 * MS, None, "serving", -1),
                  (50 * MS, DOWN, "departed", 100), (70 * MS, DOWN, "delivered", 100), (70 * MS, None, "data", -1)]
        self.assertEqual(judged(events), {"round-trips": 40 * MS, "server": 30 * MS, "client": 30 * MS})


def random_events(rng):
    counts = ("useful", "useful_queued", "own_queued", "other")
    offsets = ("written", "sent", "departed", "delivered", "read", "ack_sent", "acked", "edge", "window", "cwnd")
    found = []
    for _ in range(rng.randrange(60)):
        begin = rng.randrange(-50, 1_200)
        end, way = begin + rng.randrange(300), rng.choice((UP, DOWN))
        kind = rng.randrange(5)
        if kind == 0:
            name = rng.choice(counts)
            found += [(begin, way, name, 1), (end, way, name, -1)]
        elif kind == 1:
            name = rng.choice(("serving", "data"))
            found += [(begin, None, name, 1), (end, None, name, -1)]
        elif kind == 2:
            name = rng.choice(("timeout", "probe", "fast-recovery"))
            found += [(begin, way, "hole+", name), (end, way, "hole-", name)]
        elif kind == 3:
            found.append((begin, way, rng.choice(offsets), rng.randrange(100_000)))
        else:
            found.append((begin, way, rng.choice(("stalled", "nodelay", "paced")), rng.randrange(2)))
    return found


class Properties(unittest.TestCase):
    def test_every_nanosecond_belongs_to_exactly_one_known_category(self):
        for seed in range(SEEDS):
            events = random_events(random.Random(seed))
            at = 0
            for begin, end, name in referee.intervals(events, 0, 1_000):
                self.assertEqual(begin, at)
                self.assertGreater(end, begin)
                self.assertIn(name, referee.CAUSES)
                at = end
            self.assertEqual(at, 1_000)
            self.assertEqual(sum(referee.partition(events, 0, 1_000).values()), 1_000)

    def test_a_shift_in_time_changes_nothing(self):
        for seed in range(SEEDS):
            events = random_events(random.Random(seed))
            later = [(at + 10**18, *rest) for at, *rest in events]
            self.assertEqual(referee.partition(events, 0, 1_000), referee.partition(later, 10**18, 10**18 + 1_000))

    def test_a_cut_at_any_time_gives_the_same_sums(self):
        for seed in range(SEEDS):
            rng = random.Random(seed)
            events, cut = random_events(rng), rng.randrange(1, 1_000)
            both = referee.partition(events, 0, cut) + referee.partition(events, cut, 1_000)
            self.assertEqual(both, referee.partition(events, 0, 1_000))


class Scores(unittest.TestCase):
    def test_shares_add_up_and_the_largest_is_accepted(self):
        for seed in range(SEEDS):
            parts = referee.partition(random_events(random.Random(seed)), 0, 1_000)
            of = referee.shares(parts)
            self.assertAlmostEqual(sum(of.values()), 1)
            self.assertIn(max(of, key=of.get), referee.accepted(parts))

    def test_the_truth_itself_has_no_error(self):
        for seed in range(SEEDS):
            parts = referee.partition(random_events(random.Random(seed)), 0, 1_000)
            self.assertAlmostEqual(referee.moved(parts, referee.shares(parts)), 0)

    def test_two_causes_within_ten_points_are_both_accepted(self):
        self.assertEqual(referee.accepted({"client": 45, "server": 55}), ["server-think", "client-think"])
        self.assertEqual(referee.accepted({"client": 44, "server": 56}), ["server-think"])

    def test_an_alternative_cause_counts_as_the_category(self):
        parts = {"client-unread": 80, "carrying": 20}
        self.assertEqual(referee.accepted(parts), ["client-think", "zero-window", "receive-window"])
        self.assertAlmostEqual(referee.moved(parts, {"zero-window": 0.8, "bandwidth": 0.2}), 0)
        self.assertAlmostEqual(referee.moved(parts, {"timeout": 0.8, "bandwidth": 0.2}), 80)


def smb(command, way, offset, size, mid=1, words=b"", response=False, first=0):
    head = b"\0" + (size - 4).to_bytes(3, "big") + b"\xffSMB" + bytes([command]) + bytes(4) + bytes([0x80 * response]) + bytes(16)
    head += struct.pack("<HHH", 7, 1, mid) + bytes([len(words) // 2]) + words
    return Message(first, offset, size, 0, 0, way, head)


def andx(fid):
    return struct.pack("<BBHH", 0xFF, 0, 0, fid) + bytes(20)


class Messages(unittest.TestCase):
    def test_responses_belong_to_the_requests_of_their_mid(self):
        asked = [smb(0x2E, UP, 60 * at, 60, mid=at, words=andx(5), first=at) for at in range(3)]
        answers = [smb(0x2E, DOWN, 500 * at, 500, mid=mid, response=True, first=10 + at) for at, mid in enumerate((2, 0, 1))]
        found = account.exchanges(asked + answers)
        self.assertEqual([exchange.response.first for exchange in found], [11, 12, 10])

    def test_a_raw_read_is_answered_by_a_message_without_a_header(self):
        raw = Message(2, 0, 40_000, 0, 0, DOWN, bytes(88))
        found = account.exchanges([smb(account.READ_RAW, UP, 0, 60, words=struct.pack("<H", 9) + bytes(18), first=1), raw])
        self.assertIs(found[0].response, raw)
        self.assertEqual(found[0].fid, 9)

    def test_data_of_a_raw_write_is_answered_only_if_it_is_written_through(self):
        for mode, answered in ((0, False), (1, True)):
            words = struct.pack("<H", 9) + bytes(12) + struct.pack("<H", mode) + bytes(8)
            found = account.exchanges([
                smb(account.WRITE_RAW, UP, 0, 64, words=words, first=1), smb(account.WRITE_RAW, DOWN, 0, 40, response=True, first=2),
                Message(3, 64, 30_000, 0, 0, UP, bytes(88)), smb(0x20, DOWN, 40, 40, response=True, first=4)])
            self.assertIsNotNone(found[0].response)
            self.assertEqual(found[1].response is not None, answered)

    def test_the_copy_is_from_the_open_to_the_close_of_the_file_that_moved_most(self):
        opened = smb(0xA2, DOWN, 0, 140, words=struct.pack("<BBHBH", 0xFF, 0, 0, 0, 5) + bytes(60), mid=1, response=True, first=1)
        found = account.exchanges([
            smb(0xA2, UP, 0, 100, mid=1, first=0), opened, smb(0x2E, UP, 0, 60, mid=2, words=andx(5), first=2),
            smb(0x2E, DOWN, 0, 5_000, mid=2, response=True, first=3), smb(0x04, UP, 0, 45, mid=3, words=struct.pack("<HI", 5, 0), first=4),
            smb(0x04, DOWN, 0, 39, mid=3, response=True, first=5), smb(0x71, UP, 0, 39, mid=4, first=6)])
        first, last, to_server = account.copy_of(found)
        self.assertEqual((first.command, last.command, to_server), (0xA2, 0x04, False))


def packet(sent, way, seq, size, flags=16, before=0, took=1, after=5, ack=0, fate=0):
    """A packet of the connection of port 40000. Its queue is empty."""
    queued = sent + before
    ports = (40_000, 445) if way == UP else (445, 40_000)
    return Packet(sent, queued, queued, queued + took, queued + took + after, seq, ack, size, size + 52, *ports, 64, 0, way, fate, flags, 0, 0)


def probe(at, way, nxt, una, cwnd, window):
    here, there = ("a:40000", "b:445") if way == UP else ("b:445", "a:40000")
    return Probe(at, here, there, f"sock{way}", nxt, una, cwnd, window)


def connection(before, lost=False, stacks=None):
    """A client that offers two segments at 100 with room for one in its congestion window, 10 from a queue at a distance of `before`."""
    ack_at = 100 + 2 * before + 12
    packets = [packet(0, UP, 999, 0, flags=2, before=before), packet(1, DOWN, 4_999, 0, flags=18, before=before),
               packet(100, UP, 1_000, 1_448, before=before, fate=2 if lost else 0), packet(ack_at - before - 6, DOWN, 5_000, 0, before=before, ack=2_448),
               packet(ack_at, UP, 2_448, 1_448, before=before)]
    if lost:
        packets.append(packet(400, UP, 1_000, 1_448, before=before))
    probes = [probe(50, UP, 1_000, 1_000, 1, 60_000), probe(60, DOWN, 5_000, 5_000, 10, 60_000), probe(ack_at, UP, 2_448, 1_000, 1, 60_000),
              probe(900, UP, 3_896, 3_896, 10, 60_000)]
    calls = [Call(100, "send", f"sock{UP}", 2_896, 2_896, 100)]
    known = account.Account(40_000, packets, [], calls, probes, [], {"client": "a", "server": "b"}, {UP: {}, DOWN: {}}, stacks)
    return known.build()


class Accounts(unittest.TestCase):
    def test_a_blocked_sender_counts_from_when_the_link_lacks_its_packet(self):
        for before in (0, 20):
            parts = referee.partition(connection(before), 100, 100 + 2 * before + 12 + before, to_server=True)
            self.assertEqual(parts["carrying"], 1)
            self.assertEqual(parts["round-trips"] + parts["metadata"], before)
            self.assertEqual(parts["slow-start"], 2 * before + 11)

    def test_a_loss_counts_from_when_the_packet_was_expected(self):
        events = connection(0, lost=True)
        self.assertEqual([(at, value) for at, way, field, value in events if field == "hole+"], [(106, "probe")])
        self.assertEqual([(at, value) for at, way, field, value in events if field == "hole-"], [(406, "probe")])


LOG = [(100, "offered", 2_896), (100, "taken", 1_448), (110, "cwnd", 1_448), (112, "taken", 2_896)]  # of the same client, by its programs


class UserSpace(unittest.TestCase):
    def test_a_log_of_the_program_says_what_the_kernel_would(self):
        for before in (0, 20):
            end = 100 + 2 * before + 12 + before
            log = [(at + 2 * before * (at == 112), kind, value) for at, kind, value in LOG]
            by_kernel, by_log = (referee.partition(connection(before, stacks=stacks), 100, end, True) for stacks in (None, {UP: log}))
            self.assertEqual(by_kernel["carrying"], by_log["carrying"])
            self.assertEqual(sum(by_kernel.values()), sum(by_log.values()))

    def test_what_the_send_buffer_does_not_take_waits_for_it(self):
        parts = referee.partition(connection(0, stacks={UP: LOG[:2]}), 100, 112, True)
        self.assertEqual(parts, {"carrying": 1, "send-buffer": 11})

    def test_the_congestion_window_that_lwip_tells_blocks_its_sender(self):
        parts = referee.partition(connection(0, stacks={UP: [LOG[0], (100, "taken", 2_896), (100, "cwnd", 1_448)]}), 100, 112, True)
        self.assertEqual(parts, {"carrying": 1, "slow-start": 11})

    def test_the_receive_window_is_that_of_the_packets_which_arrived(self):
        events = connection(0, stacks={UP: LOG})
        self.assertIn((112, UP, "edge", 1_448 + 64), events)
        self.assertNotIn("edge", {field for at, way, field, _ in events if way == UP and at not in (7, 112)})

    def test_three_duplicate_acks_make_a_recovery_until_all_is_acknowledged(self):
        data = [(at, 1_000 * at, 1_000 * at + 1_000) for at in range(6)] + [(24, 1_000, 2_000)]
        acks = [(20, 1_000, 0), (21, 1_000, 0), (22, 1_000, 0), (23, 1_000, 0), (40, 6_000, 0)]
        self.assertEqual(list(user_space.states(data, acks)), [(24, user_space.RECOVERY), (40, user_space.OPEN)])

    def test_a_repetition_without_an_ack_before_it_is_the_timers(self):
        data = [(at, 1_000 * at, 1_000 * at + 1_000) for at in range(3)] + [(500 * MS, 1_000, 2_000), (520 * MS, 2_000, 3_000)]
        acks = [(20, 1_000, 0), (520 * MS - 1, 2_000, 0), (540 * MS, 3_000, 0)]
        self.assertEqual(list(user_space.states(data, acks)), [(500 * MS, user_space.LOSS), (540 * MS, user_space.OPEN)])


class Streams(unittest.TestCase):
    def test_received_ranges_are_as_a_set_of_bytes_has_them(self):
        for seed in range(SEEDS):
            rng, received, have = random.Random(seed), account.Received(), set()
            for _ in range(40):
                begin = rng.randrange(100)
                end = begin + rng.randrange(1, 20)
                # what covers two known ranges and nothing else is called new: it costs nothing but a shade of accuracy
                if received.take(begin, end) is False:
                    self.assertLessEqual(set(range(begin, end)), have)
                have |= set(range(begin, end))
                self.assertEqual(received.next, next(at for at in range(1_000) if at not in have))

    def test_sequence_numbers_wrap(self):
        self.assertEqual(account.unwrapped(5, 2**32 - 10), 15)
        self.assertEqual(account.unwrapped(2**32 - 11, 2**32 - 10), -1)


class Scenarios(unittest.TestCase):
    def test_a_seed_gives_the_same_copies(self):
        self.assertEqual(scenario.choose(3, 50), scenario.choose(3, 50))
        self.assertNotEqual(scenario.choose(3, 50), scenario.choose(4, 50))

    def test_half_of_the_copies_are_of_held_out_families(self):
        for count in (50, 300):
            self.assertEqual(sum(scenario.held_out(one.family) for one in scenario.choose(3, count)), count // 2)
        self.assertAlmostEqual(sum(scenario.held_out(one.family) for one in pairs.choose(3, 24, ())), 12, delta=3)

    def test_a_deeper_queue_is_tried_where_it_is_recommended(self):
        way = {"rate": 8_000_000, "queue_bytes": 20_000}
        to = scenario.Scenario("", 0, up=way, down=way)
        queued = lambda *recommended: [after.down["queue_bytes"] for name, _, after in pairs.changed(to, recommended) if name == "a deeper queue"]
        self.assertEqual(queued(), [])
        self.assertEqual(queued("losses-on-the-way"), [300_000])
        deep = {"rate": 8_000_000, "queue_bytes": 400_000}
        self.assertIsNone(pairs.deeper(scenario.Scenario("", 0, up=deep, down=deep), True))

    def test_changes_that_bring_about_the_same_are_equally_good(self):
        times = {"a": 0.93, "b": 0.97, "c": 1.2, "d": 2.8}
        self.assertEqual(pairs.as_good_as_best(times, 2.85), ["a", "b"])
        # what brings less than 5 % is no improvement, however close to the best
        self.assertEqual(pairs.as_good_as_best({"a": 2.66, "b": 2.72}, 2.85), ["a"])
        self.assertEqual(pairs.as_good_as_best({"a": 2.84}, 2.85), [])

    def test_no_family_has_the_name_of_another(self):
        names = [*families.FAMILIES, *far_families.FAMILIES, *held_families.FAMILIES]
        self.assertEqual(len(names), len(set(names)))

    def test_no_family_of_that_name_is_no_copy(self):
        self.assertEqual(pairs.choose(3, 5, (), part="no such family"), [])
        self.assertEqual(scenario.choose(3, 5, lambda name: False), [])

    def test_development_takes_no_held_out_family(self):
        self.assertFalse([one for one in pairs.choose(3, 30, (), development=True) if scenario.held_out(one.family)])
        self.assertFalse([one for one in scenario.choose(3, 30, lambda name: not scenario.held_out(name)) if scenario.held_out(one.family)])

    def test_a_prediction_at_the_server_gets_the_round_trip_that_it_cannot_see(self):
        before = types.SimpleNamespace(wall_s=2.0, scenario=scenario.Scenario("", 0, up={"before": 30_000_000}, down={"after": 30_000_000}))
        shifted = lambda wall_s: [round(one, 3) for one in pairs.as_at_client([0.5, 0.6, 0.8], wall_s, before)]
        self.assertEqual(shifted(1.95), [0.55, 0.65, 0.85])
        self.assertEqual(shifted(1.0), [0.56, 0.66, 0.86])
        self.assertEqual(shifted(2.5), [0.5, 0.6, 0.8])
        self.assertIsNone(pairs.as_at_client(None, 1.95, before))

    def test_advice_about_a_receive_buffer_is_about_the_end_that_receives_the_file(self):
        buffers = {"client_rmem": 9000, "server_rmem": 9000}
        for verb, end in (("get", "client"), ("put", "server")):
            advice = {name: said for name, said, _ in pairs.changed(scenario.Scenario("", 0, verb=verb, **buffers)) if said}
            self.assertEqual([name for name in advice if name.startswith("receive buffer")], [f"receive buffer of the {end}"])

    def test_larger_requests_are_tried_if_they_are_recommended(self):
        names = lambda *recommended: [name for name, *_ in pairs.changed(scenario.Scenario("", 0, raw=True, offer_signing=False), recommended)]
        self.assertEqual(names(), [])
        self.assertEqual(names("samba-larger-requests"), ["larger requests"])
        self.assertEqual(names("program-larger-blocks"), [])

    def test_every_family_draws_what_its_programs_can_do(self):
        for name in scenario.FAMILIES:
            for seed in range(30):
                drawn = scenario.draw(name, seed)
                self.assertIn(drawn.client, scenario.WORKS_WITH[drawn.server])
                self.assertTrue(scenario.SMALLEST <= drawn.bytes <= scenario.LARGEST)
                if drawn.server_read_us or drawn.server_write_us or drawn.server_sync_us:
                    self.assertEqual(drawn.server, "smbd")


if __name__ == "__main__":
    unittest.main()

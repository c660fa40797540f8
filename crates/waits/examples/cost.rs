//! Feeds an account with small reads, as a server does; for counting instructions:
//! `valgrind --tool=callgrind target/debug/examples/cost 100000`, and with another number to leave out the start.

use coax_waits::{Kernel, Meter, Request};
use coax_wire::time::{Span, Time};

/// Time between two requests of a fast client, ns.
const BETWEEN: u64 = 50_000;

fn main() {
    let count = std::env::args().nth(1).and_then(|count| count.parse().ok());
    let mut read = [0_u8; 55];
    read[..5].copy_from_slice(b"\xffSMB\x2e");
    read[32] = 10;
    let kernel = Kernel {
        rtt: Span(100_000),
        min_rtt: Span(50_000),
        mss: 1460,
        ..Kernel::default()
    };
    let (mut meter, mut looks) = (Meter::new(Time(0)), 0_u64);
    for number in 0..count.unwrap_or(1_000_000) {
        let now = Time(number * BETWEEN);
        if meter.received(now, read.len(), true) {
            meter.sample(now, kernel);
            looks += 1;
        }
        meter.request(now, Request::of(&read));
        meter.served(Time(now.0 + 5_000), false);
        if meter.handed_slowly(Time(now.0 + 10_000)) {
            looks += 1;
        }
        meter.handed(Time(now.0 + 10_000), 128, true, None);
    }
    println!(
        "{looks} looks at the kernel, {:?}",
        meter.copy().map(|copy| copy.bytes)
    );
}

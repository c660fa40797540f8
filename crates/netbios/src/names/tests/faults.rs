//! Loss, duplication, reordering and delay, from seeds.

use super::wins::{Fate, Internet};
use super::*;
use crate::NodeType;

const WINS: Ipv4Addr = Ipv4Addr::new(10, 0, 9, 1);

/// A challenge that is lost three times gives a name to a second owner. When the links are good again, the first one
/// learns that at its next refresh.
#[test]
fn a_name_has_one_owner_after_the_links_were_bad() {
    for seed in 0..60 {
        let mut net = Internet::new(&[WINS]);
        net.server(0).set_max_ttl(1200);
        net.fate = Fate {
            seed,
            lose: 15,
            duplicate: 20,
            delay: 50,
        };
        let hosts: Vec<Ipv4Addr> = (1..=4).map(|n| Ipv4Addr::new(10, 0, n / 3, n)).collect();
        for (order, host) in hosts.iter().enumerate() {
            net.join("TOWER", *host, NodeType::Hybrid);
            net.run(order as u64 * 700);
        }
        net.run(100_000);
        net.fate = Fate::default();
        net.run(2_000_000);
        let tower = name("TOWER<20>");
        let owners: Vec<Ipv4Addr> = (hosts.iter().copied())
            .filter(|host| net.node(*host).owns(&tower))
            .collect();
        assert_eq!(owners.len(), 1, "seed {seed}: {owners:?}");
        let now = net.now;
        assert_eq!(net.server(0).addresses(now, &tower), owners, "seed {seed}");
        let members = hosts.iter();
        let members = members.filter(|h| net.node(**h).owns(&name("WORKGROUP")));
        assert_eq!(members.count(), 4, "seed {seed}");
    }
}

#[test]
fn the_same_seed_gives_the_same_history() {
    let history = || {
        let mut net = Internet::new(&[WINS]);
        net.fate = Fate {
            seed: 5,
            lose: 20,
            duplicate: 20,
            delay: 50,
        };
        for n in 1..=3 {
            net.join("TOWER", Ipv4Addr::new(10, 0, 0, n), NodeType::Mixed);
        }
        net.run(100_000);
        (net.events, net.to_wins)
    };
    assert_eq!(history(), history());
}

//! Compares three receive windows of a DOS client over one link: `cargo run -p coax-lab --example experiment`.

use coax_lab::{
    scenario::Scenario,
    smb::{CopySetup, copy},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for window in [1460, 2920, 8760] {
        let mut scenario = Scenario::new("windows of a DOS client");
        for change in [
            "client.profile=ms-net-3.11-full",
            "client.stack=ms-tcpip-1.0a",
            "client.machine=virtual-dos",
            "direction=to-client",
            "size=2MB",
            &format!("client.stack.receive_window={window}"),
        ] {
            scenario.set_text(change)?;
        }
        let result = copy(&CopySetup::of(&scenario)?);
        result.copied?;
        println!(
            "window {window:5} bytes: {:7.3} s, mostly {}",
            result.took.0 as f64 / 1e9,
            result.account.dominant().name()
        );
    }
    Ok(())
}

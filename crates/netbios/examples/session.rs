//! A session between a client and a server in memory: `cargo run -p coax-netbios --example session`.

use std::error::Error;

use coax_netbios::{Accept, Session, SessionConfig, Transport};
use coax_wire::{
    nbt::name::{NbName, ScopedName},
    time::Time,
};

fn main() -> Result<(), Box<dyn Error>> {
    let name = |text: &[u8], suffix| -> Result<ScopedName, Box<dyn Error>> {
        Ok(ScopedName {
            name: NbName::new(text, suffix)?,
            scope: Default::default(),
        })
    };
    let (called, calling) = (name(b"SERVER", 0x20)?, name(b"CLIENT", 0)?);
    let config = SessionConfig::default();
    let mut client = Session::client(Time(0), Transport::Nbt139, called, calling, config);
    let mut server = Session::server(Time(0), Transport::Nbt139, Accept::Any, config);

    let request = client.poll_transmit().ok_or("no session request")?;
    println!("client: session request, {} bytes", request.len());
    server.handle_bytes(Time(1), &request);
    let answer = server.poll_transmit().ok_or("no answer")?;
    println!("server: session response {:02x?}", answer);
    client.handle_bytes(Time(2), &answer);
    assert!(client.is_established() && server.is_established());

    let message = b"a message";
    let mut bytes = client.header_for(message.len())?.to_vec();
    bytes.extend(message);
    server.handle_bytes(Time(3), &bytes);
    let received = server.poll_message().ok_or("no message")??;
    println!("server: received {:?}", String::from_utf8_lossy(received));
    server.consume();
    Ok(())
}

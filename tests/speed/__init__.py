"""`coax speed` with netcat, with itself, and beside iperf3."""

"""smbtorture as a judge of the server."""

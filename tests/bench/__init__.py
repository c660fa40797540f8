"""coax and smbd, paired, on the same work."""

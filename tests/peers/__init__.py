"""The clients others wrote, run against a server: coax, or Samba's smbd as the yardstick."""

"""Every redirector the client can be, against every server there is to be had."""

"""One module a client; each names its rows of the matrix in ROWS."""

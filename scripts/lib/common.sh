# shellcheck shell=bash
# Sourced by every script here: strict mode, the repository's root, and how our Python modules are run.
set -euo pipefail

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)"
export ROOT
export PEERS_DIR="${PEERS_DIR:-$ROOT/target/peers}"

# The interpreter of the virtual environment with the Python peers; the system's when it was not installed yet.
peers_python() {
    if [ -x "$PEERS_DIR/venv/bin/python" ]; then echo "$PEERS_DIR/venv/bin/python"; else command -v python3; fi
}

# What a fresh machine may lack before Python can take over. Needs root, as every package does.
apt_get() { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "$@"; }

# run_module NAME ARGS...: runs tests/NAME as a Python module.
run_module() {
    cd "$ROOT"
    command -v python3 >/dev/null || apt_get python3
    PYTHONPYCACHEPREFIX="$ROOT/target/pycache" PYTHONPATH="$ROOT/tests" exec "$(peers_python)" -m "$@"
}

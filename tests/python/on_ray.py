"""coax.ray with Ray's workers, in the environment of a user who installs coax[ray]."""
import sys

from python import main

if __name__ == "__main__":
    sys.exit(main.main([*main.PACKAGES, "ray[data]>=2.40", "pandas"], ("ray",)))

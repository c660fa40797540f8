"""The notebook of examples/, in the environment of a user who installs it with Jupyter."""
import sys

from python import main

if __name__ == "__main__":
    sys.exit(main.main(["pytest==9.*", "pyarrow>=15", "matplotlib", "nbclient", "nbformat", "ipykernel"], ("notebook",)))

"""The notebook runs, and draws what it promises."""
import os
from pathlib import Path

import nbclient
import nbformat

ROOT = Path(os.environ["COAX_ROOT"])


def test_the_notebook_runs_without_an_error_and_has_a_plot_of_each_table():
    notebook = nbformat.read(ROOT / "examples" / "tables.ipynb", as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells), "the notebook in the repository has outputs"
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT / "examples")}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert outputs and not [output for output in outputs if output.output_type == "error"]
    shown = [output for output in outputs if output.output_type in ("display_data", "execute_result")]
    plots = [output for output in shown if "image/png" in output.data]
    frames = [output for output in shown if "<iframe srcdoc" in output.data.get("text/html", "")]
    assert len(plots) >= 4 and len(frames) == 1, (len(plots), len(frames))
    assert not [output for output in outputs if output.get("name") == "stderr" and "Warning" in output.text]

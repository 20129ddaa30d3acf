"""The notebook runs from its first cell to its last, and draws what it says."""

import base64
import os
import unittest
from pathlib import Path

from common import ScratchTest, need

NOTEBOOK = Path(__file__).resolve().parents[2] / "python" / "examples" / "tour.ipynb"


@need("nbconvert", "ipykernel", "numpy", "pandas", "matplotlib")
class NotebookTest(ScratchTest):
    def test_tour(self):
        import nbformat
        from nbconvert import HTMLExporter
        from nbconvert.preprocessors import ExecutePreprocessor

        notebook = nbformat.read(NOTEBOOK, as_version=4)
        self.assertEqual([cell for cell in notebook.cells if cell.get("outputs")], [], "it is kept without outputs")
        executor = ExecutePreprocessor(timeout=500, kernel_name="python3")
        executor.preprocess(notebook, {"metadata": {"path": self.folder}})

        outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
        self.assertEqual([output for output in outputs if output.output_type == "stream" and output.name == "stderr"], [])
        pictures = [output.data["image/png"] for output in outputs if "image/png" in output.get("data", {})]
        self.assertEqual(len(pictures), 4)
        html, _ = HTMLExporter().from_notebook_node(notebook)
        # For who wants to look at it.
        if keep := os.environ.get("NEARFAR_KEEP_NOTEBOOK"):
            Path(keep, "tour.html").write_text(html)
            for number, picture in enumerate(pictures):
                Path(keep, f"tour-{number}.png").write_bytes(base64.b64decode(picture))
        tables = [output for output in outputs if "text/html" in output.get("data", {})]
        self.assertGreaterEqual(len(tables), 4)


if __name__ == "__main__":
    unittest.main()

"""The progress bar: on a terminal in its place, elsewhere silent but for runs that failed."""

import io
import unittest
from contextlib import redirect_stderr

from nearfar.progress import ProgressBar, bar


class Terminal(io.StringIO):
    def isatty(self):
        return True


class ProgressTest(unittest.TestCase):
    def tell(self, stream):
        with redirect_stderr(stream):
            shown = ProgressBar()
            shown(4, 1, 0, [("MT", 0.5, 2.0), ("PR", 0.5, 1.0)], 150, "")
            shown(4, 2, 1, [], 0, "PR small: failed: it took longer than 1 s")
            shown.close()
        return stream.getvalue()

    def test_is_filled_to_an_eighth(self):
        self.assertEqual(bar(0).strip(), "")
        self.assertEqual(bar(0.5), "█" * 15 + " " * 15)
        self.assertEqual(bar(0.51), "█" * 15 + "▎" + " " * 14)
        self.assertEqual(bar(2), "█" * 30)

    def test_on_a_terminal(self):
        text = self.tell(Terminal())
        self.assertIn("█" * 15 + " " * 15 + " 1/4 runs, 2 under way, about 2 min left", text)
        self.assertIn("nearfar: PR small: failed: it took longer than 1 s\n", text)
        self.assertIn(" 3/4 runs, 1 failed", text)
        self.assertTrue(text.endswith("\r\033[K"), "nothing is left behind")

    def test_elsewhere(self):
        self.assertEqual(self.tell(io.StringIO()), "nearfar: PR small: failed: it took longer than 1 s\n")


if __name__ == "__main__":
    unittest.main()

"""Figures have what is measured, and its error bars."""

import unittest

import nearfar
from common import TINY, ScratchTest, need


@need("matplotlib")
class PlotTest(ScratchTest):
    def setUp(self):
        super().setUp()
        import matplotlib

        matplotlib.use("agg")

    def test_bars_are_speedups(self):
        comparison = nearfar.compare(
            ["MT", "FIR"],
            size="small",
            param={"width": 64, "n": 1024},
            vary={"gpus": [1, 2, 4]},
            repeat=3,
            progress=False,
        )
        axes = nearfar.plot.bars(comparison)
        drawn = [bar.get_height() for container in axes.containers if hasattr(container, "patches") for bar in container]
        wanted = []
        for variant in comparison.variants[1:]:
            wanted += [comparison.speedup(workload, variant).speedup for workload in comparison.workloads]
            wanted.append(comparison.geometric_means[variant].speedup)
        self.assertEqual(drawn, wanted)
        self.assertEqual([each.get_text() for each in axes.get_xticklabels()], ["MT", "FIR", "geometric\nmean"])
        bars = [container for container in axes.containers if hasattr(container, "patches")]
        self.assertTrue(all(container.errorbar is not None for container in bars))

    def test_lines_are_a_sweep(self):
        results = nearfar.sweep("MT", vary={"link.bandwidth": ["128GB/s", "64GB/s"]}, repeat=2, **TINY, progress=False)
        axes = nearfar.plot.lines(results, "set.link.bandwidth")
        self.assertEqual([each.get_text() for each in axes.get_xticklabels()], ["128GB/s", "64GB/s"])
        means = [(results[0].cycles + results[1].cycles) / 2, (results[2].cycles + results[3].cycles) / 2]
        self.assertEqual(list(axes.containers[0].lines[0].get_ydata()), means)
        axes = nearfar.plot.lines(results, "set.link.bandwidth", speedup=True)
        self.assertEqual(axes.containers[0].lines[0].get_ydata()[0], 1)
        with self.assertRaisesRegex(nearfar.InputError, "The machine has no parameter `link.bandwith`"):
            nearfar.plot.lines(results, "set.link.bandwith")


if __name__ == "__main__":
    unittest.main()

"""Runs from Python are those of the command line, bit for bit, and their mistakes have its sentences."""

import json
import os
import sqlite3
import subprocess
import sys
import unittest
from unittest import mock

import nearfar
from common import TINY, TINY_WORDS, ScratchTest, command, complaint, need

SILENT = {"progress": False}
HOST = ("host_seconds", "peak_rss_bytes")


def simulated(text):
    """All of a result but how long it took."""
    return {name: value for name, value in json.loads(text).items() if name not in HOST}


class RunTest(ScratchTest):
    def test_is_the_run_of_the_command_line(self):
        settings = {"gpus": 2, "gpu.l2.size": "1MiB", "gpu.l2.remote_lookup": False}
        result = nearfar.run("MT", system="mmu-4gpu", design="first-touch", set=settings, seed=3, **TINY, **SILENT)
        words = ["--set", "gpus=2", "--set", "gpu.l2.size=1MiB", "--set", "gpu.l2.remote_lookup=false", "--seed", "3"]
        code, out, err = command(
            "run", "MT", "--system", "mmu-4gpu", "--design", "first-touch", *words, *TINY_WORDS, "--json", "-"
        )
        self.assertEqual(code, 0, err)
        self.assertEqual(simulated(result.text), simulated(out))
        self.assertEqual(result.key, json.loads(out)["key"])
        self.assertEqual(result["run.cycles"], result.cycles)
        self.assertEqual((result.workload, result.size, result.system), ("MT", "small", "mmu-4gpu"))
        self.assertEqual((result.design, result.seed), ("first-touch", 3))

    def test_is_made_once_and_kept_in_the_store(self):
        first = nearfar.run("MT", **TINY, **SILENT)
        with mock.patch("nearfar.runs.program_path", return_value="/no/such/program"):
            again = nearfar.run("MT", **TINY, **SILENT)
        self.assertEqual(first.text, again.text)
        self.assertEqual([each.key for each in nearfar.read_store()], [first.key])

    def test_keeps_nothing_without_a_store(self):
        nearfar.run("MT", store=None, **TINY, **SILENT)
        nearfar.run("MT", check=True, **TINY, **SILENT)
        self.assertEqual(os.listdir(self.folder), [])

    def test_takes_statistics_of_single_units(self):
        result = nearfar.run("MT", per_unit=True, threads=2, **TINY, **SILENT)
        self.assertTrue(any(name.startswith("gpu0.cu0.") for name in result.statistics))
        self.assertEqual(result.json["threads"], 2)

    def test_mistakes_have_the_sentences_of_the_command_line(self):
        for words, arguments in {
            ("MTT",): {"workload": "MTT"},
            ("MT", "--system", "mmu-4gp"): {"system": "mmu-4gp"},
            ("MT", "--design", "idyl"): {"design": "idyl"},
            ("MT", "--set", "gpu.l2.sise=1MiB"): {"set": {"gpu.l2.sise": "1MiB"}},
            ("MT", "--set", "gpus=0"): {"set": {"gpus": 0}},
            ("MT", "--size", "smal"): {"size": "smal"},
            ("MT", "--param", "widht=64"): {"param": {"widht": 64}},
            ("MT", "--timing", "none"): {"timing": "none"},
            ("MT", "--input", "x"): {"input": "x"},
            ("trace:nowhere.nft",): {"workload": "trace:nowhere.nft"},
        }.items():
            arguments = {"workload": "MT", **arguments}
            with self.assertRaises(nearfar.InputError, msg=words) as raised:
                nearfar.run(arguments.pop("workload"), **arguments, **SILENT)
            self.assertEqual(str(raised.exception), complaint("run", *words))
            self.assertIsInstance(raised.exception, ValueError)

    def test_a_mistake_in_an_input_is_found_before_the_run(self):
        with open(self.file("bad.gr"), "w") as file:
            file.write("p sp 2 1\na 1 3 1\n")
        with self.assertRaises(nearfar.InputError) as raised:
            nearfar.run("SSSP", size="small", input=self.file("bad.gr"), **SILENT)
        self.assertEqual(str(raised.exception), complaint("run", "SSSP", "--size", "small", "--input", self.file("bad.gr")))

    def test_a_run_that_fails_is_an_exception(self):
        with self.assertRaisesRegex(nearfar.SimulationError, "it took longer than 0.001 s"):
            nearfar.run("MT", timeout=0.001, **SILENT)

    def test_a_store_that_is_none_is_an_exception(self):
        with open(self.file("a.db"), "w") as file:
            file.write("no database, whatever its name says")
        with self.assertRaises(nearfar.StoreError):
            nearfar.run("MT", store=self.file("a.db"), **TINY, **SILENT)

    def test_a_run_that_crashes_does_not_end_python(self):
        crashing = self.file("crashing")
        with open(crashing, "w") as file:
            file.write("#!/bin/sh\nkill -SEGV $$\n")
        os.chmod(crashing, 0o755)
        with mock.patch.dict(os.environ, {"NEARFAR_PROGRAM": crashing}):
            with self.assertRaisesRegex(nearfar.SimulationError, "ended by signal 11"):
                nearfar.run("MT", **TINY, **SILENT)

    def test_ctrl_c_ends_it_in_good_order(self):
        script = "import nearfar; nearfar.run('MT', size='paper', progress=lambda *a: print('ready', flush=True))"
        with subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(2)
            _, err = process.communicate(timeout=60)
        self.assertIn("KeyboardInterrupt", err)

    def test_an_exception_of_the_listener_ends_the_run(self):
        def listener(*_):
            raise ZeroDivisionError

        with self.assertRaises(ZeroDivisionError):
            nearfar.run("MT", progress=listener, **TINY)

    def test_a_statistic_that_is_none_names_the_nearest(self):
        result = nearfar.run("MT", **TINY, **SILENT)
        with self.assertRaisesRegex(nearfar.InputError, "Did you mean `gpus.l2.reads`?"):
            result["gpus.l2.raeds"]

    def test_an_application_of_a_mix_has_a_result(self):
        param = {"MT.width": 64, "FIR.n": 1024}
        result = nearfar.run("FIR+MT", size="small", param=param, set={"gpus": 2}, **SILENT)
        fir, mt = result.applications
        self.assertEqual((fir["workload"], mt["workload"]), ("FIR", "MT"))
        for i, each in enumerate(result.applications):
            for what in ("cycles", "instructions", "accesses", "launches"):
                self.assertEqual(each[what], result[f"app{i}.{what}"])
                self.assertGreater(each[what], 0)


class SweepTest(ScratchTest):
    def test_is_every_combination_in_order(self):
        heard = []
        results = nearfar.sweep(
            ["MT"],
            design=["baseline"],
            vary={"gpus": [1, 2], "param.width": [64, 128]},
            size="small",
            seed=[1, 2],
            progress=lambda *what: heard.append(what),
        )
        found = [(each.seed, each.configuration["gpus"], each.parameters["width"]) for each in results]
        self.assertEqual(
            found, [(seed, gpus, width) for seed in (1, 2) for gpus in ("1", "2") for width in (64, 128)]
        )
        self.assertEqual(heard[-1][:3], (8, 8, 0))

    def test_has_as_dictionaries_what_export_writes(self):
        results = nearfar.sweep("MT", vary={"gpus": [1, 2]}, repeat=2, **TINY, **SILENT)
        code, out, err = command("export", "--jsonl", "-", cwd=self.folder)
        self.assertEqual(code, 0, err)
        lines = [json.loads(line) for line in out.splitlines()]
        self.assertEqual(results.dicts(), lines)
        self.assertEqual(nearfar.read_store(self.file("nearfar.db")).dicts(), lines)
        self.assertEqual([(each["set.gpus"], each["set.perturb.draw"]) for each in lines], [(1, 0), (1, 1), (2, 0), (2, 1)])

    @need("pandas")
    def test_has_a_frame(self):
        results = nearfar.sweep("MT", vary={"gpus": [1, 2]}, **TINY, **SILENT)
        frame = results.frame()
        self.assertEqual(list(frame["set.gpus"]), [1, 2])
        self.assertEqual(list(frame["cycles"]), [each.cycles for each in results])
        self.assertEqual(list(frame["gpus.l2.reads"]), [each["gpus.l2.reads"] for each in results])

    def test_says_without_pandas_what_is_missing(self):
        results = nearfar.sweep("MT", **TINY, **SILENT)
        with mock.patch.dict(sys.modules, {"pandas": None}):
            with self.assertRaisesRegex(ImportError, r"needs pandas \(python3-pandas\); dicts"):
                results.frame()
        self.assertEqual(results.dicts()[0]["workload"], "MT")

    def test_names_the_runs_that_failed(self):
        with self.assertRaisesRegex(nearfar.SimulationError, "2 of 2 runs failed:\nMT medium .*gpus=1.*: it took longer"):
            nearfar.sweep("MT", vary={"gpus": [1, 2]}, timeout=0.001, **SILENT)
        with sqlite3.connect(self.file("nearfar.db")) as store:
            self.assertEqual(store.execute("SELECT count(*) FROM failures").fetchone()[0], 2)

    def test_refuses_what_makes_no_sense(self):
        for arguments, message in [
            ({"vary": {"gpus": "1,2"}}, "vary wants a list of values for `gpus`"),
            ({"vary": {"gpus": []}}, "vary wants a list"),
            ({"vary": {"gpus": [1]}, "set": {"gpus": 2}}, "both decide `gpus`"),
            ({"repeat": 0}, "repeat must be a whole number from 1 to 1000"),
            ({"repeat": 2, "set": {"perturb.draw": 1}}, "both decide `perturb.draw`"),
            ({"jobs": -1}, "jobs and timeout at least 0"),
        ]:
            with self.assertRaisesRegex(nearfar.InputError, message):
                nearfar.sweep("MT", **arguments, **SILENT)
        with self.assertRaisesRegex(nearfar.InputError, "The workload `MT` is named twice."):
            nearfar.sweep(["MT", "MT"], **SILENT)
        self.assertEqual(os.listdir(self.folder), [])


class CompareTest(ScratchTest):
    def test_is_the_comparison_of_the_command_line(self):
        param = {"width": 64, "n": 1024}
        comparison = nearfar.compare(
            ["MT", "FIR+MT"], size="small", param=param, vary={"gpus": [2, 4]}, repeat=2, **SILENT
        )
        words = ["--size", "small", "--param", "width=64", "--param", "n=1024", "--vary", "gpus=2,4", "--repeat", "2"]
        code, out, err = command("compare", "MT", "FIR+MT", *words, "--json", "-", cwd=self.folder)
        self.assertEqual(code, 0, err)
        theirs = json.loads(out)
        self.assertEqual(list(comparison.variants), theirs["variants"])
        for ours, run in zip(comparison.dicts(), theirs["runs"], strict=True):
            self.assertEqual((ours["workload"], ours["variant"]), (run["workload"], run["variant"]))
            self.assertEqual(ours["speedup"], run["speedup"])
            self.assertEqual((ours["low"], ours["high"]), (run["speedup_interval"]["low"], run["speedup_interval"]["high"]))
            self.assertEqual(comparison.result(run["workload"], run["variant"]).json, run["result"])
        applications = [each for run in theirs["runs"] for each in run.get("applications", [])]
        for ours, each in zip(comparison.application_dicts(), applications, strict=True):
            self.assertEqual((ours["application"], ours["speedup"]), (each["workload"], each["speedup"]))
        for variant, mean in theirs["geometric_means"].items():
            self.assertEqual(comparison.geometric_means[variant].speedup, mean)
        self.assertEqual(len(comparison.results), 8)

    def test_labels_what_differs(self):
        small = nearfar.System("ideal-4gpu", set={"gpus": 2})
        comparison = nearfar.compare("MT", system=[small, "mmu-4gpu"], **TINY, **SILENT)
        self.assertEqual(comparison.variants, ("ideal-4gpu", "mmu-4gpu"))
        self.assertEqual(comparison.results[0].configuration["gpus"], "2")
        with self.assertRaisesRegex(nearfar.InputError, "`baseline` is named twice; variants to compare must differ."):
            nearfar.compare("MT", design=["baseline", "baseline"], **SILENT)


if __name__ == "__main__":
    unittest.main()

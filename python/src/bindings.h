// The parts of the module `nearfar._nearfar`, which the Python files beside it are made of. Each part hands plain
// values across: texts, numbers, dictionaries, arrays.
#pragma once

#include <pybind11/pybind11.h>

namespace nearfar {

/// Workloads, systems, designs, statistics and studies, and every parameter of a system.
void bind_catalogue(pybind11::module_& module);
/// Planning runs and carrying them out in processes of their own, and what is compared of them.
void bind_runs(pybind11::module_& module);
/// The store of results, and results as a table.
void bind_store(pybind11::module_& module);
/// What a workload does to memory: as numbers, and access by access.
void bind_accesses(pybind11::module_& module);
/// Programs written in Python, as trace files.
void bind_trace_builder(pybind11::module_& module);

}  // namespace nearfar

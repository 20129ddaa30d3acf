// The module `nearfar._nearfar`. Whatever the command line would complain about is an exception with the same sentence.
#include <pybind11/pybind11.h>

#include <filesystem>
#include <string>

#include "bindings.h"
#include "cli/version.h"
#include "config/error.h"
#include "config/folder.h"
#include "sim/error.h"
#include "study/run_key.h"
#include "study/store.h"

namespace py = pybind11;

PYBIND11_MODULE(_nearfar, module) {
  using namespace nearfar;
  module.doc() = "What the package nearfar has of the simulator.";
  const auto input_error = py::register_exception<InputError>(module, "InputError", PyExc_ValueError);
  py::register_exception<StoreError>(module, "StoreError", input_error);
  py::register_exception<SimulationError>(module, "SimulationError", PyExc_RuntimeError);
  py::register_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const std::filesystem::filesystem_error& error) {
      PyErr_SetString(PyExc_OSError, (std::string(error.what()) + ".").c_str());
    }
  });
  module.def("version", [] { return std::string(version()); });
  module.def("model_version", [] { return std::string(model_version()); });
  module.def("set_program", [](const std::string& path) { set_program_file(path); });
  bind_catalogue(module);
  bind_runs(module);
  bind_store(module);
  bind_accesses(module);
  bind_trace_builder(module);
}

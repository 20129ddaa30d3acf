// The store is read here and written by runs alone.
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <filesystem>

#include "bindings.h"
#include "study/result_table.h"
#include "study/store.h"

namespace nearfar {
namespace {

namespace py = pybind11;
using namespace py::literals;

/// The complete results of a store as JSON, by workload, system, designs and size.
std::vector<std::string> read_store(const std::string& path, bool all_models) {
  const py::gil_scoped_release others_may_run;
  std::error_code error;
  if (!std::filesystem::exists(path, error) && !error) {
    throw InputError(fmt::format("There is no store `{}`; `nearfar study` or `nearfar compare` makes one.", path));
  }
  const ResultStore store = ResultStore::to_look_at(path);
  std::vector<std::string> results;
  for (const StoredResult& result : store.all(all_models)) results.push_back(store.json(result.key));
  return results;
}

py::tuple table_of(const std::vector<std::string>& results) {
  ResultTable table;
  {
    const py::gil_scoped_release others_may_run;
    ResultTableBuilder builder;
    for (const std::string& result : results) builder.add(result);
    table = builder.table();
  }
  return py::make_tuple(table.columns, table.rows);
}

}  // namespace

void bind_store(py::module_& module) {
  module.def("read_store", read_store, "path"_a, "all_models"_a);
  module.def("table_of", table_of, "results"_a);
}

}  // namespace nearfar

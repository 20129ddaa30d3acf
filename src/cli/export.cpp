// `nearfar export`: the results of a store as a table, for other programs.
#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "config/error.h"
#include "study/result_table.h"
#include "study/store.h"

namespace nearfar {
namespace {

struct ExportArguments {
  std::string store = kDefaultDatabase;
  std::string csv, json_lines;
  bool all_models = false;
};

ResultTable read_table(const ExportArguments& arguments) {
  std::error_code error;
  if (!std::filesystem::exists(arguments.store, error) && !error) {
    throw InputError(
        fmt::format("There is no store `{}`; `nearfar study` or `nearfar compare` makes one.", arguments.store));
  }
  const ResultStore store = ResultStore::to_look_at(arguments.store);
  const std::vector<StoredResult> results = store.all(arguments.all_models);
  if (results.empty()) {
    const std::size_t others = store.all(true).size();
    throw InputError(fmt::format("The store `{}` has no results{}.", arguments.store,
                                 others == 0 ? ""
                                             : fmt::format(" of this version of the model; --all-models exports the {} "
                                                           "of other versions",
                                                           others)));
  }
  ResultTableBuilder builder;
  for (const StoredResult& result : results) builder.add(store.json(result.key));
  return builder.table();
}

void export_store(const ExportArguments& arguments) {
  std::optional<OutputFile> csv, json_lines;
  // Without another place the table goes where it can be read or piped from.
  if (!arguments.csv.empty() || arguments.json_lines.empty()) csv.emplace(arguments.csv.empty() ? "-" : arguments.csv);
  if (!arguments.json_lines.empty()) json_lines.emplace(arguments.json_lines);
  check_outputs({&csv, &json_lines});
  const ResultTable table = read_table(arguments);
  if (csv) csv->write(table_csv(table));
  if (json_lines) json_lines->write(table_json_lines(table));
}

}  // namespace

Command add_export_command(CLI::App& program) {
  auto arguments = std::make_shared<ExportArguments>();
  CLI::App& app = add_command(program, "export", "Write the results of a store as CSV or JSON lines, a row a run");
  using namespace value_kind;
  add_value(app, "STORE", arguments->store, kFile, "The store of results");
  add_value(app, "--csv", arguments->csv, kFile, "Write CSV; - is standard output, where it goes if nothing is named");
  add_value(app, "--jsonl", arguments->json_lines, kFile, "Write JSON lines; - is standard output");
  add_flag(app, "--all-models", arguments->all_models, "Results of all versions of the model, not only of this one");
  return {&app, [arguments] { export_store(*arguments); }};
}

}  // namespace nearfar

// `nearfar bench-links`: what links carry of transfers of each size, by the closed form of their packets and as two
// GPUs measure it.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/output_file.h"
#include "cli/table.h"
#include "config/error.h"
#include "config/nearest.h"
#include "study/link_goodput.h"

namespace nearfar {
namespace {

const std::vector<std::string>& all_formats() {
  static const std::vector<std::string> formats = {"plain", "pcie3", "pcie4", "pcie5", "pcie6", "nvlink"};
  return formats;
}

struct BenchLinksArguments {
  std::vector<std::string> formats;
  std::string system = "finepack-4gpu";
  std::vector<std::string> overrides;
  std::string csv;
};

std::string percent_text(double share) { return fmt::format("{:.1f}", 100 * share); }

void perform_bench_links(const BenchLinksArguments& arguments) {
  const std::vector<std::string>& formats = arguments.formats.empty() ? all_formats() : arguments.formats;
  for (const std::string& format : formats) {
    if (std::ranges::find(all_formats(), format) != all_formats().end()) continue;
    throw InputError(
        fmt::format("There is no format of links `{}`.{} They are plain, pcie3, pcie4, pcie5, pcie6 and "
                    "nvlink.",
                    format, did_you_mean(format, all_formats())));
  }
  refuse_repeated("format", formats);
  refuse_set_too("FORMATS", "link.format", arguments.overrides);
  std::optional<OutputFile> file;
  if (!arguments.csv.empty()) file.emplace(arguments.csv);

  std::vector<Table::Column> columns = {{"bytes", Align::Right, Tint::Bold}};
  std::vector<SystemSpec> systems;
  for (const std::string& format : formats) {
    columns.push_back({format + " wire", Align::Right, Tint::Dim});
    columns.push_back({"form %", Align::Right});
    columns.push_back({"measured %", Align::Right});
    systems.push_back(goodput_system(arguments.system, format, arguments.overrides));
  }
  Table table(columns);
  std::string csv = "format,bytes,wire_bytes,closed_form,measured\n";
  for (const std::uint32_t bytes : goodput_sizes()) {
    std::vector<std::string> row = {grouped(bytes)};
    for (std::size_t i = 0; i < formats.size(); ++i) {
      const LinkGoodput goodput = measure_goodput(systems[i], bytes);
      row.push_back(grouped(goodput.wire_bytes));
      row.push_back(percent_text(goodput.closed_form));
      row.push_back(percent_text(goodput.measured));
      csv += fmt::format("{},{},{},{:.6f},{:.6f}\n", formats[i], bytes, goodput.wire_bytes, goodput.closed_form,
                         goodput.measured);
    }
    table.row(std::move(row));
  }
  if (file) file->write(csv);
  if (file && file->is_stdout()) return;
  write_stdout(
      fmt::format("Goodput of one direction of a link of {}, in % of its bandwidth: stores up to a line, copies "
                  "of the DMA beyond it.\n\n",
                  arguments.system) +
      table.text(Terminal::of(STDOUT_FILENO)));
}

}  // namespace

Command add_bench_links_command(CLI::App& program) {
  auto arguments = std::make_shared<BenchLinksArguments>();
  CLI::App& app = add_command(program, "bench-links", "Show what links carry of transfers of each size");
  using namespace value_kind;
  add_words(app, "FORMATS", arguments->formats, kWords, "Formats of links; without any, all");
  add_value(app, "--system", arguments->system, kSystem, "The machine that two GPUs are taken of");
  add_set_option(app, arguments->overrides);
  add_value(app, "--csv", arguments->csv, kFile, "Write all values as CSV; - is standard output");
  return {&app, [arguments] { perform_bench_links(*arguments); }};
}

}  // namespace nearfar

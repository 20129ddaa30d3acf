#include "cli/plan.h"

#include <fmt/format.h>
#include <unistd.h>

#include <map>
#include <string>

#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/table.h"
#include "study/cost.h"

namespace nearfar {
namespace {

/// "not measured: design least-tlb does not exist yet (9 runs)", one line for each reason.
std::string not_measured(const Planned& planned) {
  std::map<std::string, std::size_t> reasons;
  for (const Unmeasurable& run : planned.unmeasurable) ++reasons[run.reason];
  std::string out;
  for (const auto& [reason, runs] : reasons) {
    out += fmt::format("not measured: {} ({} run{})\n", reason, runs, runs == 1 ? "" : "s");
  }
  return out;
}

}  // namespace

void show_plan(const Planned& planned, const ResultStore& store) {
  const CostModel costs(store.known_costs());
  Table table({{"run"}, {"state"}, {"about", Align::Right}});
  std::size_t missing = 0;
  double seconds = 0;
  for (const PlannedRun& run : planned.runs) {
    if (store.contains(run.key)) {
      table.row({run_label(run.run), "done"});
      continue;
    }
    ++missing;
    seconds += costs.seconds(run);
    table.row({run_label(run.run), store.failure(run.key) ? "failed before" : "missing",
               fmt::format("{:.1f} s", costs.seconds(run))});
  }
  for (const Unmeasurable& run : planned.unmeasurable) table.row({run_label(run.run), "not measurable yet"});
  std::string last = fmt::format("{} of {} runs are missing", missing, planned.runs.size());
  if (missing > 0) last += fmt::format(": about {} on one core", duration_text(seconds));
  write_stdout(table.text(Terminal::of(STDOUT_FILENO)) + "\n" + not_measured(planned) + last + ".\n");
}

}  // namespace nearfar

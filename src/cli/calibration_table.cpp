#include "cli/calibration_table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/table.h"

namespace nearfar {
namespace {

std::string facts_text(const CalibrationSummary& summary, const Terminal& terminal) {
  Table table({{"fact"},
               {"published", Align::Right},
               {"as it is", Align::Right},
               {"chosen", Align::Right},
               {"off by", Align::Right},
               {"all readings", Align::Right},
               {"met by", Align::Right},
               {"", Align::Left, Tint::Bold}},
              2);
  for (const FactRow& row : summary.facts) {
    table.row({row.fact, row.published, row.own, row.chosen,
               row.chosen.empty() ? "" : fmt::format("{:.1f}", row.implausibility), row.readings, row.met_by,
               row.chosen.empty() ? ""
               : row.met          ? "met"
                                  : "missed"});
  }
  return table.text(terminal);
}

std::string readings_text(const CalibrationSummary& summary, const Terminal& terminal) {
  Table table({{"reading"},
               {"largest", Align::Right},
               {"mean", Align::Right},
               {"draws", Align::Right},
               {"", Align::Left, Tint::Bold},
               {"worst number"},
               {"values", Align::Left, Tint::Dim}},
              2);
  for (const ReadingRow& row : summary.readings)
    table.row({row.name, row.max, row.mean, row.draws, row.state, row.worst, row.values});
  return table.text(terminal);
}

std::string parameters_text(const CalibrationSummary& summary, const Terminal& terminal) {
  Table table(
      {{"open parameter"}, {"explains", Align::Right}, {"most of"}, {"values that remain", Align::Left, Tint::Dim}}, 2);
  for (const ParameterRow& row : summary.parameters) table.row({row.name, row.effect, row.strongest, row.remaining});
  return table.text(terminal);
}

std::string lines(const std::vector<std::string>& sentences) {
  std::string out;
  for (const std::string& sentence : sentences) out += "  " + sentence + "\n";
  return out;
}

}  // namespace

std::string calibration_table(const Calibration& calibration, const CalibrationSummary& summary,
                              const Terminal& terminal) {
  std::string out = terminal.paint(Tint::Bold, calibration.title) + "  " + summary.heading + "\n\n";
  out += facts_text(summary, terminal) + "\n" + readings_text(summary, terminal) + "\n" +
         parameters_text(summary, terminal);
  if (!summary.contradictions.empty()) out += "\n" + lines(summary.contradictions);
  if (!summary.not_judged.empty()) {
    out += fmt::format("\n  {} reading{} could not be judged:\n", summary.not_judged.size(),
                       summary.not_judged.size() == 1 ? "" : "s") +
           lines(summary.not_judged);
  }
  if (!summary.left_out.empty()) out += "\n" + lines(summary.left_out);
  return out;
}

}  // namespace nearfar

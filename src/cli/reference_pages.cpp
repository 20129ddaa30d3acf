#include "cli/reference_pages.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>

#include "cli/listed_statistics.h"
#include "cli/markdown.h"
#include "cli/numbers.h"
#include "cli/usual_system.h"
#include "cli/version.h"
#include "config/bibliography.h"
#include "config/error.h"
#include "config/schema.h"
#include "config/words.h"
#include "designs/design.h"
#include "designs/names.h"
#include "machine/system_file.h"
#include "report/claims_file.h"
#include "study/study_file.h"
#include "workload/expected.h"
#include "workload/mixes.h"
#include "workload/suites.h"

namespace nearfar {
namespace {

using markdown::code;
using markdown::plain;
using markdown::table;
using Rows = std::vector<std::vector<std::string>>;

/// Names as they are typed, with commas between.
std::string codes(const std::vector<std::string>& names) {
  std::vector<std::string> out;
  for (const std::string& name : names) out.push_back(code(name));
  return join(out, ", ");
}

std::string paper_line(std::string_view paper) {
  const std::string text = citation(paper);
  return text.empty() ? "" : fmt::format("Paper: {}.\n\n", plain(text));
}

// --- parameters

std::string parent_of(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  return dot == std::string::npos ? "" : path.substr(0, dot);
}

std::vector<std::string> parameter_row(const Parameter& parameter) {
  return {code(parameter.path), code(parameter.default_text), plain(parameter.field->range()),
          plain(parameter.sentence)};
}

const std::vector<std::string> kParameterTitles = {"parameter", "default", "values", "meaning"};

std::string parameters_page() {
  SystemSpec spec;
  const Schema schema(spec);
  std::vector<std::string> sections;
  std::map<std::string, Rows> rows;
  for (const Parameter& parameter : schema.parameters()) {
    const std::string section = parent_of(parameter.path);
    if (!rows.contains(section)) sections.push_back(section);
    rows[section].push_back(parameter_row(parameter));
  }
  std::string out =
      "# Parameters\n\nWhat a system file can set, and `--set` in one run. The default is that of a file that says "
      "nothing; what the systems set, `nearfar explain --system NAME` shows. Designs bring parameters of their own, "
      "which [stand with them](designs.md).\n";
  for (const std::string& section : sections) {
    const SectionInfo* info = schema.section(section);
    out += fmt::format("\n## {}\n\n", section.empty() ? "The whole machine" : code(section));
    if (info != nullptr && !info->sentence.empty()) out += plain(info->sentence) + "\n\n";
    out += table(kParameterTitles, rows[section]);
  }
  return out;
}

// --- statistics

/// Numbers within names count as numbers: shared_by.2 comes before shared_by.10.
bool comes_before(const StatInfo& a, const StatInfo& b) { return strverscmp(a.name.c_str(), b.name.c_str()) < 0; }

/// Statistics of all GPUs together and of each alone are one row: `gpus.l2.hits`, `gpu<g>.l2.hits`.
std::string statistics_table(std::span<const StatInfo> statistics) {
  static constexpr std::string_view kAll = "gpus.", kEach = "gpu<g>.";
  std::set<std::string> each;
  for (const StatInfo& stat : statistics) {
    if (stat.name.starts_with(kEach)) each.insert(stat.name.substr(kEach.size()));
  }
  std::set<std::string> together;
  Rows rows;
  for (const StatInfo& stat : statistics) {
    if (stat.name.starts_with(kAll)) together.insert(stat.name.substr(kAll.size()));
  }
  for (const StatInfo& stat : statistics) {
    if (stat.name.starts_with(kEach) && together.contains(stat.name.substr(kEach.size()))) continue;
    const bool both = stat.name.starts_with(kAll) && each.contains(stat.name.substr(kAll.size()));
    const std::string alone = both ? ", " + code(std::string(kEach) + stat.name.substr(kAll.size())) : "";
    rows.push_back({code(stat.name) + alone, plain(stat.unit), plain(stat.sentence)});
  }
  return table({"statistic", "unit", "meaning"}, rows);
}

/// The component: "gpus.l2" and "gpu<g>.l2" are one.
std::string component_of(const std::string& name) {
  const std::size_t first = name.find('.');
  if (first == std::string::npos) return "run";
  std::string device = name.substr(0, first);
  if (device == "gpu<g>") device = "gpus";
  const std::size_t second = name.find('.', first + 1);
  return second == std::string::npos ? device : device + name.substr(first, second - first);
}

std::string statistics_page() {
  std::map<std::string, std::vector<StatInfo>> components;
  for (const StatInfo& stat : statistics_of_runs_and_passes()) components[component_of(stat.name)].push_back(stat);
  std::string out =
      "# Statistics\n\nWhat a run reports (`--json`, `--csv`), and a pass of `nearfar functional`. In a name, `<g>` "
      "stands for the number of a GPU, and other words between `<` and `>` for what they name. `gpus.` is the sum over "
      "all GPUs. A statistic is reported where its component is there: those of a design with the design.\n";
  for (auto& [component, statistics] : components) {
    std::ranges::sort(statistics, comes_before);
    out += fmt::format("\n## {}\n\n", code(component)) + statistics_table(statistics);
  }
  return out;
}

// --- designs

std::string kind_name(TranslationKind kind) {
  switch (kind) {
    case TranslationKind::Ideal: return "ideal";
    case TranslationKind::Mmu: return "mmu";
    case TranslationKind::Ats: return "ats";
    case TranslationKind::Svm: return "svm";
    case TranslationKind::Mig: return "mig";
  }
  return "";
}

std::string parameters_of(const Design& design) {
  if (design.make == nullptr) return "";
  SystemSpec plain_spec, spec;
  spec.plug_ins.push_back(design.make());
  const Schema without(plain_spec), with(spec);
  Rows rows;
  for (const Parameter& parameter : with.parameters()) {
    if (!without.find(parameter.path)) rows.push_back(parameter_row(parameter));
  }
  return rows.empty() ? "" : "\n" + table(kParameterTitles, rows);
}

std::string statistics_of(const Design& design) {
  if (design.make == nullptr) return "";
  const std::vector<StatInfo> statistics = design.make()->statistics();
  return statistics.empty() ? "" : "\n" + statistics_table(statistics);
}

std::string storage_of(const Design& design) {
  const std::string system = usual_system(design);
  std::vector<DesignCost> costs;
  try {
    const std::vector<std::string> names{design.name};
    costs = cost_of(names, system, {});
  } catch (const InputError&) {
    return "";  // a system of the user's own in the place of the shipped one, with which the design does not go
  }
  Rows rows;
  for (const DesignCost& cost : costs) {
    for (const StorageItem& item : cost.items) {
      rows.push_back(
          {plain(item.structure), item.per_gpu ? "each GPU" : "host", grouped(item.bits), plain(item.formula)});
    }
  }
  if (rows.empty()) return "";
  return fmt::format("\nStorage on {}:\n\n", code(system)) + table({"structure", "where", "bits", "how"}, rows);
}

std::string design_section(const Design& design) {
  std::string out = fmt::format("\n## {}\n\n{}\n\n", code(design.name), plain(design.sentence));
  out += paper_line(design.paper);
  std::vector<std::string> kinds;
  for (const TranslationKind kind : design.systems) kinds.push_back(kind_name(kind));
  const auto item = [&](std::string_view what, const std::string& text) {
    if (!text.empty()) out += fmt::format("- {}: {}\n", what, text);
  };
  item("Seams", plain(join(design.seams, ", ")));
  item("Systems with `translation.kind`", codes(kinds));
  item("Needs", codes(design.needs));
  item("Sets", codes(design.settings));
  item("Is together", codes(design.parts));
  if (!design.readme.empty()) item("More", fmt::format("[{0}](../../{0})", design.readme));
  return out + parameters_of(design) + statistics_of(design) + storage_of(design);
}

std::string designs_page() {
  std::string out =
      "# Designs\n\nNamed changes to the baseline: `--design idyll`, several as `--design idyll+trans-fw`. Two that "
      "claim one seam are refused ([the seams](../add-a-design.md#the-seams)).\n";
  for (const Design& design : all_designs()) out += design_section(design);
  return out;
}

// --- systems

std::string system_section(const SystemSummary& system) {
  std::string out = fmt::format("\n## {}\n\n{}\n\n", code(system.name), plain(system.sentence));
  out += paper_line(system.paper);
  Rows rows;
  for (const EffectiveParameter& parameter : load_system(system.name, {}).parameters) {
    if (parameter.value == parameter.default_value || parameter.default_value.empty()) continue;
    rows.push_back(
        {code(parameter.path), code(parameter.value), code(parameter.default_value), plain(parameter.origin)});
  }
  return out + table({"parameter", "value", "default", "from"}, rows);
}

std::string systems_page() {
  std::string out =
      "# Systems\n\nThe machines that come with nearfar: `--system mmu-4gpu`. Each table lists what differs from the "
      "defaults, and the line of the file that says so; comments there name the source of the value. A file of your "
      "own "
      "in `./systems` is found by its name.\n";
  for (const SystemSummary& system : list_systems()) out += system_section(system);
  return out;
}

// --- workloads

std::string workload_section(const WorkloadInfo& info) {
  std::string out = fmt::format("\n## {}\n\n{} ({}). {}\n\n", code(info.name), plain(info.title), plain(info.suite),
                                plain(info.sentence));
  out += paper_line(suite_paper(info.suite));
  Rows rows;
  for (const WorkloadParameter& parameter : info.parameters) {
    rows.push_back({code(parameter.name), grouped(parameter.small), grouped(parameter.medium), grouped(parameter.paper),
                    plain(parameter.sentence)});
  }
  const auto size_row = [&](const char* title, const char* meaning, auto text) {
    std::vector<std::string> row{title};
    for (const SizeClass size : {SizeClass::Small, SizeClass::Medium, SizeClass::Paper}) {
      row.push_back(text(expected(info.name, size)));
    }
    row.emplace_back(meaning);
    rows.push_back(std::move(row));
  };
  size_row("footprint", "bytes of all buffers",
           [](const Expected& e) { return size_text(static_cast<double>(e.bytes)); });
  size_row("accesses", "lines touched by vector memory instructions",
           [](const Expected& e) { return count_text(static_cast<double>(e.accesses)); });
  if (info.takes_graph) out += "Its graph may be a file: `--input graph.mtx`.\n\n";
  return out + table({"parameter", "small", "medium", "paper", "meaning"}, rows);
}

std::string workloads_page() {
  std::string out =
      "# Workloads\n\nPrograms: `nearfar run MT --size small --param width=1024`. The columns are the values of each "
      "size; how a program's data is made and split is told in [Workloads](../workloads.md).\n\n## Mixes\n\nSeveral "
      "programs at once, one on each GPU. " +
      paper_line("least-tlb");
  Rows rows;
  for (const Mix& mix : mixes()) rows.push_back({code(mix.name), codes(mix.workloads), plain(mix.classes)});
  out += table({"mix", "on GPU 0, 1, …", "TLB misses"}, rows);
  for (const WorkloadInfo& info : catalog()) out += workload_section(info);
  return out;
}

// --- studies and claims

std::string studies_page() {
  Rows rows;
  for (const StudySummary& study : list_studies()) rows.push_back({code(study.name), plain(study.title)});
  return "# Studies\n\nMany runs and their figures: `nearfar study NAME --quick` ([Studies](../studies.md)).\n\n" +
         table({"study", "what it shows"}, rows);
}

std::string claims_page() {
  std::string out =
      "# Claims\n\nWhat papers published and where the same number is measured here: `nearfar reproduce PAPER` "
      "([Reproduction](../reproduction.md)).\n";
  for (const Paper& paper : read_papers()) {
    out += fmt::format("\n## {}\n\n", plain(paper.title)) + paper_line(paper.paper);
    if (!paper.figures_of.empty()) {
      out += fmt::format("Figures are numbered as in {}.\n\n", plain(citation(paper.figures_of)));
    }
    Rows rows;
    for (const Claim& claim : paper.claims) {
      rows.push_back({code(claim.id), plain(claim.sentence), plain(claim.figure),
                      plain(claim.published.text + (claim.unit.empty() ? "" : " " + claim.unit)), code(claim.study)});
    }
    out += table({"claim", "what is claimed", "figure", "published", "study"}, rows);
  }
  return out;
}

std::string bibliography_page() {
  Rows rows;
  for (const Publication& publication : bibliography()) {
    rows.push_back({code(publication.key), plain(citation(publication.key))});
  }
  return "# Bibliography\n\nThe publications that designs, systems, workloads and claims come from.\n\n" +
         table({"name", "publication"}, rows);
}

std::string index_page() {
  return fmt::format(
      "# Reference\n\nMade by `nearfar reference` from what the program itself declares (nearfar {}).\n\n"
      "- [Parameters](parameters.md) of systems\n"
      "- [Statistics](statistics.md) of runs\n"
      "- [Designs](designs.md) with their parameters, statistics and storage\n"
      "- [Systems](systems.md)\n"
      "- [Workloads](workloads.md) and their sizes\n"
      "- [Studies](studies.md)\n"
      "- [Claims](claims.md) of papers\n"
      "- [Bibliography](bibliography.md)\n",
      version());
}

}  // namespace

std::vector<ReferencePage> reference_pages() {
  return {
      {"index.md", index_page()},     {"parameters.md", parameters_page()}, {"statistics.md", statistics_page()},
      {"designs.md", designs_page()}, {"systems.md", systems_page()},       {"workloads.md", workloads_page()},
      {"studies.md", studies_page()}, {"claims.md", claims_page()},         {"bibliography.md", bibliography_page()}};
}

}  // namespace nearfar

// `nearfar cost`: what the structures of a design take in hardware.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/output_file.h"
#include "cli/table.h"
#include "config/error.h"
#include "designs/design.h"
#include "designs/names.h"

namespace nearfar {
namespace {

struct CostArguments {
  std::string design;
  std::string system;
  std::string gpus;
  std::vector<std::string> overrides;
};

/// The system on which a design's paper studied it, where the user names none.
std::string system_of(const Design& design) {
  if (!design.system.empty()) return design.system;
  if (std::ranges::find(design.seams, "egress") != design.seams.end()) return "finepack-4gpu";
  switch (design.systems.front()) {
    case TranslationKind::Ats: return "ats-4gpu";
    case TranslationKind::Mmu: return "mmu-4gpu";
    case TranslationKind::Svm: return "svm-1gpu";
    case TranslationKind::Mig: return "mig-a100";
    case TranslationKind::Ideal: break;
  }
  return kDefaultSystem;
}

constexpr double kManyBytes = 10 * 1024;

std::string bytes_of(std::uint64_t bits) {
  const double bytes = static_cast<double>(bits) / 8;
  if (bytes >= kManyBytes) return size_text(bytes);
  return bits % 8 == 0 ? fmt::format("{} B", grouped(bits / 8)) : fmt::format("{:.1f} B", bytes);
}

/// Of a structure that takes the place of one of the baseline.
std::string note_on_baseline(const std::string& design, const StorageItem& item) {
  const std::string baseline = fmt::format("The {} of the baseline takes {}: {}.", item.structure,
                                           bytes_of(item.baseline_bits), item.baseline_formula);
  if (item.bits == 0) return baseline;
  return fmt::format("{} {} takes {:.2f} times that.", baseline, design,
                     static_cast<double>(item.bits) / static_cast<double>(item.baseline_bits));
}

void perform_cost(const CostArguments& arguments) {
  if (arguments.design.empty()) {
    throw InputError(
        "`nearfar cost` needs a DESIGN, as in `nearfar cost idyll`; `nearfar list designs` shows them all.");
  }
  const std::vector<std::string> names = parse_designs(arguments.design);
  const std::vector<const Design*> chosen = choose_designs(names);
  std::vector<std::string> overrides = arguments.overrides;
  if (!arguments.gpus.empty()) {
    refuse_set_too("--gpus", "gpus", overrides);
    overrides.push_back("gpus=" + arguments.gpus);
  }
  const std::string system =
      !arguments.system.empty() || chosen.empty() ? arguments.system : system_of(*chosen.front());
  if (chosen.empty()) throw InputError("The baseline has no structures beside the system's own.");
  const std::vector<DesignCost> costs = cost_of(names, system, overrides);
  const std::uint64_t gpus = load_system_with(names, system, overrides).spec.gpus;

  Table table({{"design", Align::Left, Tint::Bold},
               {"structure"},
               {"where"},
               {"bits", Align::Right},
               {"size", Align::Right},
               {"how", Align::Left, Tint::Dim}});
  std::uint64_t total = 0;
  bool any = false;
  std::vector<std::string> notes;
  for (const DesignCost& cost : costs) {
    for (const StorageItem& item : cost.items) {
      const std::string& name = cost.design->name;
      const char* where = item.per_gpu ? "each GPU" : "host";
      table.row({name, item.structure, where, grouped(item.bits), bytes_of(item.bits), item.formula});
      total += item.bits * (item.per_gpu ? gpus : 1);
      any = true;
      if (item.baseline_bits != 0) notes.push_back(note_on_baseline(name, item));
    }
  }
  if (!any) return write_stdout(fmt::format("{} adds no storage.\n", arguments.design));
  table.row({"", "all", fmt::format("{} GPU{}", gpus, gpus == 1 ? "" : "s"), grouped(total), bytes_of(total), ""});
  write_stdout(fmt::format("system {}\n\n", system) + table.text(Terminal::of(STDOUT_FILENO)));
  for (const std::string& note : notes) write_stdout("\n" + note + "\n");
}

}  // namespace

Command add_cost_command(CLI::App& program) {
  auto arguments = std::make_shared<CostArguments>();
  CLI::App& app = add_command(program, "cost", "Show what the structures of a design take in hardware");
  using namespace value_kind;
  add_value(app, "DESIGN", arguments->design, kDesign, "A design; several as a+b");
  add_value(app, "--system", arguments->system, kSystem, "The machine; without it, the one its study used");
  add_value(app, "--gpus", arguments->gpus, kNumber, "Number of GPUs, as --set gpus=N");
  add_set_option(app, arguments->overrides);
  return {&app, [arguments] { perform_cost(*arguments); }};
}

}  // namespace nearfar

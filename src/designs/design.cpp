#include "designs/design.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/error.h"
#include "designs/registry.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

using enum TranslationKind;

const char* name_of(TranslationKind kind) {
  switch (kind) {
    case Ideal: return "ideal";
    case Ats: return "ats";
    case Mmu: return "mmu";
    case Svm: return "svm";
    case Mig: return "mig";
  }
  return "";
}

const Design& find(const std::string& name) { return *std::ranges::find(all_designs(), name, &Design::name); }

void refuse_same_seam(const Design& one, const Design& other) {
  for (const std::string& seam : other.seams) {
    if (std::ranges::find(one.seams, seam) == one.seams.end()) continue;
    throw InputError(fmt::format("The designs `{}` and `{}` cannot be combined: both decide the seam `{}`.", one.name,
                                 other.name, seam));
  }
}

void refuse_by_name(const Design& one, const Design& other) {
  const auto refusal = std::ranges::find(one.refuses, other.name, &Refusal::design);
  if (refusal == one.refuses.end()) return;
  throw InputError(
      fmt::format("The designs `{}` and `{}` cannot be combined: {}.", one.name, other.name, refusal->reason));
}

/// Stores to other GPUs are posted only where no L2 holds copies of their lines.
void refuse_unposted(const Design& at_egress, const Design& other) {
  const std::string copies = "remote_cache=l1l2";
  const auto needs_posted = [](const std::string& seam) { return seam == "egress" || seam == "switch"; };
  if (std::ranges::none_of(at_egress.seams, needs_posted)) return;
  if (std::ranges::find(other.needs, copies) == other.needs.end()) return;
  throw InputError(fmt::format(
      "The designs `{}` and `{}` cannot be combined: `{}` needs {}, with which the stores that `{}` decides "
      "about are not posted.",
      at_egress.name, other.name, other.name, copies, at_egress.name));
}

void check_kind(const Design& design, const SystemSpec& system) {
  if (std::ranges::find(design.systems, system.translation.kind) != design.systems.end()) return;
  std::vector<std::string> kinds;
  for (const TranslationKind kind : design.systems) kinds.emplace_back(name_of(kind));
  throw InputError(fmt::format("The design `{}` changes systems with translation.kind {}; `{}` has {}.", design.name,
                               fmt::join(kinds, " or "), system.name, name_of(system.translation.kind)));
}

/// A unified memory hierarchy has caches and directories of its own: what others change of the baseline's, nobody uses.
void check_level(const Design& design, const SystemSpec& system) {
  if (!system.is_unified()) return;
  const auto has = [&](const char* seam) { return std::ranges::find(design.seams, seam) != design.seams.end(); };
  if (has("L1 cache replacement") && system.umh.l1_writes_back()) {
    throw InputError(fmt::format(
        "The design `{}` has no place beside write-back L1s (umh.l1_write_policy=write_back), which have no "
        "seam `L1 cache replacement`.",
        design.name));
  }
  if (has("memory level") || design.seams.empty() || has("L1 cache replacement")) return;
  throw InputError(fmt::format(
      "The design `{}` has no place in a unified memory hierarchy (memory.management=umh), which has no seam `{}`.",
      design.name, fmt::join(design.seams, "`, `")));
}

void check_needs(const Design& design, const LoadedSystem& system) {
  std::vector<std::string> values;
  for (const std::string& need : design.needs) {
    const std::string path = need.substr(0, need.find('='));
    const auto found = std::ranges::find(system.parameters, path, &EffectiveParameter::path);
    values.push_back(path + "=" + found->value);
  }
  if (values == design.needs) return;
  throw InputError(fmt::format("The design `{}` changes systems with {}; `{}` has {}.", design.name,
                               fmt::join(design.needs, " and "), system.spec.name, fmt::join(values, " and ")));
}

/// `part` came a second time, with `name`.
[[noreturn]] void refuse_twice(std::span<const std::string> names, const std::string& name, const std::string& part) {
  if (std::ranges::count(names, name) > 1) throw InputError(fmt::format("The design `{}` is named twice.", name));
  // Either of the two may be the one that has the other in it.
  const auto whole = std::ranges::find_if(
      names, [&](const std::string& each) { return std::ranges::count(find(each).parts, part) > 0; });
  throw InputError(fmt::format("The design `{}` has `{}` in it, which is named too.", *whole, part));
}

}  // namespace

const std::vector<Design>& all_designs() { return design_registry().all(); }

std::vector<const Design*> choose_designs(std::span<const std::string> names) {
  std::vector<const Design*> chosen;
  for (const std::string& name : names) {
    const Design& named = find(name);
    std::vector<const Design*> wanted;
    for (const std::string& part : named.parts) wanted.push_back(&find(part));
    if (wanted.empty()) wanted.push_back(&named);
    for (const Design* design : wanted) {
      for (const Design* other : chosen) {
        if (other == design) refuse_twice(names, name, other->name);
        refuse_same_seam(*other, *design);
        refuse_by_name(*other, *design);
        refuse_by_name(*design, *other);
        refuse_unposted(*other, *design);
        refuse_unposted(*design, *other);
      }
    }
    chosen.insert(chosen.end(), wanted.begin(), wanted.end());
  }
  return chosen;
}

void check_designs(std::span<const Design* const> designs, const LoadedSystem& system) {
  for (const Design* design : designs) {
    check_kind(*design, system.spec);
    check_needs(*design, system);
    check_level(*design, system.spec);
  }
}

LoadedSystem load_system_with(std::span<const std::string> designs, const std::string& system,
                              std::span<const std::string> overrides) {
  const std::vector<const Design*> chosen = choose_designs(designs);
  const auto plug_ins = [&] {
    std::vector<std::shared_ptr<PlugIn>> made;
    for (const Design* design : chosen) {
      if (design->make != nullptr) made.push_back(design->make());
    }
    return made;
  };
  // Designs are held against the system itself: a design's settings may change of what kind it is.
  check_designs(chosen, load_system(system, overrides, plug_ins()));
  std::vector<std::string> settings;
  for (const Design* design : chosen) settings.insert(settings.end(), design->settings.begin(), design->settings.end());
  settings.insert(settings.end(), overrides.begin(), overrides.end());
  return load_system(system, settings, plug_ins());
}

std::vector<DesignCost> cost_of(std::span<const std::string> designs, const std::string& system,
                                std::span<const std::string> overrides) {
  const LoadedSystem loaded = load_system_with(designs, system, overrides);
  std::vector<DesignCost> costs;
  auto plug_in = loaded.spec.plug_ins.begin();
  for (const Design* design : choose_designs(designs)) {
    costs.push_back({design, {}});
    if (design->make != nullptr) costs.back().items = (*plug_in++)->storage(loaded.spec);
  }
  return costs;
}

std::vector<StatInfo> list_all_statistics() {
  std::vector<StatInfo> out = list_statistics();
  for (const Design& design : all_designs()) {
    if (design.make == nullptr) continue;
    const std::vector<StatInfo> statistics = design.make()->statistics();
    out.insert(out.end(), statistics.begin(), statistics.end());
  }
  // Two designs may share a part.
  std::ranges::sort(out, {}, &StatInfo::name);
  const auto same = [](const StatInfo& a, const StatInfo& b) { return a.name == b.name; };
  out.erase(std::unique(out.begin(), out.end(), same), out.end());
  return out;
}

}  // namespace nearfar

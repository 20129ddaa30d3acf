// How cases are drawn. Small and odd values come more often than a uniform draw would have them, because faults live
// where queues are full and structures have one entry.
#include "draw.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "config/error.h"
#include "config/words.h"
#include "designs/design.h"
#include "machine/system_file.h"
#include "operations.h"
#include "workload/mixes.h"

namespace nearfar::fuzz {
namespace {

/// Memory instructions of an application: what sizes are drawn around, and the most there may be.
constexpr std::uint64_t kTinyOperations = 1'000;
constexpr std::uint64_t kMostOperations = 5'000;
constexpr unsigned kMostParameters = 12;
constexpr unsigned kMostDesigns = 4;
constexpr unsigned kRepairs = 10;

/// Settings that show what they do only together.
struct Theme {
  std::array<std::string_view, 8> settings;
};
constexpr std::array kThemes = {
    Theme{{"gpu.dram.channels=1", "gpu.dram.capacity=1MiB", "migration.evict=true"}},
    Theme{
        {"placement.policy=access-counter", "placement.host_first_touch=map", "placement.access_counter.threshold=2"}},
    Theme{{"gpu.l1_tlb.ways=1", "gpu.l1_tlb.entries=1", "gpu.l2_tlb.ways=1", "gpu.l2_tlb.entries=2",
           "gpu.l2_tlb.mshrs=1"}},
    Theme{{"gpu.l2.banks=1", "gpu.l2.ways=1", "gpu.l2.size=256B", "gpu.l2.mshrs=1", "gpu.l2.remote_mshrs=1",
           "gpu.l2.queue=1"}},
    Theme{{"host.llc.banks=1", "host.llc.ways=3", "host.llc.size=768B", "host.llc.mshrs=1"}},
    Theme{{"link.credits=1", "link.queue=1", "gpu.cu.store_buffer=1"}},
    Theme{{"remote_cache=l1l2", "coherence=directory", "directory.ways=1", "directory.entries=2"}},
    Theme{{"remote_cache=l1l2", "coherence=directory", "boundary.markers=false"}},
    Theme{{"gpu.gmmu.walkers=1", "gpu.gmmu.pw_queue.entries=1", "host.mmu.walkers=1", "host.mmu.pw_queue.entries=1",
           "iommu.walkers=1", "iommu.pw_queue.entries=1"}},
};

std::string path_of(std::string_view setting) { return std::string(setting.substr(0, setting.find('='))); }

/// The nearest value of a workload's parameter that can be made.
std::uint64_t possible(const WorkloadParameter& parameter, std::uint64_t value) {
  const std::uint64_t inside = std::clamp(value, parameter.minimum, parameter.maximum);
  const std::uint64_t above = (inside - parameter.offset) % parameter.step;
  return inside - above < parameter.minimum ? parameter.minimum : inside - above;
}

/// Instructions of a workload with these parameters; nothing where it cannot be made.
std::optional<std::uint64_t> cost(const WorkloadInfo& info, const std::vector<ParameterSetting>& settings,
                                  std::uint64_t limit) {
  try {
    return operations(*make_workload(info.name, SizeClass::Small, settings, 1), limit);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Log-uniform: every power of two is as likely as every other.
std::uint64_t log_uniform(pcg32& random, std::uint64_t least, std::uint64_t most) {
  const auto low = static_cast<std::uint32_t>(std::bit_width(least));
  const auto high = static_cast<std::uint32_t>(std::bit_width(most));
  const std::uint32_t bits = low + random(high - low + 1);
  if (bits == 0) return 0;
  const std::uint64_t top = std::uint64_t{1} << (bits - 1);
  const std::uint64_t rest = (std::uint64_t{random()} << 32 | random()) & (top - 1);
  return std::clamp(top | rest, least, most);
}

std::uint64_t saturated_product(std::uint64_t value, std::uint64_t factor) {
  return value > ~std::uint64_t{0} / factor ? ~std::uint64_t{0} : value * factor;
}

std::uint64_t fit(const Limits& limits, std::uint64_t value) {
  const std::uint64_t inside = std::clamp(value, limits.least(), limits.most());
  return limits.only_powers_of_two() ? std::bit_floor(std::max<std::uint64_t>(inside, 1)) : inside;
}

/// The value of a parameter that halves the work. A divisor shrinks what it divides: its larger sizes have less of it.
std::uint64_t less_work(const WorkloadParameter& parameter, std::uint64_t value) {
  return possible(parameter, parameter.medium < parameter.small ? saturated_product(value, 2) : value / 2);
}

std::vector<ParameterSetting> halved(const WorkloadInfo& info) {
  std::vector<ParameterSetting> values;
  for (const WorkloadParameter& parameter : info.parameters) values.push_back({parameter.name, parameter.small});
  // The cost of the small size may be too much to count, so the first halvings are made unseen.
  std::uint64_t least = ~std::uint64_t{0};
  for (unsigned round = 0; round < 24 && least > kTinyOperations; ++round) {
    std::optional<std::size_t> best;
    std::uint64_t best_value = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint64_t before = values[i].value;
      const std::uint64_t half = less_work(info.parameters[i], before);
      if (half == before) continue;
      values[i].value = half;
      const auto found = cost(info, values, kMostOperations);
      values[i].value = before;
      // Of several that cost the same, because counting ended, the largest is halved.
      if (!found || *found > least) continue;
      if (*found == least && best && before <= values[*best].value) continue;
      least = *found;
      best = i;
      best_value = half;
    }
    if (!best) break;
    values[*best].value = best_value;
  }
  return values;
}

}  // namespace

const std::vector<ParameterSetting>& tiny_parameters(const WorkloadInfo& info) {
  static const std::map<std::string, std::vector<ParameterSetting>> all = [] {
    std::map<std::string, std::vector<ParameterSetting>> made;
    for (const WorkloadInfo& each : catalog()) made.emplace(each.name, halved(each));
    return made;
  }();
  return all.at(info.name);
}

void prepare_draws() { tiny_parameters(catalog().front()); }

Draw::Draw(std::uint64_t campaign, std::uint64_t number) : random_(campaign * 0x9e3779b97f4a7c15 + number, number) {}

Case Draw::operator()(Report& report) {
  report_ = &report;
  static const std::vector<SystemSummary> systems = list_systems();
  case_.system = any_of(systems).name;
  draw_designs();
  declared_ = declared_parameters(case_.designs);
  draw_overrides();
  draw_workload();
  return case_;
}

void Draw::draw_designs() {
  if (chance(35)) return;
  const std::uint64_t wanted = 1 + below(kMostDesigns);
  for (unsigned tries = 0; tries < 12 && case_.designs.size() < wanted; ++tries) {
    const Design& design = any_of(all_designs());
    const std::vector<std::string> before = case_.overrides;
    case_.designs.push_back(design.name);
    for (const std::string& need : design.needs) put(path_of(need), need.substr(need.find('=') + 1));
    if (is_legal()) continue;
    // One that few systems have the seams of gets that of its study.
    const std::string other = case_.system;
    if (case_.designs.size() == 1 && !design.system.empty() && chance(50)) {
      case_.system = design.system;
      if (is_legal()) continue;
      case_.system = other;
    }
    case_.designs.pop_back();
    case_.overrides = before;
  }
}

bool Draw::is_legal() {
  report_->trying(case_);
  try {
    load_system_with(case_.designs, case_.system, case_.overrides);
    return true;
  } catch (const InputError& error) {
    refusal_ = error.what();
    report_->refused();
    return false;
  }
}

void Draw::draw_overrides() {
  if (chance(75)) draw_few_units();
  for (const Theme& theme : kThemes) {
    if (!chance(12)) continue;
    for (const std::string_view setting : theme.settings) {
      const auto found = std::ranges::find(declared_, path_of(setting), &Declared::path);
      if (found != declared_.end()) set(*found, std::string(setting.substr(setting.find('=') + 1)));
    }
  }
  const std::uint64_t count = below(kMostParameters + 1);
  for (std::uint64_t i = 0; i < count; ++i) {
    const Declared& declared = draw_parameter();
    set(declared, draw_value(declared, false));
  }
}

/// A small machine is built in no time, and its few compute units meet more often.
void Draw::draw_few_units() {
  const std::array few = {std::pair{"gpus", 1 + below(5)}, std::pair{"gpu.shader_arrays", 1 + below(2)},
                          std::pair{"gpu.cus_per_array", 1 + below(3)}};
  const std::vector<std::string> before = case_.overrides;
  for (const auto& [path, number] : few) put(path, fmt::format("{}", number));
  if (is_legal()) return;
  // What the machine cannot have fewer of stays: each number by itself.
  case_.overrides = before;
  for (const auto& [path, number] : few) {
    const std::vector<std::string> without = case_.overrides;
    put(path, fmt::format("{}", number));
    if (!is_legal()) case_.overrides = without;
  }
}

const Declared& Draw::draw_parameter() {
  // What designs bring is at the end, and all of it could be new.
  static const std::size_t common = declared_parameters({}).size();
  if (declared_.size() > common && chance(25)) return declared_[common + below(declared_.size() - common)];
  const bool choice = chance(40);
  while (true) {
    const Declared& declared = any_of(declared_);
    if (declared.is_choice() == choice) return declared;
  }
}

std::string Draw::draw_value(const Declared& declared, bool fitting) {
  if (declared.is_choice()) return any_of(declared.choices);
  const NumberDomain& domain = *declared.number;
  return domain.format(fit(domain.limits, fitting ? draw_fitting(domain) : draw_number(domain)));
}

std::uint64_t Draw::draw_number(const NumberDomain& domain) {
  const Limits& limits = domain.limits;
  const std::uint64_t usual = std::max<std::uint64_t>(domain.value, 4);
  switch (below(20)) {
    default: return limits.least() + below(4);
    case 9:
    case 10:
    case 11:
    case 12:
    case 13: {
      const std::uint64_t low = std::max<std::uint64_t>(limits.least(), 1);
      return log_uniform(random_, low, std::clamp(saturated_product(usual, 4), low, limits.most()));
    }
    case 14: return usual - 1;
    case 15: return usual + 1;
    case 16: return usual / 2;
    case 17: return saturated_product(usual, 2);
    case 18: return log_uniform(random_, limits.least(), limits.most());
    case 19: return limits.least();
  }
}

/// Values that are often multiples of one another, which is what most refusals ask for.
std::uint64_t Draw::draw_fitting(const NumberDomain& domain) {
  static constexpr std::array<std::uint64_t, 10> kFactors = {1, 2, 3, 4, 6, 8, 12, 16, 48, 64};
  const std::uint64_t unit = domain.limits.least() >= 64 ? domain.limits.least() : 1;
  return saturated_product(saturated_product(unit, any_of(kFactors)), chance(30) ? any_of(kFactors) : 1);
}

void Draw::put(const std::string& path, const std::string& value) {
  std::erase_if(case_.overrides, [&](const std::string& setting) { return path_of(setting) == path; });
  case_.overrides.push_back(path + "=" + value);
}

void Draw::set(const Declared& declared, const std::string& value) {
  const std::vector<std::string> before = case_.overrides;
  put(declared.path, value);
  if (is_legal()) return;
  for (unsigned repair = 0; repair < kRepairs; ++repair) {
    // A refusal lists the parameters that do not go together.
    std::vector<const Declared*> involved;
    for (const Declared& other : declared_) {
      if (refusal_.find("  " + other.path + " = ") != std::string::npos) involved.push_back(&other);
    }
    if (involved.empty()) break;
    const Declared& other = *any_of(involved);
    put(other.path, draw_value(other, true));
    if (is_legal()) return;
  }
  case_.overrides = before;
}

void Draw::draw_workload() {
  const LoadedSystem loaded = load_system_with(case_.designs, case_.system, case_.overrides);
  case_.seed = 1 + below(3);
  if (loaded.spec.gpus > 1 && loaded.spec.has_instances()) {
    draw_applications(loaded.spec.gpus);  // an instance runs one of its own
  } else if (loaded.spec.gpus > 1 && chance(20)) {
    draw_applications(2 + below(std::min<std::uint64_t>(loaded.spec.gpus, 4) - 1));
  } else {
    const WorkloadInfo& info = any_of(catalog());
    case_.workload = info.name;
    draw_sizes(info, "", loaded.spec.gpus);
  }
}

/// One application on each GPU. Two of the same share their parameters.
void Draw::draw_applications(std::size_t count) {
  std::vector<std::string> names;
  if (count == 4 && chance(50)) {
    const Mix& mix = any_of(mixes());
    case_.workload = mix.name;
    names = mix.workloads;
  } else {
    for (std::size_t i = 0; i < count; ++i) names.push_back(any_of(catalog()).name);
    case_.workload = join(names, "+");
  }
  std::ranges::sort(names);
  const auto same = std::ranges::unique(names);
  names.erase(same.begin(), same.end());
  for (const std::string& name : names) {
    draw_sizes(*std::ranges::find(catalog(), name, &WorkloadInfo::name), name + ".", 1);
  }
}

/// A rank is a GPU: mostly there are as many.
void Draw::draw_sizes(const WorkloadInfo& info, const std::string& prefix, std::uint64_t gpus) {
  std::vector<ParameterSetting> values = tiny_parameters(info);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const WorkloadParameter& parameter = info.parameters[i];
    std::uint64_t value = values[i].value;
    switch (below(8)) {
      case 0: value = parameter.minimum + below(3) * parameter.step; break;
      case 1: value += parameter.step; break;
      case 2: value *= 2; break;
      case 3: value /= 2; break;
      default: break;
    }
    if (parameter.name == "ranks" && chance(90)) value = gpus;
    const std::uint64_t before = values[i].value;
    values[i].value = possible(parameter, value);
    const auto operations = cost(info, values, kMostOperations);
    if (!operations || *operations > kMostOperations) values[i].value = before;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].value == info.parameters[i].small) continue;
    case_.parameters.push_back(fmt::format("{}{}={}", prefix, values[i].name, values[i].value));
  }
}

}  // namespace nearfar::fuzz

#include "workload/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cctype>
#include <cstdlib>

#include "config/error.h"
#include "config/nearest.h"
#include "workload/add_workload.h"
#include "workload/catalog/entries.h"
#include "workload/rec_inputs.h"

namespace nearfar {
namespace {

/// The simulator's own, sorted by name, upper and lower case being the same.
constexpr std::array kOwnEntries{
    &kAes,     &kAllGather, &kAllReduce, &kAllToAll,      &kAls,    &kAtax,     &kBackProp, &kBellmanFord, &kBfs,
    &kBicg,    &kBs,        &kBsch,      &kC2d,           &kColor,  &kConv2d,   &kCt,       &kDct,         &kDecode,
    &kDh,      &kDiffusion, &kEqwp,      &kFft,           &kFir,    &kFw,       &kFwt,      &kGemm,        &kGemv,
    &kGesummv, &kHist,      &kHit,       &kHotspot,       &kIm2col, &kJ2d,      &kJacobi,   &kKm,          &kLu,
    &kLud,     &kMm,        &kMm2,       &kMm3,           &kMt,     &kMtw,      &kMvt,      &kNw,          &kPageRank,
    &kPr,      &kPrefill,   &kRd,        &kReduceScatter, &kRelu,   &kResNet18, &kRs,       &kSc,          &kSc2,
    &kSf,      &kSla,       &kSpmv,      &kSssp,          &kSt,     &kVgg16};
const std::array<std::string, 4> kSizeNames{"small", "medium", "paper", "rec"};

/// All that can be named, in the order of their names.
struct Known {
  std::vector<CatalogEntry> entries;
  std::vector<WorkloadInfo> infos;

  Known() {
    for (const CatalogEntry* entry : kOwnEntries) {
      entries.push_back(*entry);
      infos.push_back(entry->info());
    }
  }
};

Known& known() {
  static Known all;
  return all;
}

std::string lower_case(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

template <class Range>
std::vector<std::string> names_of(const Range& range) {
  std::vector<std::string> names;
  names.reserve(range.size());
  for (const auto& each : range) names.push_back(each.name);
  return names;
}

std::uint64_t value_in(SizeClass size, const WorkloadParameter& parameter) {
  switch (size) {
    case SizeClass::Small: return parameter.small;
    case SizeClass::Medium: return parameter.medium;
    case SizeClass::Paper:
    case SizeClass::Rec: return parameter.paper;
  }
  std::abort();
}

std::uint64_t nearest_possible(const WorkloadParameter& parameter, std::uint64_t value) {
  const std::uint64_t inside = std::clamp(value, parameter.minimum, parameter.maximum);
  const std::uint64_t above = (inside - parameter.offset) % parameter.step;
  return 2 * above >= parameter.step ? inside - above + parameter.step : inside - above;
}

std::string what_is_possible(const WorkloadParameter& parameter) {
  std::string kind;
  if (parameter.step > 1 && parameter.offset == 0) kind = fmt::format("a multiple of {} and ", parameter.step);
  if (parameter.offset > 0) kind = fmt::format("{} more than a multiple of {} and ", parameter.offset, parameter.step);
  return fmt::format("must be {}from {} to {}", kind, parameter.minimum, parameter.maximum);
}

[[noreturn]] void refuse(std::string_view workload, std::string_view parameter, std::uint64_t value,
                         std::string_view expected, std::uint64_t nearest_value) {
  throw InputError(fmt::format("The parameter `{}` of {} is {}, but {}; the nearest possible value is {}.", parameter,
                               workload, value, expected, nearest_value));
}

void check(const WorkloadInfo& info, const WorkloadParameter& parameter, std::uint64_t value) {
  assert(parameter.minimum % parameter.step == parameter.offset &&
         parameter.maximum % parameter.step == parameter.offset);
  const std::uint64_t possible = nearest_possible(parameter, value);
  if (possible != value) refuse(info.name, parameter.name, value, what_is_possible(parameter), possible);
}

void set(const WorkloadInfo& info, std::vector<ParameterSetting>& values, const ParameterSetting& setting) {
  const auto found = std::ranges::find(values, setting.name, &ParameterSetting::name);
  if (found == values.end()) {
    const auto names = names_of(info.parameters);
    throw InputError(fmt::format("{} has no parameter `{}`; it has {}.{}", info.name, setting.name,
                                 fmt::join(names, ", "), did_you_mean(setting.name, names)));
  }
  found->value = setting.value;
}

std::vector<ParameterSetting> values_of(const WorkloadInfo& info, SizeClass size) {
  std::vector<ParameterSetting> values;
  for (const WorkloadParameter& parameter : info.parameters)
    values.push_back({parameter.name, value_in(size, parameter)});
  if (size != SizeClass::Rec) return values;
  const RecInput* input = find_rec_input(info.name);
  if (input == nullptr) {
    throw InputError(
        fmt::format("{} has no size `rec`, since the study of REC does not run it; its sizes are small, medium and "
                    "paper.",
                    info.name));
  }
  for (const ParameterSetting& setting : input->settings) set(info, values, setting);
  return values;
}

std::vector<ParameterSetting> complete(const WorkloadInfo& info, SizeClass size,
                                       std::span<const ParameterSetting> settings) {
  std::vector<ParameterSetting> values = values_of(info, size);
  for (const ParameterSetting& setting : settings) set(info, values, setting);
  for (std::size_t i = 0; i < values.size(); ++i) check(info, info.parameters[i], values[i].value);
  return values;
}

bool generates(const WorkloadInfo& info, const ParameterSetting& setting) {
  const auto found = std::ranges::find(info.parameters, setting.name, &WorkloadParameter::name);
  return found != info.parameters.end() && found->generates;
}

/// What describes a graph to generate says nothing of one that is read.
void refuse_generators(const WorkloadInfo& info, std::span<const ParameterSetting> settings, const std::string& input) {
  for (const ParameterSetting& setting : settings) {
    if (!generates(info, setting)) continue;
    throw InputError(
        fmt::format("The parameter `{}` of {} is for graphs that are generated, but the graph is read "
                    "from `{}`: leave one of the two out.",
                    setting.name, info.name, input));
  }
}

/// Index into the catalog.
std::size_t find(std::string_view name, const std::string& input) {
  const auto infos = catalog();
  const auto found = std::ranges::find(infos, name, &WorkloadInfo::name);
  if (found == infos.end()) {
    throw InputError(fmt::format("There is no workload `{}`; `nearfar list workloads` shows them all.{}", name,
                                 did_you_mean(name, names_of(infos))));
  }
  if (!input.empty() && !found->takes_graph) {
    throw InputError(fmt::format("{} reads no graph, so it cannot take `{}`.", found->name, input));
  }
  return static_cast<std::size_t>(found - infos.begin());
}

}  // namespace

std::uint64_t Parameters::operator[](std::string_view name) const {
  const auto found = std::ranges::find(values_, name, &ParameterSetting::name);
  assert(found != values_.end());
  return found->value;
}

void Parameters::refuse(std::string_view name, std::string_view expected, std::uint64_t nearest_value) const {
  nearfar::refuse(workload_, name, (*this)[name], expected, nearest_value);
}

unsigned Parameters::log2(std::string_view name, std::string_view expected) const {
  const std::uint64_t value = (*this)[name];
  if (!std::has_single_bit(value)) {
    const std::uint64_t above = std::bit_ceil(value), below = above / 2;
    refuse(name, expected, above - value <= value - below ? above : below);
  }
  return static_cast<unsigned>(std::countr_zero(value));
}

std::span<const WorkloadInfo> catalog() { return known().infos; }

void add_workload(const CatalogEntry& entry) {
  Known& all = known();
  const WorkloadInfo info = entry.info();
  const std::string name = lower_case(info.name);
  const auto place =
      std::ranges::lower_bound(all.infos, name, {}, [](const WorkloadInfo& each) { return lower_case(each.name); });
  if (place != all.infos.end() && lower_case(place->name) == name) {
    throw InputError(fmt::format("There is a workload `{}` already.", place->name));
  }
  if (name.empty() || name.find_first_of("+, ") != std::string::npos) {
    throw InputError(fmt::format("A workload cannot have the name `{}`.", info.name));
  }
  all.entries.insert(all.entries.begin() + (place - all.infos.begin()), entry);
  all.infos.insert(place, info);
}

SizeClass parse_size(std::string_view text) {
  const auto found = std::ranges::find(kSizeNames, text);
  if (found == kSizeNames.end()) {
    throw InputError(fmt::format("There is no size `{}`; the sizes are {}.{}", text, fmt::join(kSizeNames, ", "),
                                 did_you_mean(text, kSizeNames)));
  }
  return static_cast<SizeClass>(found - kSizeNames.begin());
}

std::string_view size_name(SizeClass size) { return kSizeNames[static_cast<std::size_t>(size)]; }

std::vector<ParameterSetting> effective_parameters(std::string_view name, SizeClass size,
                                                   std::span<const ParameterSetting> settings,
                                                   const std::string& input) {
  const WorkloadInfo& info = catalog()[find(name, input)];
  std::vector<ParameterSetting> values = complete(info, size, settings);
  if (input.empty()) return values;
  refuse_generators(info, settings, input);
  std::erase_if(values, [&](const ParameterSetting& value) { return generates(info, value); });
  return values;
}

std::shared_ptr<const Workload> make_workload(std::string_view name, SizeClass size,
                                              std::span<const ParameterSetting> settings, std::uint64_t seed,
                                              const std::string& input) {
  const std::size_t entry = find(name, input);
  const WorkloadInfo& info = catalog()[entry];
  if (!input.empty()) refuse_generators(info, settings, input);
  return known().entries[entry].make({info.name, complete(info, size, settings), input}, seed);
}

}  // namespace nearfar

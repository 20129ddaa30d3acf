#include "coverage.h"

#include <fmt/format.h>

#include <numeric>

#include "config/words.h"
#include "declared.h"
#include "designs/design.h"
#include "machine/system_file.h"
#include "study/experiment.h"
#include "workload/catalog.h"

namespace nearfar::fuzz {
namespace {

/// "parameters set: 171 of 180; never: a, b"
std::string seen_line(const std::string& what, const std::set<std::string>& seen, const std::vector<std::string>& all) {
  std::vector<std::string> missing;
  for (const std::string& name : all) {
    if (!seen.contains(name)) missing.push_back(name);
  }
  return fmt::format("  {}: {} of {}{}\n", what, all.size() - missing.size(), all.size(),
                     missing.empty() ? "" : "; never " + join(missing, ", "));
}

template <class Range>
std::vector<std::string> names_of(const Range& range) {
  std::vector<std::string> names;
  for (const auto& each : range) names.push_back(each.name);
  return names;
}

/// Pairs of values of two parameters that one system can have at once.
std::size_t count_pairs(const std::vector<Declared>& declared) {
  std::size_t values = 0, pairs = 0;
  for (const Declared& parameter : declared) {
    pairs += values * parameter.choices.size();
    values += parameter.choices.size();
  }
  return pairs;
}

}  // namespace

void Coverage::add(const Verdict& verdict) {
  ++endings_[static_cast<std::size_t>(verdict.ending)];
  refusals_ += verdict.refusals;
  seconds_ += verdict.seconds;
  if (verdict.ending != Ending::Ran) return;
  const Case& subject = verdict.subject;
  systems_.insert(subject.system);
  designs_.insert(subject.designs.begin(), subject.designs.end());
  for (const ApplicationPart& part : application_parts(subject.workload, SizeClass::Small)) {
    workloads_.insert(part.name);
  }
  for (const std::string& setting : subject.overrides) ++parameters_[setting.substr(0, setting.find('='))];
  for (auto one = verdict.choices.begin(); one != verdict.choices.end(); ++one) {
    choices_.insert(*one);
    for (auto other = verdict.choices.begin(); other != one; ++other) pairs_.emplace(*other, *one);
  }
}

std::size_t Coverage::cases() const { return std::accumulate(endings_.begin(), endings_.end(), std::size_t{0}); }

std::string Coverage::summary() const {
  std::string text = fmt::format(
      "{} cases: {} ran clean, {} refused, {} too large, {} timed out, {} failed; {} more configurations were refused "
      "while cases were drawn; {:.2f} s a case\n",
      cases(), count(Ending::Ran), count(Ending::Refused), count(Ending::TooLarge), count(Ending::TimedOut),
      count(Ending::Failed), refusals_, seconds_ / static_cast<double>(std::max<std::size_t>(cases(), 1)));
  const std::vector<Declared> declared = all_declared_parameters();
  std::set<std::string> set;
  for (const auto& [path, times] : parameters_) set.insert(path);
  std::vector<std::string> paths, values;
  for (const Declared& parameter : declared) {
    paths.push_back(parameter.path);
    for (const std::string& value : parameter.choices) values.push_back(parameter.path + "=" + value);
  }
  text += "exercised by runs that ended clean:\n";
  text += seen_line("systems", systems_, names_of(list_systems()));
  text += seen_line("designs", designs_, names_of(all_designs()));
  text += seen_line("workloads", workloads_, names_of(catalog()));
  text += seen_line("parameters set", set, paths);
  text += seen_line("values of choice parameters", choices_, values);
  text += fmt::format("  pairs of values of choice parameters: {} of {}, of which some are refused\n", pairs_.size(),
                      count_pairs(declared));
  return text;
}

}  // namespace nearfar::fuzz

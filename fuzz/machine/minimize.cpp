// Greedy: each step proposes smaller cases, and the first that fails in the same way is gone on with. A fault that
// takes long to show is not followed for ever.
#include "minimize.h"

#include <algorithm>
#include <chrono>
#include <functional>

#include "config/error.h"
#include "config/words.h"
#include "declared.h"
#include "study/experiment.h"

namespace nearfar::fuzz {
namespace {

constexpr double kMostSeconds = 240;

class Minimizer {
 public:
  explicit Minimizer(const Verdict& failure)
      : best_(failure), signature_(failure.signature()), timed_out_(failure.message.starts_with("it does not end")) {
    const Variant plain{};
    const bool compared = failure.is_difference();
    // A difference needs both runs; anything else shows in one.
    if (compared) variants_.push_back(all_variants(0).front());
    if (compared && failure.variant.options() != plain.options()) variants_.push_back(plain);
    variants_.push_back(failure.variant);
  }

  Verdict operator()() {
    // The failure may depend on the variants that ran before it.
    if (!fails(best_.subject)) {
      variants_ = all_variants(best_.variant.check ? best_.variant.threads - 1 : 0);
      if (!fails(best_.subject)) return best_;
    }
    drop_each(&Case::overrides);
    drop_each(&Case::designs);
    simplify_workload();
    few_gpus();
    halve_parameters();
    reduce_values();
    drop_each(&Case::overrides);
    if (Case plain = best_.subject; plain.seed != 1) {
      plain.seed = 1;
      fails(plain);
    }
    return best_;
  }

 private:
  /// Whether it fails as the first case did; then it is the best so far.
  bool fails(const Case& subject) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start_;
    if (spent.count() > kMostSeconds) return false;
    const Trial trial([&](Report&) { return subject; }, variants_, usual_seconds());
    Verdict verdict = trial.wait();
    if (timed_out_ && verdict.ending == Ending::TimedOut) verdict.ending = Ending::Failed;
    if (verdict.ending != Ending::Failed) return false;
    if (timed_out_ ? verdict.message != best_.message && !verdict.message.starts_with("it does not end")
                   : verdict.signature() != signature_) {
      return false;
    }
    best_ = std::move(verdict);
    best_.subject = subject;
    return true;
  }

  /// Leaves out halves, quarters, …, single ones of a list, as long as that changes nothing.
  void drop_each(std::vector<std::string> Case::*list) {
    for (std::size_t length = (best_.subject.*list).size(); length > 0; length /= 2) {
      for (std::size_t begin = 0; begin < (best_.subject.*list).size();) {
        Case smaller = best_.subject;
        auto& items = smaller.*list;
        const std::size_t end = std::min(begin + length, items.size());
        items.erase(items.begin() + static_cast<std::ptrdiff_t>(begin),
                    items.begin() + static_cast<std::ptrdiff_t>(end));
        if (!fails(smaller)) begin += length;
      }
    }
  }

  /// One application in place of several, with its own parameters.
  void simplify_workload() {
    const auto parts = application_parts(best_.subject.workload, SizeClass::Small);
    if (parts.size() < 2) return;
    for (const ApplicationPart& part : parts) {
      Case smaller = best_.subject;
      smaller.workload = part.name;
      smaller.parameters.clear();
      for (const std::string& parameter : best_.subject.parameters) {
        if (parameter.starts_with(part.name + "."))
          smaller.parameters.push_back(parameter.substr(part.name.size() + 1));
      }
      if (fails(smaller)) return;
    }
    if (parts.size() == 2) return;
    for (std::size_t left_out = 0; left_out < parts.size(); ++left_out) {
      Case smaller = best_.subject;
      std::vector<std::string> names;
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i != left_out) names.push_back(parts[i].name);
      }
      smaller.workload = join(names, "+");
      std::erase_if(smaller.parameters, [&](const std::string& parameter) {
        return std::ranges::find(names, parameter.substr(0, parameter.find('.'))) == names.end();
      });
      if (fails(smaller)) return simplify_workload();
    }
  }

  void few_gpus() {
    for (const char* gpus : {"1", "2"}) {
      if (fails(with_override("gpus", gpus))) return;
    }
  }

  Case with_override(const std::string& path, const std::string& value) const {
    Case changed = best_.subject;
    std::erase_if(changed.overrides, [&](const std::string& setting) { return setting.starts_with(path + "="); });
    changed.overrides.push_back(path + "=" + value);
    return changed;
  }

  void halve_parameters() {
    for (std::size_t i = 0; i < best_.subject.parameters.size(); ++i) {
      for (unsigned halvings = 0; halvings < 20; ++halvings) {
        Case smaller = best_.subject;
        std::string& parameter = smaller.parameters[i];
        const std::size_t value = parameter.find('=') + 1;
        const std::uint64_t half = std::stoull(parameter.substr(value)) / 2;
        parameter = parameter.substr(0, value) + std::to_string(half);
        if (half == 0 || !fails(smaller)) break;
      }
    }
  }

  /// A rounder number says more: powers of ten or two near it, or the default times two.
  void reduce_values() {
    const std::vector<Declared> declared = declared_parameters(best_.subject.designs);
    for (const std::string& setting : std::vector(best_.subject.overrides)) {
      const std::string path = setting.substr(0, setting.find('='));
      const auto found = std::ranges::find(declared, path, &Declared::path);
      if (found == declared.end() || found->is_choice()) continue;
      const NumberDomain& domain = *found->number;
      for (const std::uint64_t value : {domain.limits.least(), domain.limits.least() + 1, 2 * domain.value}) {
        if (!domain.limits.allow(value)) continue;
        if (path + "=" + domain.format(value) == setting || fails(with_override(path, domain.format(value)))) break;
      }
    }
  }

  Verdict best_;
  std::string signature_;
  bool timed_out_;
  std::vector<Variant> variants_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace

Verdict minimize(const Verdict& failure) { return Minimizer(failure)(); }

}  // namespace nearfar::fuzz

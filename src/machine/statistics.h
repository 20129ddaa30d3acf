// From the components' counters to the flat list of a result, and the meaning of each name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "stats/stat.h"

namespace nearfar {

/// Every statistic a run can report, with its unit and sentence, sorted by name.
std::vector<StatInfo> list_statistics();

/// Adds up counters by name. The same name may come from several components: they sum.
class StatTable {
 public:
  /// Adds the counters of `stats`, which describes itself, under `prefix`.
  template <class Stats>
  void add(const std::string& prefix, Stats& stats) {
    Adder adder(*this, prefix);
    stats.describe(adder);
  }
  void set(const std::string& name, std::uint64_t value) { counters_[name] = value; }
  void increase(const std::string& name, std::uint64_t by) { counters_[name] += by; }
  std::uint64_t at(const std::string& name) const;
  /// Adds another table's values, each name behind `prefix`.
  void merge(const std::string& prefix, const StatTable& other);

  /// All of it by name, with the ratios that follow from it.
  std::vector<StatValue> values() const;

 private:
  class Adder final : public StatVisitor {
   public:
    Adder(StatTable& table, const std::string& prefix) : table_(table), prefix_(prefix) {}
    void counter(std::string_view name, std::string_view, std::string_view, std::uint64_t& value) override;
    void histogram(std::string_view name, std::string_view, std::string_view, Histogram& value) override;

   private:
    StatTable& table_;
    const std::string& prefix_;
  };

  std::map<std::string, std::uint64_t> counters_;
  std::map<std::string, Histogram> histograms_;
};

}  // namespace nearfar

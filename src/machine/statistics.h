// From the components' counters to the flat list of a result, and the meaning of each name.
#pragma once

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "stats/stat.h"

namespace nearfar {

/// Every statistic that a run of the baseline can report, with its unit and sentence, sorted by name.
std::vector<StatInfo> list_statistics();

/// Statistics of L2 TLBs that are reported for each of several processes too.
inline constexpr const char* kProcessTlbStats[] = {"lookups", "hits", "misses", "merges", "evictions"};

/// Notes what a struct of counters describes, each name behind a prefix.
class StatLister final : public StatVisitor {
 public:
  StatLister(std::vector<StatInfo>& out, std::string prefix) : out_(out), prefix_(std::move(prefix)) {}

  void counter(std::string_view name, std::string_view unit, std::string_view sentence, std::uint64_t&) override;
  void histogram(std::string_view name, std::string_view unit, std::string_view sentence, Histogram&) override;

 private:
  std::vector<StatInfo>& out_;
  std::string prefix_;
};

/// The statistics of a struct of counters that stands in several places: {"gpus.l2.", "gpu<g>.l2."}.
template <class Stats>
void list_stats(std::vector<StatInfo>& out, std::initializer_list<std::string> prefixes) {
  for (const std::string& prefix : prefixes) {
    Stats stats;
    StatLister lister(out, prefix);
    stats.describe(lister);
  }
}

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
  void set_ratio(const std::string& name, double value) { ratios_[name] = value; }
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
  std::map<std::string, double> ratios_;
  std::map<std::string, Histogram> histograms_;
};

}  // namespace nearfar

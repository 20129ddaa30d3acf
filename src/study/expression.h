// Arithmetic over the statistics of a result: "100 * iommu.tlb.hits / iommu.tlb.lookups". Of a histogram, samples(NAME)
// is how many samples it has, and below(NAME, N) how many of them are below N, a power of two.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/source.h"

namespace nearfar {

class Statistics;

class Expression {
 public:
  /// Numbers, names of statistics, + - * / and parentheses. A mistake is an InputError that points into `place`, where
  /// the text stands.
  static Expression parse(const std::string& text, const Place& place);

  /// Nothing where a statistic is not in the result; not a number where there is nothing to divide by.
  std::optional<double> evaluate(const Statistics& statistics) const;

  struct Name {
    std::string text;
    Place place;
    bool histogram = false;
  };
  const std::vector<Name>& names() const { return names_; }
  const std::string& text() const { return text_; }

  struct Node;

 private:
  std::string text_;
  std::vector<Name> names_;
  std::shared_ptr<const Node> root_;
};

/// Whether a run can report a statistic of this name; `nearfar list statistics` shows them with placeholders.
bool is_statistic(std::string_view name);
/// Whether `name` is a histogram, whose bins are statistics.
bool is_histogram(std::string_view name);
/// The bins of a histogram: how many samples were below each bound, and not below the one before. Empty bins are
/// absent.
std::map<std::uint64_t, double> histogram_bins(const Statistics& statistics, const std::string& name);
/// What the statistic that once had this name is called now, or "".
std::string renamed_statistic(std::string_view name);
/// " Did you mean `x`?" of the statistics, or "".
std::string nearest_statistic(std::string_view name);

}  // namespace nearfar

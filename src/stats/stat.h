// Statistics: plain counters in the component that owns them, declared once with a unit and a sentence.
//
// A component keeps a struct of counters; the struct's `describe(StatVisitor&)` names each one. The same function
// serves to list what exists (`nearfar list statistics`), to collect values and to add components up, so a name is
// written once and the hot path is `++`.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nearfar {

/// One value of a result. Counts stay exact; only ratios and means are real.
struct StatValue {
  std::string name;
  bool real = false;
  std::uint64_t count = 0;
  double ratio = 0;

  double as_double() const { return real ? ratio : static_cast<double>(count); }
};

/// What a statistic means.
struct StatInfo {
  std::string name;  ///< with placeholders: gpu<g>.l1v.hits
  std::string unit;
  std::string sentence;
};

/// A histogram over powers of two: bin k counts values in [2^(k-1), 2^k), bin 0 counts zeros.
struct Histogram {
  std::array<std::uint64_t, 40> bins{};
  std::uint64_t count = 0;
  std::uint64_t sum = 0;
  std::uint64_t max = 0;

  void add(std::uint64_t value, std::uint64_t times = 1) {
    const auto bin = static_cast<std::size_t>(std::bit_width(value));
    bins[bin < bins.size() ? bin : bins.size() - 1] += times;
    count += times;
    sum += times * value;
    if (value > max) max = value;
  }
  void merge(const Histogram& other);
};

class StatVisitor {
 public:
  virtual ~StatVisitor() = default;
  virtual void counter(std::string_view name, std::string_view unit, std::string_view sentence,
                       std::uint64_t& value) = 0;
  virtual void histogram(std::string_view name, std::string_view unit, std::string_view sentence, Histogram& value) = 0;
};

}  // namespace nearfar

#include "stats/interval.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace nearfar {

double Interval::half_width() const { return std::max(mean - low, high - mean); }

double student_t95(std::size_t degrees) {
  static constexpr std::array kTable = {12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600,
                                        2.26216, 2.22814, 2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991,
                                        2.10982, 2.10092, 2.09302, 2.08596, 2.07961, 2.07387, 2.06866, 2.06390,
                                        2.05954, 2.05553, 2.05183, 2.04841, 2.04523, 2.04227};
  if (degrees <= kTable.size()) return kTable[degrees - 1];
  // Fisher's expansion about the quantile of the normal distribution; five digits beyond the table.
  constexpr double z = 1.959964;
  const auto v = static_cast<double>(degrees);
  return z + (std::pow(z, 3) + z) / (4 * v) + (5 * std::pow(z, 5) + 16 * std::pow(z, 3) + 3 * z) / (96 * v * v);
}

Interval interval_of(std::span<const double> values) {
  Interval interval;
  interval.count = values.size();
  if (values.empty()) return interval;
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double value : values) sum += value;
  interval.mean = interval.low = interval.high = sum / count;
  if (values.size() == 1) return interval;
  for (const double value : values) squares += (value - interval.mean) * (value - interval.mean);
  const double half = student_t95(values.size() - 1) * std::sqrt(squares / (count - 1) / count);
  interval.low -= half, interval.high += half;
  return interval;
}

Interval geometric_interval_of(std::span<const double> values) {
  // One value stays what it is, to the last bit.
  if (values.size() <= 1) return interval_of(values);
  std::vector<double> logarithms;
  logarithms.reserve(values.size());
  for (const double value : values) logarithms.push_back(std::log(value));
  const Interval of_logarithms = interval_of(logarithms);
  return {values.size(), std::exp(of_logarithms.mean), std::exp(of_logarithms.low), std::exp(of_logarithms.high)};
}

}  // namespace nearfar

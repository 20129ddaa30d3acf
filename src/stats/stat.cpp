#include "stats/stat.h"

#include <algorithm>

namespace nearfar {

void Histogram::merge(const Histogram& other) {
  for (std::size_t i = 0; i < bins.size(); ++i) bins[i] += other.bins[i];
  count += other.count;
  sum += other.sum;
  max = std::max(max, other.max);
}

}  // namespace nearfar

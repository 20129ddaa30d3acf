// Static Re-Reference Interval Prediction (SRRIP): a cache's replacement that a scan does not wash out. Each line has a
// Re-Reference Prediction Value (RRPV) of a few bits: 0 for a line that is predicted to be used again soon, the largest
// for one that is not. A line comes with a long interval, a use shortens it, and one with the longest leaves first.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/cache/replacement.h"
#include "stats/stat.h"
#include "translation/design_component.h"

namespace nearfar {

class Section;

/// What a use does to a line's RRPV: hit priority makes it 0, frequency priority one less.
enum class RrpvPromotion : std::uint8_t { HitPriority, FrequencyPriority };

struct SrripSpec {
  std::uint32_t rrpv_bits = 2;
  RrpvPromotion promotion = RrpvPromotion::HitPriority;

  void describe(Section& section);
};

struct SrripStats {
  std::uint64_t fills = 0;
  std::uint64_t reused = 0;
  std::uint64_t agings = 0;

  void describe(StatVisitor& visitor);
};

/// The policy of one array of tags.
class Srrip final : public CacheReplacement {
 public:
  Srrip(const SrripSpec& spec, const CacheArray& array, SrripStats& stats);

  void used(std::uint64_t set, std::uint32_t way) override;
  void filled(std::uint64_t set, std::uint32_t way) override;
  std::uint32_t victim(std::uint64_t set, const WaySet& ways) override;

 private:
  struct Line {
    std::uint8_t rrpv = 0;
    bool reused = false;  ///< for the statistics alone
  };
  Line& line(std::uint64_t set, std::uint32_t way) { return lines_[set * ways_ + way]; }

  std::uint32_t ways_;
  std::uint8_t distant_;  ///< the largest RRPV
  RrpvPromotion promotion_;
  std::vector<Line> lines_;
  SrripStats& stats_;
};

/// What the policies of a GPU's caches share: where they count.
class SrripPart final : public DesignComponent {
 public:
  explicit SrripPart(const char* name) : name_(name) {}

  const char* name() const override { return name_; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }
  SrripStats& stats() { return stats_; }

 private:
  const char* name_;
  SrripStats stats_;
};

}  // namespace nearfar

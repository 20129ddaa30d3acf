#include "designs/srrip/srrip.h"

#include <algorithm>
#include <span>

#include "config/schema.h"

namespace nearfar {

void SrripSpec::describe(Section& section) {
  section.integer("rrpv_bits", rrpv_bits, {1, 7}, "bits",
                  "Size of a line's Re-Reference Prediction Value; with one bit the policy is Not Recently Used.");
  section.choice<RrpvPromotion>("promotion", promotion,
                                {{"hit", RrpvPromotion::HitPriority}, {"frequency", RrpvPromotion::FrequencyPriority}},
                                "What a use does to the Re-Reference Prediction Value of a line: hit makes it 0 (hit "
                                "priority), frequency makes it one less (frequency priority).");
}

void SrripStats::describe(StatVisitor& visitor) {
  visitor.counter("fills", "lines", "Lines that were filled into the caches whose replacement is SRRIP.", fills);
  visitor.counter("reused", "lines", "Lines in the caches whose replacement is SRRIP that were used after their fill.",
                  reused);
  visitor.counter("agings", "steps",
                  "Times that all lines of a full set became one step older, since SRRIP predicted the distant future "
                  "for no line there.",
                  agings);
}

Srrip::Srrip(const SrripSpec& spec, const CacheArray& array, SrripStats& stats)
    : ways_(array.ways),
      distant_(static_cast<std::uint8_t>((1U << spec.rrpv_bits) - 1)),
      promotion_(spec.promotion),
      lines_(array.sets * array.ways, Line{distant_, false}),
      stats_(stats) {}

void Srrip::used(std::uint64_t set, std::uint32_t way) {
  Line& hit = line(set, way);
  if (!hit.reused) ++stats_.reused;
  hit.reused = true;
  if (promotion_ == RrpvPromotion::HitPriority) {
    hit.rrpv = 0;
  } else if (hit.rrpv != 0) {
    --hit.rrpv;
  }
}

void Srrip::filled(std::uint64_t set, std::uint32_t way) {
  ++stats_.fills;
  line(set, way) = {static_cast<std::uint8_t>(distant_ - 1), false};
}

std::uint32_t Srrip::victim(std::uint64_t set, const WaySet& ways) {
  const std::span<Line> of_set(&line(set, 0), ways_);
  while (true) {
    for (std::uint32_t way = 0; way < ways_; ++way) {
      if (ways[way] && of_set[way].rrpv == distant_) return way;
    }
    ++stats_.agings;
    for (Line& each : of_set) each.rrpv = std::min<std::uint8_t>(each.rrpv + 1, distant_);
  }
}

}  // namespace nearfar

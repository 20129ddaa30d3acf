#include "translation/tlb/replacement.h"

#include <vector>

namespace nearfar {
namespace {

/// What came first leaves first. A way that was emptied meanwhile is filled out of turn, so arrivals are numbered.
class FifoReplacement final : public TlbReplacement {
 public:
  FifoReplacement(std::uint32_t sets, std::uint32_t ways) : ways_(ways), filled_(std::uint64_t{sets} * ways, 0) {}

  void filled(std::uint64_t set, std::uint32_t way, PageKey) override { filled_[set * ways_ + way] = ++clock_; }
  std::uint32_t victim(std::uint64_t set, PageKey) override {
    std::uint32_t first = 0;
    for (std::uint32_t way = 1; way < ways_; ++way) {
      if (filled_[set * ways_ + way] < filled_[set * ways_ + first]) first = way;
    }
    return first;
  }

 private:
  std::uint32_t ways_;
  std::uint64_t clock_ = 0;
  std::vector<std::uint64_t> filled_;
};

/// Any way, by a generator that begins with the same number in every run (splitmix64).
class RandomReplacement final : public TlbReplacement {
 public:
  explicit RandomReplacement(std::uint32_t ways) : ways_(ways) {}

  void filled(std::uint64_t, std::uint32_t, PageKey) override {}
  std::uint32_t victim(std::uint64_t, PageKey) override {
    std::uint64_t x = state_ += 0x9e3779b97f4a7c15ULL;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
    return static_cast<std::uint32_t>(((x ^ x >> 31) >> 32) * ways_ >> 32);
  }

 private:
  std::uint32_t ways_;
  std::uint64_t state_ = 0;
};

}  // namespace

std::unique_ptr<TlbReplacement> make_replacement(TlbReplacementKind kind, std::uint32_t sets, std::uint32_t ways) {
  switch (kind) {
    case TlbReplacementKind::Fifo: return std::make_unique<FifoReplacement>(sets, ways);
    case TlbReplacementKind::Random: return std::make_unique<RandomReplacement>(ways);
    case TlbReplacementKind::Lru: break;
  }
  return nullptr;
}

}  // namespace nearfar

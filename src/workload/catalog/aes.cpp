// AES: AES-256 encryption (Hetero-Mark; in the studies of least-TLB and Trans-FW).
// Partitioned: an item loads 16 bytes, goes through fourteen rounds of table look-ups in the S-box, and stores them
// back. GPUs share nothing; the S-box is so small that it always hits.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 64;
constexpr std::uint32_t kBlock = 16;  // bytes of an item
constexpr std::uint32_t kRounds = 14;

/// The state's bytes are as good as random after the first round, and a table of 256 bytes has only four lines: any
/// uniform byte looks up as the cipher's own would. It is drawn from the products of the item and of the look-up.
constexpr std::uint32_t kOfItem = 0x9e3779b9U, kOfLookUp = 0x85ebca6bU;
constexpr std::uint32_t state_byte(std::uint32_t item, std::uint32_t look_up) {
  const std::uint32_t h = item ^ look_up;
  return ((h ^ h >> 15) * 0x2c1b3c6dU) >> 24;
}

class Aes final : public Workload {
 public:
  Aes(const Parameters& parameters, std::uint64_t seed)
      : seed_(static_cast<std::uint32_t>(seed * 0x9e3779b97f4a7c15U >> 32)),
        data_(allocate("data", parameters["bytes"], Placement::Distribute)),
        key_(allocate("key", kBlock * (kRounds + 1), Placement::Private)),
        s_box_(allocate("s_box", 256, Placement::Private)) {
    add_launch(linear_launch("encrypt", parameters["bytes"] / kBlock, kGroup, Split::Offset));
  }

  Stream wavefront(std::size_t, const Wave& wave) const override { return encrypt(wave.item(0)); }

 private:
  Stream encrypt(std::uint64_t first) const {
    const auto first_drawn = static_cast<std::uint32_t>(first) * kOfItem;
    std::uint32_t look_up = 0;
    const auto from = load(kBlock, [&] { return Row{data_ + kBlock * first}; });
    const auto substitute =
        load(1, Every{[&](unsigned lane) {
               return s_box_ + std::uint64_t{state_byte(first_drawn + lane * kOfItem, look_up * kOfLookUp ^ seed_)};
             }});
    const auto to = store(kBlock, [&] { return Row{data_ + kBlock * first}; });

    co_yield salu(10);
    co_yield valu(9);
    co_yield from;
    co_yield scalar_load(kBlock, key_);
    co_yield wait(0);
    co_yield valu(4);
    for (std::uint32_t round = 1; round <= kRounds; ++round) {
      const bool mixes = round < kRounds;  // the last round has no mix columns
      for (std::uint32_t i = 0; i < 16; ++i, ++look_up) {
        co_yield valu(3);
        co_yield substitute;
      }
      for (const unsigned outstanding : {14, 12, 11, 10, 9, 8, 7, 6, 5, 4, 2, 0}) {
        co_yield wait(outstanding);
        co_yield valu(mixes ? 11 : 4);
      }
      co_yield scalar_load(kBlock, key_ + std::uint64_t{kBlock} * round);
      co_yield valu(3);
      co_yield salu(mixes ? 18 : 5);
    }
    co_yield wait(0);
    co_yield valu(8);
    co_yield to;
    co_yield salu(1);
  }

  std::uint32_t seed_;
  VirtAddr data_, key_, s_box_;
};

WorkloadInfo info() {
  return {.name = "AES",
          .title = "AES-256 encryption",
          .suite = "Hetero-Mark",
          .sentence = "Partitioned: long rounds of table look-ups over a stream of blocks; GPUs share nothing.",
          .parameters = {sized("bytes", "bytes to encrypt", {1 << 20, 8 << 20, 32 << 20}, 1024, std::uint64_t{1} << 34,
                               kBlock * kGroup)}};
}

}  // namespace

constinit const CatalogEntry kAes{info, construct<Aes>};

}  // namespace nearfar

// RS: radix sort (AMD APP SDK; in the studies of UMH).
// An item owns 256 consecutive keys, so that a wavefront's loads lie 1 KiB apart: 64 lines each. Keys are stored
// wherever the scanned counts say, all over the array. The host really sorts, so these are the program's own places.
#include <pcg_random.hpp>

#include "workload/catalog/entries.h"
#include "workload/catalog/radix_sort.h"

namespace nearfar {

RadixSort sort_by_radix(std::uint64_t keys, std::uint64_t seed) {
  RadixSort sort;
  pcg32 random(seed, 13);
  sort.keys.resize(keys);
  for (std::uint32_t& key : sort.keys) key = random() >> 1;

  sort.sorted = sort.keys;
  const std::uint64_t items = keys / RadixSort::kKeysOfItem;
  std::vector<std::uint32_t> next(RadixSort::kDigits * items);  // by digit, then by item: where the next key goes
  std::vector<std::uint32_t> before;
  for (std::uint32_t pass = 0; pass < RadixSort::kPasses; ++pass) {
    before = sort.sorted;
    const auto counter = [&](std::uint64_t place) -> std::uint32_t& {
      const std::uint32_t digit = before[place] >> (8 * pass) & (RadixSort::kDigits - 1);
      return next[digit * items + place / RadixSort::kKeysOfItem];
    };
    std::ranges::fill(next, 0U);
    for (std::uint64_t place = 0; place < keys; ++place) ++counter(place);
    std::uint32_t sum = 0;
    for (std::uint32_t& each : next) sum += std::exchange(each, sum);
    auto& positions = sort.positions.emplace_back(keys);
    for (std::uint64_t place = 0; place < keys; ++place) {
      positions[place] = counter(place)++;
      sort.sorted[positions[place]] = before[place];
    }
  }
  return sort;
}

namespace {

constexpr std::uint32_t kGroup = 64;
constexpr std::uint64_t kOwned = RadixSort::kKeysOfItem;

class RadixSortProgram final : public Workload {
 public:
  RadixSortProgram(const Parameters& parameters, std::uint64_t seed)
      : positions_(sort_by_radix(parameters["n"], seed).positions),
        keys_(allocate("keys", 4 * parameters["n"], Placement::Interleave, kOnlyRead)),
        buckets_(allocate("buckets", 4 * parameters["n"], Placement::Interleave, kOverwritten)),
        scanned_(allocate("scanned_buckets", 4 * parameters["n"], Placement::Interleave, kOnlyRead)),
        sorted_(allocate("sorted", 4 * parameters["n"], Placement::Interleave, kOverwritten)) {
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    const auto launch = [&](const char* kernel) {
      add_launch(linear_launch(kernel, parameters["n"] / kOwned, kGroup, Split::RoundRobin, 32 << 10));
    };
    for (std::uint32_t pass = 0; pass < RadixSort::kPasses; ++pass) {
      launch("histogram");
      if (host) pass_on(buckets_, scanned_);
      launch("permute");
      if (host && pass + 1 < RadixSort::kPasses) pass_on(sorted_, keys_);
    }
    if (host) add_host_read(sorted_);
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    return launch % 2 == 0 ? histogram(wave.item(0)) : permute(wave.item(0), positions_[launch / 2]);
  }

 private:
  /// The host makes one buffer of another: it scans the buckets, or takes what is sorted so far as keys.
  void pass_on(VirtAddr from, VirtAddr to) {
    add_host_read(from);
    add_host_write(to);
  }

  Stream histogram(std::uint64_t first) const {
    std::uint64_t i = 0;
    const auto key = load(4, [&](unsigned lane) { return keys_ + 4 * (kOwned * (first + lane) + i); });
    const auto count = store(4, [&](unsigned lane) { return buckets_ + 4 * (kOwned * (first + lane) + i); });

    co_yield salu(10);
    co_yield local(kOwned);
    co_yield barrier();
    for (; i < kOwned; ++i) {
      co_yield key;
      co_yield wait(0);
      co_yield valu(6);
      co_yield local(2);
    }
    co_yield barrier();
    for (i = 0; i < kOwned; ++i) {
      co_yield local(1);
      co_yield count;
    }
    co_yield salu(1);
  }

  Stream permute(std::uint64_t first, const std::vector<std::uint32_t>& positions) const {
    std::uint64_t i = 0;
    const auto start = load(4, [&](unsigned lane) { return scanned_ + 4 * (kOwned * (first + lane) + i); });
    const auto key = load(4, [&](unsigned lane) { return keys_ + 4 * (kOwned * (first + lane) + i); });
    const auto place =
        store(4, [&](unsigned lane) { return sorted_ + 4 * std::uint64_t{positions[kOwned * (first + lane) + i]}; });

    co_yield salu(10);
    for (; i < kOwned; ++i) {
      co_yield start;
      co_yield wait(0);
      co_yield local(1);
    }
    co_yield barrier();
    for (i = 0; i < kOwned; ++i) {
      co_yield key;
      co_yield wait(0);
      co_yield valu(6);
      co_yield local(1);
      co_yield place;
      co_yield local(1);
      co_yield barrier();
    }
    co_yield salu(1);
  }

  std::vector<std::vector<std::uint32_t>> positions_;  // by pass
  VirtAddr keys_, buckets_, scanned_, sorted_;
};

WorkloadInfo info() {
  return {
      .name = "RS",
      .title = "radix sort",
      .suite = "AMD APP SDK",
      .sentence = "Strides of 1 KiB, 64 lines a load, and keys scattered over an array that all GPUs write.",
      .parameters = {sized("n", "keys to sort", {1 << 15, 1 << 19, 1 << 21}, kGroup * kOwned, 1 << 26, kGroup * kOwned),
                     host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kRs{info, construct<RadixSortProgram>};

}  // namespace nearfar

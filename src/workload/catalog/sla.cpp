// SLA: prefix sums of a large array (AMD APP SDK's ScanLargeArrays; in the studies of UMH).
// Streaming with a tree: blocks of 256 are scanned, then the blocks' sums in the same way, and added back.
#include <bit>

#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kBlock = 256;
constexpr std::uint32_t kScanGroup = kBlock / 2;  // an item has two elements

class ScanLargeArrays final : public Workload {
 public:
  explicit ScanLargeArrays(const Parameters& parameters)
      : n_(parameters["n"]),
        input_(allocate("input", 4 * n_, Placement::Interleave, kOnlyRead)),
        output_(allocate("output", 4 * n_, Placement::Interleave)),
        sums_(allocate("sums", 4 * (n_ / kBlock), Placement::Interleave)),
        level1_(allocate("level1_output", 4 * (n_ / kBlock), Placement::Interleave)),
        level1_sums_(allocate("level1_sums", 4 * (n_ / kBlock / kBlock), Placement::Interleave)),
        top_(allocate("top_scan", 4 * (n_ / kBlock / kBlock), Placement::Interleave)) {
    parameters.log2("n");
    const std::uint64_t blocks = n_ / kBlock, tops = blocks / kBlock;
    const auto top_group = static_cast<std::uint32_t>(tops / 2);
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    add_launch(linear_launch("scan", n_ / 2, kScanGroup, Split::RoundRobin, 4 * kBlock));
    add_launch(linear_launch("scan", blocks / 2, kScanGroup, Split::RoundRobin, 4 * kBlock));
    add_launch(linear_launch("top_scan", top_group, top_group, Split::RoundRobin, 4 * kBlock));
    add_launch(linear_launch("add", blocks, kBlock, Split::RoundRobin, 4));
    add_launch(linear_launch("add", n_, kBlock, Split::RoundRobin, 4));
    if (host) add_host_read(output_);
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    switch (launch) {
      case 0: return scan(input_, output_, sums_, wave);
      case 1: return scan(sums_, level1_, level1_sums_, wave);
      case 2: return scan(level1_sums_, top_, VirtAddr{}, wave);
      case 3: return add(level1_, top_ + std::uint64_t{4} * wave.group_x, wave);
      default: return add(output_, level1_ + std::uint64_t{4} * wave.group_x, wave);
    }
  }

 private:
  /// The top level has no sums above it.
  Stream scan(VirtAddr in, VirtAddr out, VirtAddr sums, const Wave& wave) const {
    return scan_block(in, out,
                      {.first = wave.item(0),
                       .lanes = live_lanes(wave),
                       .steps = 2 * static_cast<std::uint32_t>(std::bit_width(wave.size_x)),
                       .sum = sums == VirtAddr{} ? sums : sums + std::uint64_t{4} * wave.group_x});
  }

  struct At {
    std::uint64_t first;
    std::uint32_t lanes, steps;
    VirtAddr sum;
    std::uint64_t second = 0;  ///< of the two elements
  };

  Stream scan_block(VirtAddr in, VirtAddr out, At at) const {
    const auto own = [&](VirtAddr array) {
      return Rows{.first = array + 4 * (2 * at.first + at.second), .lanes = at.lanes, .step = 8};
    };
    const auto from = load(4, [&] { return own(in); });
    const auto to = store(4, [&] { return own(out); });
    const auto sum = store(4, [&] { return everybody_at(at.sum, at.lanes); });

    co_yield salu(12);
    co_yield from;
    at.second = 1;
    co_yield from;
    co_yield wait(0);
    co_yield local(2);
    co_yield barrier();
    for (std::uint32_t step = 0; step < at.steps; ++step) {  // up the tree and down again
      co_yield local(3);
      co_yield valu(4);
      co_yield barrier();
    }
    if (at.sum != VirtAddr{}) co_yield sum;
    at.second = 0;
    co_yield to;
    at.second = 1;
    co_yield to;
    co_yield salu(1);
  }

  Stream add(VirtAddr array, VirtAddr sum, const Wave& wave) const {
    return add_sum(array + 4 * wave.item(0), sum, wave.local(0) == 0);
  }

  Stream add_sum(VirtAddr own, VirtAddr sum, bool leads) const {
    const auto addend = load(4, [&] { return Row{sum, 1}; });
    const auto before = load(4, [&] { return Row{own}; });
    const auto after = store(4, [&] { return Row{own}; });

    co_yield salu(10);
    if (leads) {
      co_yield addend;
      co_yield wait(0);
      co_yield local(1);
    }
    co_yield barrier();
    co_yield local(1);
    co_yield before;
    co_yield wait(0);
    co_yield valu(1);
    co_yield after;
    co_yield salu(1);
  }

  std::uint64_t n_;
  VirtAddr input_, output_, sums_, level1_, level1_sums_, top_;
};

WorkloadInfo info() {
  return {.name = "SLA",
          .title = "prefix sums of a large array",
          .suite = "AMD APP SDK",
          .sentence = "Streaming with a tree: blocks are scanned, then their sums, which are added back.",
          .parameters = {sized("n", "elements, a power of two", {1 << 18, 1 << 24, 1 << 21}, 1 << 17, 1 << 24),
                         host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kSla{info, construct<ScanLargeArrays>};

}  // namespace nearfar

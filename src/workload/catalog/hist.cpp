// Hist: histogram of an image with 256 bins (AMD APP SDK; in the studies of UMH).
// Streaming: a workgroup counts its own run of pixels in local memory and stores one histogram for the host to add.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 128;
constexpr std::uint32_t kBins = 256;

class Histogram final : public Workload {
 public:
  explicit Histogram(const Parameters& parameters)
      : third_sdk_(parameters["sdk"] == 3),
        loads_(third_sdk_ ? 32 : 256),
        bytes_(third_sdk_ ? 16 : 4),
        data_(allocate("data", 4 * parameters["width"] * parameters["width"], Placement::Interleave, kOnlyRead)),
        bins_(allocate("bins", 4 * kBins * groups(parameters), Placement::Interleave, kOverwritten)) {
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    add_launch(linear_launch("histogram", groups(parameters) * kGroup, kGroup, Split::RoundRobin,
                             std::uint64_t{kBins} * kGroup));
    if (host) add_host_read(bins_);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override { return count(wave.group_x, wave.local(0)); }

 private:
  std::uint64_t groups(const Parameters& parameters) const {
    return 4 * parameters["width"] * parameters["width"] / (kGroup * loads_ * bytes_);
  }

  Stream count(std::uint64_t group, std::uint32_t first) const {
    std::uint64_t i = 0;
    const auto pixels = load(bytes_, [&] { return Row{data_ + bytes_ * ((group * loads_ + i) * kGroup + first)}; });
    const auto sums = store(4, [&] { return Row{bins_ + 4 * (kBins * group + kGroup * i + first)}; });

    co_yield salu(12);
    co_yield local(third_sdk_ ? 64 : 256);  // clear
    co_yield barrier();
    for (; i < loads_; ++i) {
      co_yield pixels;
      co_yield wait(0);
      co_yield valu(bytes_);
      co_yield local(bytes_ / 2);
    }
    co_yield barrier();
    for (i = 0; i < kBins / kGroup; ++i) {
      co_yield local(third_sdk_ ? 32 : 128);
      co_yield valu(third_sdk_ ? 160 : 128);
      co_yield sums;
    }
    co_yield salu(1);
  }

  bool third_sdk_;
  std::uint32_t loads_, bytes_;  // of an item; of each load
  VirtAddr data_, bins_;
};

WorkloadInfo info() {
  return {.name = "Hist",
          .title = "histogram",
          .suite = "AMD APP SDK",
          .sentence = "Streaming: long runs of the image a workgroup, one small histogram each.",
          .parameters = {sized("width", "pixels on a side of the image", {512, 8192, 2048}, 256, 1 << 15, 256),
                         constant("sdk", "version of the SDK: 2 or 3", 2, 2, 3), host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kHist{info, construct<Histogram>};

}  // namespace nearfar

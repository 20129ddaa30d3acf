// DH: Haar wavelet transform in one dimension (AMD APP SDK's DwtHaar1D; in the studies of UMH).
// Streaming: a workgroup halves its part of the signal nine times in local memory and stores the coefficients of every
// level; what is left of the signal is the next launch's.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kLevels = 9;  // that a launch takes at most

class HaarWavelet final : public Workload {
 public:
  explicit HaarWavelet(const Parameters& parameters)
      : third_sdk_(parameters["sdk"] == 3),
        signal_(allocate("signal", 4 * parameters["n"], Placement::Interleave, kOnlyRead)),
        coefficients_(allocate("coefficients", 4 * parameters["n"], Placement::Interleave, {.reads = false})),
        averages_(allocate("averages", 4 * parameters["n"], Placement::Interleave,
                           {.reads = false, .overwrites = true, .bytes = 4 * averages_of(parameters.log2("n"))})) {
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    for (unsigned left = parameters.log2("n"); left > 0; left -= std::min(left, kLevels)) {
      const std::uint32_t group = 1U << (std::min(left, kLevels) - 1);
      add_launch(linear_launch("dwt_haar_1d", std::uint64_t{1} << (left - 1), group, Split::RoundRobin,
                               sizeof(float) * 2 * group));
      if (host && left > kLevels) make_next_signal(4 * averages_of(left));
    }
    if (host) add_host_read(coefficients_);
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    return transform({.group = wave.group_x,
                      .length = 2 * launches()[launch].groups() * wave.size_x,
                      .first = wave.local(0),
                      .size = wave.size_x,
                      .active = wave.size_x});
  }

 private:
  /// How many a launch makes of a signal of 2^`levels` samples.
  static std::uint64_t averages_of(unsigned levels) { return std::uint64_t{1} << (levels - std::min(levels, kLevels)); }
  /// The host takes what a launch has left of the signal as that of the next launch.
  void make_next_signal(std::uint64_t bytes) {
    add_host_access({averages_, bytes, false});
    add_host_access({signal_, bytes, true});
  }

  struct At {
    std::uint64_t group, length;      ///< of the signal
    std::uint32_t first, size;        ///< local id of lane 0, items in the workgroup
    std::uint32_t active, level = 0;  ///< items that are still at work
    bool second = false;              ///< of the two samples an item loads
  };

  Stream transform(At at) const {
    const auto sample = load(4, [&](unsigned lane) {
      const std::uint64_t t = at.first + lane;
      if (t >= at.size) return kIdle;
      const std::uint64_t own = third_sdk_ ? t + (at.second ? at.size : 0) : 2 * t + (at.second ? 1 : 0);
      return signal_ + 4 * (2 * at.group * at.size + own);
    });
    const auto coefficient = store(4, [&](unsigned lane) {
      const std::uint64_t t = at.first + lane;
      return t < at.active ? coefficients_ + 4 * ((at.length >> (at.level + 1)) + at.group * at.active + t) : kIdle;
    });
    const auto average = store(4, [&] { return Row{averages_ + 4 * at.group, 1}; });

    co_yield salu(16);
    co_yield sample;
    at.second = true;
    co_yield sample;
    co_yield wait(0);
    co_yield valu(12);
    co_yield local(2);
    co_yield barrier();
    for (; at.active > 0; at.active /= 2, ++at.level) {
      const bool works = at.first < at.active;
      if (works) co_yield local(2);
      co_yield barrier();
      if (works) {
        co_yield valu(8);
        co_yield local(1);
        co_yield coefficient;
      }
      co_yield barrier();
    }
    if (at.first == 0) co_yield average;
    co_yield salu(1);
  }

  bool third_sdk_;
  VirtAddr signal_, coefficients_, averages_;
};

WorkloadInfo info() {
  return {.name = "DH",
          .title = "Haar wavelet transform",
          .suite = "AMD APP SDK",
          .sentence = "Streaming: pieces of a signal are halved in local memory, with a store at every level.",
          .parameters = {sized("n", "samples of the signal, a power of two", {1 << 18, 1 << 25, 1 << 21}, 2, 1 << 28),
                         constant("sdk", "version of the SDK: 2 or 3", 2, 2, 3), host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kDh{info, construct<HaarWavelet>};

}  // namespace nearfar

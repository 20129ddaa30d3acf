#include "characterize/characterization.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <bitset>

#include "gpu/coalescer.h"
#include "program/split.h"

namespace nearfar {
namespace {

using GpuSet = std::bitset<kMaxGpus>;

/// Goes through the streams of one GPU after the other.
class Pass {
 public:
  Pass(const Workload& workload, const CharacterizeSpec& spec)
      : workload_(workload), spec_(spec), coalescer_(spec.line_bytes) {
    std::uint64_t end = 0;
    first_page_ = ~std::uint64_t{0};
    for (const Buffer& buffer : workload.buffers()) {
      first_page_ = std::min(first_page_, page_of(buffer.base).value);
      end = std::max(end, page_of(buffer.base + (buffer.bytes - 1)).value + 1);
    }
    pages_.resize(end - std::min(end, first_page_));
    result_.spec = spec;
    result_.launches = workload.launches().size();
    for (std::size_t b = 0; b < workload.buffers().size(); ++b) {
      const Buffer& buffer = workload.buffers()[b];
      const bool copies = buffer.placement == Placement::Private;
      result_.buffers.push_back({buffer.name, buffer.bytes, copies, {}});
      if (buffer.placement != Placement::Multicast) result_.bytes += buffer.bytes;
      for (std::uint64_t page = page_of(buffer.base).value; page <= page_of(buffer.base + (buffer.bytes - 1)).value;
           ++page) {
        pages_[page - first_page_].buffer = static_cast<std::uint32_t>(b);
      }
    }
  }

  Characterization run() {
    for (unsigned gpu = 0; gpu < spec_.gpus; ++gpu) {
      gpu_ = gpu;
      ReuseDistance pages(pages_.size()), lines(pages_.size() * lines_in_page());
      page_distance_ = &pages;
      line_distance_ = &lines;
      for (std::size_t l = 0; l < workload_.launches().size(); ++l) run_launch(l, gpu);
    }
    sum_up();
    return std::move(result_);
  }

 private:
  struct Page {
    std::uint64_t lines = 0;  ///< touched by anybody
    GpuSet readers, writers;
    std::uint32_t buffer = 0;
  };

  std::uint64_t lines_in_page() const { return kPageBytes / spec_.line_bytes; }

  void run_launch(std::size_t l, unsigned gpu) {
    const Launch& launch = workload_.launches()[l];
    const bool as_asked = launch.split != Split::Greedy && places_fit(launch, spec_.gpus, spec_.cus_per_gpu);
    const Split split = as_asked ? launch.split : Split::RoundRobin;
    const Share share(launch, split, gpu, spec_.gpus, spec_.cus_per_gpu);
    const std::uint32_t in_group = launch.waves(spec_.lanes);
    const std::uint64_t all = share.size() * in_group;
    result_.workgroups += share.size();
    result_.wavefronts += all;
    std::uint64_t next = 0;
    std::vector<Stream> running;
    const auto start = [&] {
      const std::uint64_t wave = next++;
      return workload_.wavefront(
          l, launch.wave(share[wave / in_group], static_cast<std::uint32_t>(wave % in_group), spec_.lanes));
    };
    while (next < all && running.size() < spec_.resident) running.push_back(start());
    for (std::size_t turn = 0; !running.empty(); ++turn) {
      if (turn >= running.size()) turn = 0;
      while (!advance(running[turn])) {
        if (next < all) {
          running[turn] = start();
          continue;
        }
        running.erase(running.begin() + static_cast<std::ptrdiff_t>(turn--));  // the next one moves into its place
        break;
      }
    }
  }

  /// To the next vector memory instruction and through it; false at the end.
  bool advance(Stream& stream) {
    for (;;) {
      const Op op = stream.next();
      result_.instructions += instructions(op);
      switch (op.kind) {
        case OpKind::End: return false;
        case OpKind::Barrier: ++result_.barriers; break;
        case OpKind::ScalarLoad:
          ++result_.scalar_loads;
          page_at(page_of(VirtAddr{op.address})).readers.set(gpu_);
          page_at(page_of(VirtAddr{op.address})).lines |= std::uint64_t{1}
                                                          << op.address % kPageBytes / spec_.line_bytes;
          break;
        case OpKind::Load:
        case OpKind::Store:
        case OpKind::Atomic: access(op); return true;
        default: break;
      }
    }
  }

  void access(const Op& op) {
    op.lanes(op.operation, spec_.lanes, lanes_);
    const bool writes = op.kind != OpKind::Load;
    ++(op.kind == OpKind::Load ? result_.loads : writes && op.kind == OpKind::Store ? result_.stores : result_.atomics);
    count_lanes(writes);
    std::uint64_t lines = 0;
    const auto groups = coalescer_.loads(lanes_, op.bytes);
    for (const PageGroup& group : groups) {
      const auto here = static_cast<std::uint64_t>(std::popcount(group.lines));
      lines += here;
      Page& page = page_at(group.page);
      (writes ? page.writers : page.readers).set(gpu_);
      page.lines |= group.lines;
      Touched& touched = result_.buffers[page.buffer].touched;
      (writes ? touched.lines_written : touched.lines_read) += here;
      const std::uint64_t number = group.page.value - first_page_;
      result_.page_reuse.add(page_distance_->touch(number));
      for (std::uint64_t left = group.lines; left != 0; left &= left - 1) {
        const auto line = static_cast<std::uint64_t>(std::countr_zero(left));
        result_.line_reuse.add(line_distance_->touch(number * lines_in_page() + line));
      }
    }
    result_.lines.add(lines);
    result_.pages.add(groups.size());
  }

  void count_lanes(bool writes) {
    std::uint64_t& active = writes ? result_.lanes_writing : result_.lanes_reading;
    lanes_.expand();
    active += static_cast<std::uint64_t>(std::popcount(lanes_.active));
    const std::uint64_t* before = nullptr;
    for (std::uint64_t left = lanes_.active; left != 0; left &= left - 1) {
      const std::uint64_t& at = lanes_.address[static_cast<std::size_t>(std::countr_zero(left))];
      if (before != nullptr) result_.strides.add(*before, at);
      before = &at;
    }
  }

  Page& page_at(VirtPage page) { return pages_[page.value - first_page_]; }

  void sum_up() {
    const auto add_page = [&](Touched& touched, const Page& page, bool shared) {
      ++touched.pages;
      touched.lines += static_cast<std::uint64_t>(std::popcount(page.lines));
      if (!shared) return;
      touched.pages_by.resize(spec_.gpus);
      touched.written_pages_by.resize(spec_.gpus);
      const auto gpus = (page.readers | page.writers).count();
      ++touched.pages_by[gpus - 1];
      if (page.writers.any()) ++touched.written_pages_by[gpus - 1];
    };
    for (const Page& page : pages_) {
      if ((page.readers | page.writers).none()) continue;
      BufferTouched& buffer = result_.buffers[page.buffer];
      add_page(buffer.touched, page, true);
      add_page(result_.touched, page, !buffer.private_copies);
    }
    for (const BufferTouched& buffer : result_.buffers) {
      result_.touched.lines_read += buffer.touched.lines_read;
      result_.touched.lines_written += buffer.touched.lines_written;
    }
    for (BufferTouched& buffer : result_.buffers) {
      buffer.touched.pages_by.resize(spec_.gpus);
      buffer.touched.written_pages_by.resize(spec_.gpus);
    }
    result_.touched.pages_by.resize(spec_.gpus);
    result_.touched.written_pages_by.resize(spec_.gpus);
  }

  const Workload& workload_;
  CharacterizeSpec spec_;
  Coalescer coalescer_;
  LaneAddresses lanes_;
  std::uint64_t first_page_ = 0;
  std::vector<Page> pages_;
  unsigned gpu_ = 0;
  ReuseDistance* page_distance_ = nullptr;
  ReuseDistance* line_distance_ = nullptr;
  Characterization result_;
};

}  // namespace

std::uint64_t Distribution::count() const {
  std::uint64_t sum = 0;
  for (const std::uint64_t each : times) sum += each;
  return sum;
}

double Distribution::mean() const {
  double sum = 0;
  for (std::size_t value = 0; value < kValues; ++value) {
    sum += static_cast<double>(value) * static_cast<double>(times[value]);
  }
  return count() == 0 ? 0 : sum / static_cast<double>(count());
}

std::uint64_t Distribution::least() const {
  const auto found = std::ranges::find_if(times, [](std::uint64_t each) { return each != 0; });
  return found == times.end() ? 0 : static_cast<std::uint64_t>(found - times.begin());
}

std::uint64_t Distribution::most() const {
  for (std::size_t value = kValues; value-- > 0;) {
    if (times[value] != 0) return value;
  }
  return 0;
}

void Strides::add(std::uint64_t from, std::uint64_t to) {
  if (to < from) {
    ++backward;
    return;
  }
  const std::uint64_t stride = to - from;
  const std::size_t place = stride == 0 ? 0 : 1 + static_cast<std::size_t>(std::bit_width(stride - 1));
  ++forward[std::min(place, kForward - 1)];
}

std::string Strides::label(std::size_t place) {
  if (place <= 2) return fmt::format("{} B", place);
  const auto size = [](std::uint64_t bytes) {
    constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB"};
    std::size_t unit = 0;
    for (; bytes >= 1024; bytes /= 1024) ++unit;
    return fmt::format("{} {}", bytes, kUnits[unit]);
  };
  return place + 1 == kForward ? "more" : "to " + size(std::uint64_t{1} << (place - 1));
}

Characterization characterize(const Workload& workload, const CharacterizeSpec& spec) {
  return Pass(workload, spec).run();
}

}  // namespace nearfar

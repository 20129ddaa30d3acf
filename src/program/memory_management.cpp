#include "program/memory_management.h"

#include <algorithm>
#include <utility>

namespace nearfar {
namespace {

/// Which of the two copies of a page is up to date.
enum class Fresh : std::uint8_t { Both, Host, Gpus };

std::uint64_t pages_of(std::uint64_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes; }

class MemcpyPlan {
 public:
  MemcpyPlan(const Workload& workload, CopyIn copy_in) : workload_(workload), copy_in_(copy_in) {
    for (const Buffer& buffer : workload.buffers()) {
      pages_.emplace_back(pages_of(buffer.used_bytes()), comes_first(buffer) ? Fresh::Host : Fresh::Both);
    }
  }

  std::vector<Step> steps() {
    for (const Step& step : workload_.steps()) {
      if (const auto* launch = std::get_if<LaunchStep>(&step)) {
        copy(Fresh::Host, [](const Buffer&, std::uint64_t) { return true; });
        steps_.emplace_back(*launch);
        kernels_wrote();
        launched_ = true;
      } else {
        if (const auto* access = std::get_if<HostAccess>(&step)) host_touches(*access);
        steps_.push_back(step);
      }
    }
    copy(Fresh::Gpus, [](const Buffer&, std::uint64_t) { return true; });
    return std::move(steps_);
  }

 private:
  /// Whether the first launch needs what the host has of a buffer, written by its program or not.
  bool comes_first(const Buffer& buffer) const { return copy_in_ == CopyIn::All || !buffer.kernels.overwrites; }

  /// Whether kernels overwrite only part of the last line in use, the rest of which the host may have filled.
  static bool ends_in_a_line(const Buffer& buffer, std::uint64_t page) {
    constexpr std::uint64_t kLargestLine = 128;
    return (page + 1) * kPageBytes > buffer.used_bytes() && buffer.used_bytes() % kLargestLine != 0;
  }

  /// Pages of which only the copy `from` is up to date, and which `needed` names, go to the other side.
  template <class Needed>
  void copy(Fresh from, Needed needed) {
    const std::size_t before = steps_.size();
    for (std::size_t b = 0; b < pages_.size(); ++b) {
      const Buffer& buffer = workload_.buffers()[b];
      std::vector<Fresh>& pages = pages_[b];
      for (std::uint64_t first = 0; first < pages.size();) {
        std::uint64_t end = first;
        while (end < pages.size() && pages[end] == from && needed(buffer, end)) pages[end++] = Fresh::Both;
        if (end == first) {
          ++first;
          continue;
        }
        const std::uint64_t bytes = std::min(end * kPageBytes, buffer.used_bytes()) - first * kPageBytes;
        steps_.emplace_back(Transfer{buffer.base + first * kPageBytes, bytes, from == Fresh::Gpus});
        first = end;
      }
    }
    if (steps_.size() != before) steps_.emplace_back(Sync{});
  }

  void kernels_wrote() {
    for (std::size_t b = 0; b < pages_.size(); ++b) {
      if (workload_.buffers()[b].kernels.writes) std::ranges::fill(pages_[b], Fresh::Gpus);
    }
  }

  /// What kernels have written comes before the host reads it, or writes a part of its page.
  void host_touches(const HostAccess& access) {
    const std::uint64_t end = access.first.value + access.bytes;
    const auto touched = [&](const Buffer& buffer, std::uint64_t page) {
      const std::uint64_t begin = buffer.base.value + page * kPageBytes;
      return begin < end && begin + kPageBytes > access.first.value;
    };
    const auto whole = [&](const Buffer& buffer, std::uint64_t page) {
      const std::uint64_t begin = buffer.base.value + page * kPageBytes;
      const std::uint64_t last = std::min(begin + kPageBytes, buffer.base.value + buffer.used_bytes());
      return access.first.value <= begin && end >= last;
    };
    copy(Fresh::Gpus, [&](const Buffer& buffer, std::uint64_t page) {
      return touched(buffer, page) && !(access.writes && whole(buffer, page));
    });
    if (!access.writes) return;
    for (std::size_t b = 0; b < pages_.size(); ++b) {
      const Buffer& buffer = workload_.buffers()[b];
      for (std::uint64_t page = 0; page < pages_[b].size(); ++page) {
        const bool comes = launched_ || comes_first(buffer) || ends_in_a_line(buffer, page);
        if (comes && touched(buffer, page)) pages_[b][page] = Fresh::Host;
      }
    }
  }

  const Workload& workload_;
  CopyIn copy_in_;
  bool launched_ = false;
  std::vector<std::vector<Fresh>> pages_;  ///< by buffer
  std::vector<Step> steps_;
};

/// Buffers as wholes, whatever kernels do with them.
class SoftwareUmPlan {
 public:
  explicit SoftwareUmPlan(const Workload& workload) : workload_(workload), at_(workload.buffers().size()) {}

  std::vector<Step> steps() {
    bool launched = false;
    for (const Step& step : workload_.steps()) {
      if (std::holds_alternative<LaunchStep>(step)) {
        transfer([](At at) { return at == At::HostTouched; }, false);
        std::ranges::fill(at_, At::Gpus);
        launched = true;
      } else if (const auto* access = std::get_if<HostAccess>(&step)) {
        if (std::exchange(launched, false)) synchronize();
        touch(*access);
      }
      steps_.push_back(step);
    }
    if (launched) synchronize();
    return std::move(steps_);
  }

 private:
  enum class At : std::uint8_t { Gpus, Host, HostTouched };

  template <class Which>
  void transfer(Which which, bool to_host) {
    const std::size_t before = steps_.size();
    for (std::size_t b = 0; b < at_.size(); ++b) {
      const Buffer& buffer = workload_.buffers()[b];
      if (which(at_[b])) steps_.emplace_back(Transfer{buffer.base, buffer.used_bytes(), to_host});
    }
    if (steps_.size() != before) steps_.emplace_back(Sync{});
  }

  /// After kernels everything goes to the host.
  void synchronize() {
    transfer([](At) { return true; }, true);
    std::ranges::fill(at_, At::Host);
  }

  void touch(const HostAccess& access) {
    for (std::size_t b = 0; b < at_.size(); ++b) {
      const Buffer& buffer = workload_.buffers()[b];
      if (access.first.value < buffer.base.value || access.first.value >= buffer.base.value + buffer.bytes) continue;
      if (at_[b] == At::Gpus) {
        steps_.emplace_back(Transfer{buffer.base, buffer.used_bytes(), true});
        steps_.emplace_back(Sync{});
      }
      at_[b] = At::HostTouched;
    }
  }

  const Workload& workload_;
  std::vector<At> at_;  ///< by buffer
  std::vector<Step> steps_;
};

}  // namespace

std::vector<Step> managed_steps(const Workload& workload, const MemorySpec& memory) {
  switch (memory.management) {
    case MemoryManagement::Memcpy: return MemcpyPlan(workload, memory.copy_in).steps();
    case MemoryManagement::SoftwareUm: return SoftwareUmPlan(workload).steps();
    case MemoryManagement::Placed:
    case MemoryManagement::ZeroCopy:
    case MemoryManagement::Umh: break;
  }
  return workload.steps();
}

}  // namespace nearfar

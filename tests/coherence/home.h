// A GPU and its coherence directory, asked by addresses in the GPU's memory, with answers that a person reads.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coherence/line_directory.h"
#include "designs/dir_ideal/ideal_directory.h"
#include "designs/rec/rec_directory.h"

namespace nearfar {

/// A directory of its number of entries, in sets of `ways`.
inline DirectorySpec directory_of(std::uint32_t entries, std::uint32_t ways,
                                  DirectoryReplacement replacement = DirectoryReplacement::Fifo) {
  DirectorySpec spec;
  spec.entries = entries;
  spec.ways = ways;
  spec.replacement = replacement;
  return spec;
}

inline DirectoryHome home_at(unsigned gpu, unsigned gpus = 4, unsigned line = 64) {
  return {DeviceId{static_cast<std::uint16_t>(gpu)}, gpus, static_cast<std::uint32_t>(kPageBytes / line)};
}

class Home {
 public:
  using Texts = std::vector<std::string>;

  Home(const DirectoryHome& home, std::unique_ptr<Directory> directory)
      : home_(home), directory_(std::move(directory)) {}

  /// What is sent: "0x1000 to 1" where a line is written, "0x1000..0x10c0 to 1" of a block, "… to 1, evicted".
  Texts read(unsigned gpu, std::uint64_t address) {
    Invalidations out;
    if (gpu != home_.gpu.value) directory_->remote_read(line(address), device(gpu), out);
    return texts(out);
  }
  Texts write(unsigned gpu, std::uint64_t address) {
    Invalidations out;
    if (gpu == home_.gpu.value) {
      directory_->local_write(line(address), out);
    } else {
      directory_->remote_write(line(address), device(gpu), out);
    }
    return texts(out);
  }
  void drop_page(std::uint64_t address) { directory_->drop_page(line(address).page()); }

  std::vector<unsigned> sharers(std::uint64_t address) const {
    std::vector<unsigned> gpus;
    for_each_sharer(directory_->sharers(line(address)), [&](DeviceId gpu) { gpus.push_back(gpu.value); });
    return gpus;
  }

  PhysLine line(std::uint64_t address) const {
    const std::uint64_t size = kPageBytes / home_.lines_per_page;
    return PhysLine(PhysPage(home_.gpu, address / kPageBytes), static_cast<unsigned>(address % kPageBytes / size));
  }
  Directory& directory() { return *directory_; }
  DirectoryStats& stats() { return directory_->stats(); }

 private:
  static DeviceId device(unsigned gpu) { return DeviceId{static_cast<std::uint16_t>(gpu)}; }

  Texts texts(const Invalidations& messages) const {
    Texts out;
    for (const Invalidation& message : messages) {
      const std::uint64_t size = kPageBytes / home_.lines_per_page;
      const std::uint64_t page = message.page.frame() * kPageBytes;
      const auto first = static_cast<unsigned>(std::countr_zero(message.lines));
      const auto last = static_cast<unsigned>(std::bit_width(message.lines)) - 1;
      EXPECT_EQ(std::popcount(message.lines), static_cast<int>(last - first + 1));
      EXPECT_EQ(message.written & ~message.lines, 0U);
      EXPECT_EQ(std::popcount(message.written), message.cause == InvalidationCause::Write ? 1 : 0);
      std::string text = fmt::format("{:#x}", page + first * size);
      if (last != first) text += fmt::format("..{:#x}", page + last * size);
      out.push_back(fmt::format("{} to {}{}", text, message.to.value,
                                message.cause == InvalidationCause::Eviction ? ", evicted" : ""));
    }
    return out;
  }

  DirectoryHome home_;
  std::unique_ptr<Directory> directory_;
};

inline Home line_home(const DirectorySpec& spec, const DirectoryHome& home = home_at(0)) {
  return {home, std::make_unique<LineDirectory>(spec, home)};
}
inline Home hmg_home(const DirectorySpec& spec, const DirectoryHome& home = home_at(0), unsigned lines = 4) {
  return {home, std::make_unique<BlockDirectory>(spec, home, lines)};
}
inline Home rec_home(const DirectorySpec& spec, const DirectoryHome& home = home_at(0), unsigned positions = 16) {
  return {home, std::make_unique<RecDirectory>(spec, home, positions)};
}
inline Home ideal_home(const DirectoryHome& home = home_at(0)) {
  return {home, std::make_unique<IdealDirectory>(home)};
}

}  // namespace nearfar

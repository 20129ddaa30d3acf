// A leaf table that lies on one GPU, and what that GPU knows of its use. No time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "translation/gpu_set.h"
#include "translation/walk/page_table.h"

namespace nearfar {

class TablePage {
 public:
  static constexpr unsigned kEntryBits = 9;
  static constexpr std::size_t kEntries = std::size_t{1} << kEntryBits;

  struct Entry {
    Pte pte;
    Epoch epoch = 0;  ///< of the last mapping that was written, or made invalid
  };

  TablePage(PageKey first, unsigned gpus) : first_(first), reads_(gpus, 0) {}

  PageKey first() const { return first_; }
  Entry& entry(PageKey page) { return entries_[page.number() % kEntries]; }

  /// A GPU has read an entry, or a mapping of it has been written for that GPU.
  void note_use(PageKey page, DeviceId gpu);
  /// A GPU has read an entry for a miss: counted until the table migrates.
  void count_read(DeviceId gpu) { ++reads_[gpu.value]; }
  std::uint32_t reads(DeviceId gpu) const { return reads_[gpu.value]; }
  void forget_reads() { reads_.assign(reads_.size(), 0); }

  /// GPUs that use it.
  unsigned users() const { return users_.count(); }
  /// Several GPUs use one of its entries.
  bool has_shared_entry() const { return shared_entry_; }
  /// Some entry has been written: before, the table need not exist.
  bool exists() const { return exists_; }
  void written() { exists_ = true; }

  Cycle left = 0;  ///< its old home, when it migrated last

 private:
  static constexpr std::uint16_t kNobody = 0xffff;

  PageKey first_;
  std::array<Entry, kEntries> entries_;
  std::array<std::uint16_t, kEntries> first_user_ = nobody();
  std::vector<std::uint32_t> reads_;
  GpuSet users_;
  bool shared_entry_ = false;
  bool exists_ = false;

  static std::array<std::uint16_t, kEntries> nobody() {
    std::array<std::uint16_t, kEntries> all;
    all.fill(kNobody);
    return all;
  }
};

inline void TablePage::note_use(PageKey page, DeviceId gpu) {
  users_.set(gpu.value);
  std::uint16_t& first = first_user_[page.number() % kEntries];
  if (first == kNobody) first = gpu.value;
  if (first != gpu.value) shared_entry_ = true;
}

}  // namespace nearfar

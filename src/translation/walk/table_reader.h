// Page-table reads through a device's L2 cache, where they compete with data.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/cache/l2_cache.h"
#include "sim/event.h"
#include "sim/partition.h"

namespace nearfar {

class TableReader {
 public:
  TableReader(Partition& partition, L2Cache& l2)
      : partition_(partition), l2_(l2), issue_handler_(partition.add_handler<&TableReader::on_issue>(this)) {}

  /// Reads `line`, from `delay` cycles from now on; `event` fires at `done` when it is there.
  void read(PhysLine line, Event* event, HandlerId done, Cycle delay);
  /// The L2 cache has served a read.
  void served(LineRequest* read);

 private:
  struct Read {
    Event* event = nullptr;
    HandlerId done = 0;
  };

  void on_issue(LineRequest* read) { l2_.request(read); }

  Partition& partition_;
  L2Cache& l2_;
  HandlerId issue_handler_;
  std::vector<Read> reads_;
  std::vector<std::uint16_t> free_;
};

}  // namespace nearfar

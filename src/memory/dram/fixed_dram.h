// Memory with a fixed latency: channels by line, each a bus at the exact rate behind which the latency lies.
//
// A channel passes reads and writes in the order in which they come, so a read never passes an older write of its
// line. An unloaded read costs ceil(latency + line / bandwidth). A channel takes writes until it is booked for the time
// of `write_queue` lines; once it has refused one, it tells the client when half of that is done.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/dram/dram.h"
#include "memory/dram/dram_map.h"
#include "sim/serializer.h"

namespace nearfar {

class FixedDram final : public Dram {
 public:
  FixedDram(Partition& partition, const DramSpec& spec, std::uint64_t line_bytes, std::uint64_t clock_hertz,
            DramClient& client);

  void read(PhysLine line, Event* event, HandlerId done, Cycle pipeline) override;
  Cycle book_read(PhysLine line) override;
  bool can_write(PhysLine line) override;
  void write(PhysLine line) override;
  /// Always 0: what is taken is served by arithmetic, and only its completion is yet to come.
  std::uint64_t pending() const override { return 0; }
  const DramStats& stats() override;

 private:
  struct Channel {
    Serializer bus;
    bool refused = false;
  };

  Cycle booked(const Channel& channel) const;
  // Apart, so that what is not recorded does not pay for them.
  [[gnu::noinline]] Cycle trace_read(PhysLine line, Cycle complete);
  [[gnu::noinline]] void trace_write(PhysLine line);
  void on_room(IndexEvent* event);

  Partition& partition_;
  const std::uint64_t line_bytes_;
  const Cycle latency_;
  DramClient& client_;
  const DramMap map_;
  const HandlerId room_handler_;
  std::vector<Channel> channels_;
  Cycle most_booked_ = 0;
  DramStats stats_;
};

}  // namespace nearfar

#include "trace/stream_counter.h"

#include <bit>

#include "trace/stream_code.h"

namespace nearfar {

void StreamCounter::add(std::span<const std::uint8_t> stream) {
  StreamDecoder decoder(stream.data(), stream.data() + stream.size(), lanes_);
  RecordedLanes recorded;
  LaneAddresses lanes;
  while (!decoder.at_end()) {
    const Plain op = decoder.next(recorded);
    counts_.instructions += instructions(op);
    if (kind_of(op) != OpKind::Load && kind_of(op) != OpKind::Store && kind_of(op) != OpKind::Atomic) continue;
    recorded.fill(lanes);
    for (const PageGroup& group : coalescer_.loads(lanes, bytes_of(op))) {
      counts_.accesses += static_cast<std::uint64_t>(std::popcount(group.lines));
    }
  }
}

}  // namespace nearfar

// The stateful alternative to FinePack: a configuration packet tells the receiver a window of addresses, and stores in
// it follow as packets of their own, each with a sub-header, a sequence number and checks but no header. The window is
// told again only when it changes.
#pragma once

#include <cstdint>

#include "designs/finepack/remote_write_queue.h"

namespace nearfar {

class ConfigPacketQueue final : public RemoteWriteQueue {
 public:
  using RemoteWriteQueue::RemoteWriteQueue;

 private:
  WireSize packetize(const StoreBatch& batch, std::uint64_t base) override {
    WireSize size;
    if (base != told_) {
      told_ = base;
      size += format().packed(0);
      ++stats().configurations;
    }
    for (const LineStore& store : batch.lines) {
      store.mask.for_each_run([&](unsigned, unsigned bytes) {
        const std::uint32_t payload = subheader() + bytes;
        size += WireSize::of_packet(format().framing() + payload, payload);
      });
    }
    return size;
  }

  std::uint64_t told_ = kNoBase;  ///< the window that the receiver knows
};

}  // namespace nearfar

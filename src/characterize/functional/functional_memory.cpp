#include "characterize/functional/functional_memory.h"

#include "coherence/make_directory.h"

namespace nearfar {

void RequestTypeStats::describe(StatVisitor& visitor) {
  visitor.counter("read_requests", "packets",
                  "Requests to read a line that a GPU sent to other devices (`nearfar functional` only).", reads);
  visitor.counter("write_requests", "packets",
                  "Requests to write a line, or part of one, that a GPU sent to other devices (`nearfar functional` "
                  "only).",
                  writes);
  visitor.counter("atomic_requests", "packets",
                  "Requests to perform atomics on a line that a GPU sent to other devices (`nearfar functional` only).",
                  atomics);
}

FunctionalMemory::FunctionalMemory(const SystemSpec& system)
    : host_(static_cast<std::uint16_t>(system.gpus)),
      line_bytes_(static_cast<std::uint32_t>(system.gpu.line)),
      caches_remote_(system.remote_cache == RemoteCache::L1L2),
      fetches_(system.remote_write_miss == RemoteWriteMiss::Fetch),
      boundary_(system.boundary),
      format_(system.link.header, system.link.reply_header, system.gpu.line),
      coherence_(system.gpus),
      links_(system.gpus + 1),
      requests_(system.gpus) {
  for (std::uint32_t d = 0; d <= system.gpus; ++d) {
    const DeviceId device{static_cast<std::uint16_t>(d)};
    const bool is_gpu = device != host_;
    l2s_.emplace_back(device, is_gpu ? system.gpu.l2 : system.host.llc,
                      is_gpu ? system.gpu.dram.capacity : system.host.dram.capacity, system.gpu.line, host_,
                      is_gpu && caches_remote_);
    if (is_gpu && system.has_directories()) directories_.push_back(make_directory(system, device));
  }
}

// ------------------------------------------------------------------------------------------------- accesses of a GPU

void FunctionalMemory::load(DeviceId gpu, PhysLine line) {
  FunctionalL2& own = l2_of(gpu);
  const DeviceId home = line.device();
  if (home == gpu) {
    own.read(line, false);
    return;
  }
  if (keeps(home) && own.read_remote(line)) return;
  fetch(gpu, line);
  if (keeps(home)) own.fill_remote(line);
}

/// A line is read at its home elsewhere.
void FunctionalMemory::fetch(DeviceId gpu, PhysLine line) {
  const DeviceId home = line.device();
  ++requests_[gpu.value].reads;
  exchange(gpu, home, format_.wire_bytes(PacketRole::ReadRequest, 0, false),
           format_.wire_bytes(PacketRole::ReadReply, line_bytes_, false));
  l2_of(home).read(line, true);
  if (!tracks(home)) return;
  directories_[home.value]->remote_read(line, gpu, out_);
  deliver_invalidations(home);
}

void FunctionalMemory::store(DeviceId gpu, PhysLine line, std::uint32_t bytes) {
  const DeviceId home = line.device();
  const bool whole = bytes == line_bytes_;
  const bool remote = home != gpu;
  const bool held = remote && keeps(home) && l2_of(gpu).write_remote(line, whole);
  if (remote) {
    ++requests_[gpu.value].writes;
    exchange(gpu, home, format_.wire_bytes(PacketRole::WriteRequest, bytes, !whole),
             format_.wire_bytes(PacketRole::WriteReply, 0, false));
  }
  l2_of(home).write(line, whole, remote);
  if (tracks(home)) {
    if (remote) {
      directories_[home.value]->remote_write(line, gpu, out_);
    } else {
      directories_[home.value]->local_write(line, out_);
    }
    deliver_invalidations(home);
  }
  if (remote && fetches_ && keeps(home) && !held) {
    fetch(gpu, line);
    l2_of(gpu).fill_remote(line);
  }
}

void FunctionalMemory::atomic(DeviceId gpu, PhysLine line, std::uint32_t bytes) {
  const DeviceId home = line.device();
  const bool remote = home != gpu;
  if (remote) {
    if (keeps(home)) l2_of(gpu).atomic_remote(line);
    ++requests_[gpu.value].atomics;
    exchange(gpu, home, format_.wire_bytes(PacketRole::AtomicRequest, bytes, false),
             format_.wire_bytes(PacketRole::AtomicReply, bytes, false));
  }
  l2_of(home).atomic(line, remote);
  if (!tracks(home)) return;
  if (remote) {
    directories_[home.value]->remote_write(line, gpu, out_);
  } else {
    directories_[home.value]->local_write(line, out_);
  }
  deliver_invalidations(home);
}

/// A request goes over a link to the home of its line, and its reply comes back.
void FunctionalMemory::exchange(DeviceId gpu, DeviceId home, std::uint32_t request_bytes, std::uint32_t reply_bytes) {
  ++links_[gpu.value].request_packets;
  links_[gpu.value].request_bytes += request_bytes;
  ++links_[home.value].reply_packets;
  links_[home.value].reply_bytes += reply_bytes;
}

void FunctionalMemory::deliver_invalidations(DeviceId home) {
  if (out_.empty()) return;
  CoherenceStats& sender = coherence_[home.value];
  for (const Invalidation& invalidation : out_) {
    ++(invalidation.cause == InvalidationCause::Write ? sender.sent_write : sender.sent_eviction);
    sender.sent_bytes += format_.wire_bytes(PacketRole::Invalidation, 0, false);
    ++coherence_[invalidation.to.value].received;
    l2_of(invalidation.to).invalidate(invalidation);
  }
  out_.clear();
}

// ------------------------------------------------------------------------------------------------- boundaries, copies

void FunctionalMemory::acquire(DeviceId gpu) {
  if (caches_remote_ && directories_.empty()) l2_of(gpu).drop_remote_lines();
}

void FunctionalMemory::release() {
  if (!boundary_.write_back) return;
  for (std::uint16_t g = 0; g < host_.value; ++g) {
    FunctionalL2& l2 = l2_of(DeviceId{g});
    l2.flush(boundary_.l2 == L2AtBoundary::DropWritten);
    if (boundary_.l2 == L2AtBoundary::Drop) l2.drop_clean_lines();
  }
}

void FunctionalMemory::copy_to(PhysLine line) {
  const DeviceId home = line.device();
  l2_of(home).copy_to(line);
  if (!tracks(home)) return;
  directories_[home.value]->local_write(line, out_);
  deliver_invalidations(home);
}

}  // namespace nearfar

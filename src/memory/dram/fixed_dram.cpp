#include "memory/dram/fixed_dram.h"

#include <algorithm>

namespace nearfar {

FixedDram::FixedDram(Partition& partition, const DramSpec& spec, std::uint64_t line_bytes, std::uint64_t clock_hertz,
                     DramClient& client)
    : partition_(partition),
      line_bytes_(line_bytes),
      latency_(spec.latency),
      client_(client),
      map_(spec, line_bytes),
      room_handler_(partition.add_handler<&FixedDram::on_room>(this)),
      channels_(spec.channels, Channel{Serializer(spec.channel_bandwidth.bytes_per_second, clock_hertz)}),
      most_booked_(channels_.front().bus.duration(line_bytes * spec.write_queue)) {}

Cycle FixedDram::booked(const Channel& channel) const {
  return std::max(channel.bus.free_at(), partition_.now()) - partition_.now();
}

void FixedDram::read(PhysLine line, Event* event, HandlerId done, Cycle pipeline) {
  if (timeline_ != nullptr) timeline_->delay_next(pipeline);
  partition_.schedule(event, done, book_read(line) + pipeline);
}

Cycle FixedDram::book_read(PhysLine line) {
  const Cycle now = partition_.now();
  Channel& channel = channels_[map_.channel(line)];
  ++stats_.reads;
  const Cycle wait = booked(channel);
  const Cycle complete = channel.bus.pass(now, line_bytes_) + latency_;
  stats_.read_wait_cycles += wait;
  stats_.read_service_cycles += complete - now - wait;
  return timeline_ == nullptr ? complete : trace_read(line, complete);
}

bool FixedDram::can_write(PhysLine line) {
  Channel& channel = channels_[map_.channel(line)];
  if (booked(channel) < most_booked_) return true;
  if (!channel.refused) {
    channel.refused = true;
    auto* event = partition_.pool().allocate<IndexEvent>();
    event->index = static_cast<std::uint32_t>(&channel - channels_.data());
    partition_.schedule(event, room_handler_, channel.bus.free_at() - most_booked_ / 2);
  }
  return false;
}

void FixedDram::write(PhysLine line) {
  ++stats_.writes;
  channels_[map_.channel(line)].bus.pass(partition_.now(), line_bytes_);
  if (timeline_ != nullptr) trace_write(line);
}

Cycle FixedDram::trace_read(PhysLine line, Cycle complete) {
  timeline_->read(map_.channel(line), line, complete);
  return complete;
}

/// The write that was booked last.
void FixedDram::trace_write(PhysLine line) {
  const std::uint32_t channel = map_.channel(line);
  const Serializer& bus = channels_[channel].bus;
  timeline_->write(channel, line, bus.free_at() - bus.duration(line_bytes_), bus.free_at());
}

void FixedDram::on_room(IndexEvent* event) {
  Channel& channel = channels_[event->index];
  if (booked(channel) >= most_booked_) {
    // Reads and victims have come since.
    partition_.schedule(event, room_handler_, channel.bus.free_at() - most_booked_ / 2);
    return;
  }
  partition_.pool().release(event);
  channel.refused = false;
  client_.dram_has_room();
}

const DramStats& FixedDram::stats() {
  stats_.read_bytes = stats_.reads * line_bytes_;
  stats_.write_bytes = stats_.writes * line_bytes_;
  stats_.bus_busy_cycles = 0;
  for (const Channel& channel : channels_) stats_.bus_busy_cycles += channel.bus.busy_cycles();
  return stats_;
}

}  // namespace nearfar

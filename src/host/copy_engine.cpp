#include "host/copy_engine.h"

#include <fmt/format.h>

#include <algorithm>

namespace nearfar {

void CopyStats::describe(StatVisitor& visitor) {
  visitor.counter("count", "copies", "Copies between launches that the host's DMA has made.", count);
  visitor.counter("bytes", "bytes", "Bytes that they copied, to each GPU's own page where every GPU has one.", bytes);
  visitor.counter("chunks", "chunks", "Chunks that they were made in.", chunks);
  visitor.counter("cycles", "cycles", "Time from the start of each copy to its end, summed.", cycles);
}

CopyEngine::CopyEngine(Partition& partition, const SystemSpec& spec, const std::vector<Process>& processes,
                       CopyAgent& agent, DataWatch* watch)
    : partition_(partition),
      spec_(spec),
      processes_(processes),
      agent_(agent),
      watch_(watch),
      set_up_handler_(partition.add_handler<&CopyEngine::on_set_up>(this)),
      channels_(2 * std::size_t{spec.gpus} + 1) {
  agent.set_listener(*this);
}

void CopyEngine::start(std::size_t application, const Copy& copy) {
  begin({.application = application, .copy = copy, .channel = channel_of(application, copy)});
}

unsigned CopyEngine::start(std::size_t application, const Transfer& transfer) {
  const VirtAddr end = transfer.first + transfer.bytes;
  const auto gpu_at = [&](VirtAddr address) { return line_at(application, address, 0, false).device(); };
  const auto next_page = [](VirtAddr address) { return VirtAddr{(address.value / kPageBytes + 1) * kPageBytes}; };
  unsigned copies = 0;
  for (VirtAddr first = transfer.first; first.value < end.value; ++copies) {
    const DeviceId gpu = gpu_at(first);
    VirtAddr last = next_page(first);
    while (last.value < end.value && gpu_at(last) == gpu) last = next_page(last);
    last = VirtAddr{std::min(last.value, end.value)};
    begin({.application = application,
           .copy = {.from = first, .to = first, .bytes = last.value - first.value},
           .host_side = transfer.to_host ? HostSide::To : HostSide::From,
           .channel = transfer.to_host ? gpu.value : spec_.gpus + std::size_t{1} + gpu.value});
    first = last;
  }
  return copies;
}

void CopyEngine::begin(Job begun) {
  if (free_jobs_.empty()) {
    free_jobs_.push_back(static_cast<std::uint32_t>(jobs_.size()));
    jobs_.emplace_back();
  }
  const std::uint32_t number = free_jobs_.back();
  free_jobs_.pop_back();
  ++live_;
  const std::uint64_t line = spec_.gpu.line;
  Job& job = jobs_[number];
  job = std::move(begun);
  job.bytes = (job.copy.bytes + line - 1) / line * line;
  job.start = partition_.now();
  Channel& channel = channels_[job.channel];
  channel.set_up = std::max(channel.set_up, partition_.now()) + spec_.host.dma.setup;
  auto* event = partition_.pool().allocate<IndexEvent>();
  event->index = number;
  partition_.schedule(event, set_up_handler_, channel.set_up);
}

/// That of the device where the copy begins to read.
std::size_t CopyEngine::channel_of(std::size_t application, const Copy& copy) const {
  if (!copy.from) return spec_.gpus;
  return line_at(application, *copy.from, 0, false).device().value;
}

void CopyEngine::on_set_up(IndexEvent* event) {
  Channel& channel = channels_[jobs_[event->index].channel];
  channel.ready.push_back(event->index);
  partition_.pool().release(event);
  send_chunks(channel);
}

void CopyEngine::send_chunks(Channel& channel) {
  while (!channel.ready.empty() && channel.under_way < spec_.host.dma.outstanding) send_chunk(channel);
}

/// Bytes up to the end of a chunk, or of a frame at either side.
std::uint64_t CopyEngine::next_bytes(const Job& job) const {
  std::uint64_t bytes = std::min(job.bytes - job.offset, spec_.host.dma.chunk);
  for (const std::optional<VirtAddr>& side : {job.copy.from, job.copy.to}) {
    if (side) bytes = std::min(bytes, kPageBytes - (side->value + place(job)) % kPageBytes);
  }
  return bytes;
}

PhysLine CopyEngine::line_at(std::size_t application, VirtAddr address, unsigned gpu, bool of_host) const {
  const Process& process = processes_[application];
  const DeviceId device{static_cast<std::uint16_t>(process.first_gpu + gpu)};
  const AddressSpace& space = of_host ? process.host_space() : *process.space;
  const PhysPage page = space.translate(device, page_of(address));
  return PhysLine{page, static_cast<unsigned>(address.value % kPageBytes / spec_.gpu.line)};
}

void CopyEngine::send_chunk(Channel& channel) {
  const std::uint32_t number = channel.ready.front();
  Job& job = jobs_[number];
  const Process& process = processes_[job.application];
  if (free_chunks_.empty()) {
    free_chunks_.push_back(static_cast<std::uint32_t>(chunks_.size()));
    chunks_.push_back(0);
  }
  const std::uint64_t bytes = next_bytes(job);
  CopyChunk chunk;
  chunk.id = free_chunks_.back();
  free_chunks_.pop_back();
  chunks_[chunk.id] = number;
  chunk.lines = static_cast<std::uint32_t>(bytes / spec_.gpu.line);
  unsigned replicas = 1;
  if (job.copy.from) {
    chunk.from = line_at(job.application, *job.copy.from + place(job), 0, job.host_side == HostSide::From);
  }
  if (job.copy.to) {
    const VirtAddr to = *job.copy.to + place(job);
    chunk.to = line_at(job.application, to, job.replica, job.host_side == HostSide::To);
    if (process.space->is_private(page_of(to))) replicas = process.gpus;
    if (watch_ != nullptr)
      watch_chunk(job, chunk, to, DeviceId{static_cast<std::uint16_t>(process.first_gpu + job.replica)});
  }
  if (++job.replica == replicas) {
    job.replica = 0;
    job.offset += bytes;
  }
  if (job.offset == job.bytes) {
    job.offset = 0;
    ++job.row;
  }
  ++job.under_way;
  ++channel.under_way;
  ++stats_.chunks;
  stats_.bytes += bytes;
  if (sent(job)) channel.ready.pop_front();
  agent_.start(chunk);
}

/// The data oracle is told what a chunk will write, as programs know it.
void CopyEngine::watch_chunk(const Job& job, const CopyChunk& chunk, VirtAddr to, DeviceId gpu) {
  if (job.host_side != HostSide::None) {
    watch_->transfer_sent(chunk.id);
    return;
  }
  const auto application = static_cast<std::uint8_t>(job.application);
  const VirtPage page = page_of(to);
  const bool copies = processes_[job.application].space->is_private(page);
  watch_->copy_sent(chunk.id, application, watch_->oracle().locate(application, gpu, page, chunk.to->page(), copies));
}

void CopyEngine::chunk_done(std::uint32_t id) {
  const std::uint32_t number = chunks_[id];
  free_chunks_.push_back(id);
  Job& job = jobs_[number];
  Channel& channel = channels_[job.channel];
  partition_.progress().steps += 1;
  --job.under_way;
  --channel.under_way;
  const bool ended = sent(job) && job.under_way == 0;
  const std::size_t application = job.application;
  if (ended) {
    ++stats_.count;
    stats_.cycles += partition_.now() - job.start;
    if (Timeline* timeline = partition_.timeline()) note_copy(job, *timeline);
    free_jobs_.push_back(number);
    --live_;
  }
  send_chunks(channel);
  if (ended) on_done(application);
}

void CopyEngine::note_copy(const Job& job, Timeline& timeline) const {
  TimelineEvent event;
  event.device = partition_.device().value;
  const bool in = !job.copy.from || job.host_side == HostSide::From;
  const bool out = !job.copy.to || job.host_side == HostSide::To;
  event.name = in ? "copy in" : out ? "copy out" : "copy";
  event.start = job.start;
  event.end = partition_.now();
  event.id = job.application;
  event.value = job.bytes * job.copy.rows;
  event.unit = TimelineUnit::Dma;
  timeline.note(event);
}

std::string CopyEngine::describe_waiting() const {
  if (live_ == 0) return {};
  return fmt::format("  DMA: {} copies not ended, {} chunks under way\n", live_, chunks_.size() - free_chunks_.size());
}

}  // namespace nearfar

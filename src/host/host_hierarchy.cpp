#include "host/host_hierarchy.h"

#include <algorithm>
#include <utility>

namespace nearfar {

HostHierarchy::HostHierarchy(Partition& partition, const SystemSpec& spec, const Topology&, NetworkInterface& network,
                             DataWatch* watch)
    : partition_(partition),
      spec_(spec.umh),
      map_(spec, watch != nullptr),
      watch_(watch),
      core_latency_(spec.host.cpu.latency),
      llc_latency_(spec.host.llc.tag_latency + spec.host.llc.data_latency),
      courier_(partition, network, spec.umh, map_.geometry(),
               [this](nmoesi::Message&& message) { deliver(std::move(message)); }),
      issue_handler_(partition.add_handler<&HostHierarchy::on_issue>(this)),
      directory_timeline_(partition, map_, partition.device()) {
  courier_.on_worked_off = [this] { work_off(); };
  nmoesi::LineCacheOptions llc;
  llc.self = map_.llc();
  llc.parent = map_.any_home();
  llc.sets = spec.host.llc.size / spec.host.llc.ways / spec.gpu.line;
  llc.ways = spec.host.llc.ways;
  llc.index = spec.host.llc.index;
  llc.table = &table_of(spec.umh);
  llc.geometry = map_.geometry();
  llc_ = std::make_unique<nmoesi::LineCache>(llc, *this, this);
  for (unsigned h = 0; h < map_.homes(); ++h) {
    nmoesi::HomeDirectoryOptions home;
    home.self = map_.home(h);
    home.first_child = map_.smd(0, 0);
    home.children = map_.stacks();
    home.llc = map_.llc();
    home.peer_transfer = spec.umh.peer_transfer;
    home.supplier =
        spec.umh.peer_supplier == UmhSupplier::Owner ? nmoesi::Supplier::Owner : nmoesi::Supplier::AnySharer;
    home.whole_blocks = spec.umh.writeback == UmhWriteBack::WholeBlock;
    home.transactions = spec.umh.hmd.transactions;
    home.geometry = map_.geometry();
    homes_.push_back(std::make_unique<nmoesi::HomeDirectory>(home, *this));
    const std::uint64_t rate = spec.host.dram.channel_bandwidth.bytes_per_second * spec.host.dram.channels;
    modules_.emplace_back(rate / map_.homes(), spec.gpu.clock.hertz, spec.host.dram.latency, 0, 1);
  }
}

// ------------------------------------------------------------------------------------------------------ the host's
// core

void HostHierarchy::access(const HostLineAccess& access, Event* event, HandlerId done) {
  if (free_lines_.empty()) {
    free_lines_.push_back(static_cast<std::uint32_t>(lines_.size()));
    lines_.emplace_back();
  }
  const std::uint32_t number = free_lines_.back();
  free_lines_.pop_back();
  lines_[number] = {access, event, done};
  auto* issue = partition_.pool().allocate<IndexEvent>();
  issue->index = number;
  partition_.schedule(issue, issue_handler_, partition_.now() + core_latency_);
}

void HostHierarchy::on_issue(IndexEvent* event) {
  const std::uint32_t number = event->index;
  partition_.pool().release(event);
  const CoreLine& line = lines_[number];
  nmoesi::CoreAccess access;
  access.line = HierarchyMap::number(line.what.line);
  // With dynamic synchronization a load has a store of no bytes before it, which asks for the only copy.
  const bool synchronizes = spec_.sync == UmhSync::Dynamic;
  access.event = line.what.writes || synchronizes ? nmoesi::Event::Store : nmoesi::Event::Load;
  if (line.what.writes) access.mask = map_.geometry().granules_of(ByteMask::all(map_.geometry().line_bytes));
  access.token = reinterpret_cast<void*>(static_cast<std::uintptr_t>(number));
  lookup_ends_ = partition_.now() + llc_latency_;
  LineImage* image = nullptr;
  if (llc_->access(access, image)) {
    ++llc_hits_;
    watch_performed(line, image);
    complete(number, lookup_ends_);
  } else {
    ++llc_misses_;
    llc_->wait(access);
  }
  work_off();
}

void HostHierarchy::watch_performed(const CoreLine& line, LineImage* image) {
  if (watch_ == nullptr) return;
  const Location location{line.what.page.value + line.what.line.index()};
  if (line.what.writes) {
    watch_->unified_host_store(line.what.application, location, line.what.line, *image);
  } else {
    watch_->unified_host_load(line.what.application, location, *image);
  }
}

void HostHierarchy::performed(const nmoesi::CoreAccess& access, LineImage* image) {
  const auto number = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(access.token));
  watch_performed(lines_[number], image);
  complete(number, partition_.now());
}

void HostHierarchy::complete(std::uint32_t number, Cycle when) {
  const CoreLine ended = lines_[number];
  free_lines_.push_back(number);
  partition_.schedule(ended.event, ended.done, when);
}

// ------------------------------------------------------------------------------------------------------------ messages

void HostHierarchy::on_message(Packet* packet) {
  courier_.receive(packet, spec_.hmd.latency);
  work_off();
}

void HostHierarchy::work_off() {
  courier_.work_off();
  if (settled_ && idle()) std::exchange(settled_, {})();
}

void HostHierarchy::send(nmoesi::Message&& message) {
  if (map_.is_home(message.from) && directory_timeline_.on()) directory_timeline_.home_sends(message);
  if (map_.is_smd(message.to)) {
    const DeviceId gpu{static_cast<std::uint16_t>(map_.gpu_of(message.to))};
    courier_.send(std::move(message), gpu);
    return;
  }
  Cycle when = message.ready;
  if (message.from == map_.llc()) {
    if (message.to == map_.any_home()) message.to = map_.home_of(message.block);
    if (class_of(message.kind) == nmoesi::MessageClass::Request) {
      when = std::max(partition_.now(), lookup_ends_) + spec_.hmd.latency;
    }
  }
  courier_.carry(std::move(message), when);
}

void HostHierarchy::deliver(nmoesi::Message&& message) {
  lookup_ends_ = 0;
  if (message.to == map_.llc()) {
    llc_->receive(std::move(message));
  } else {
    if (directory_timeline_.on()) directory_timeline_.home_receives(message);
    homes_[message.to - map_.home(0)]->receive(std::move(message));
  }
}

Cycle HostHierarchy::read_memory(nmoesi::Agent agent, nmoesi::Block, unsigned, unsigned lines) {
  return modules_[agent - map_.home(0)].read(partition_.now(), 0, std::uint64_t{lines} * map_.geometry().line_bytes);
}

void HostHierarchy::write_memory(nmoesi::Agent agent, nmoesi::Block, unsigned, unsigned lines) {
  modules_[agent - map_.home(0)].write(partition_.now(), 0, std::uint64_t{lines} * map_.geometry().line_bytes);
}

/// Copies that lack bytes which came home since they were made leave.
void HostHierarchy::finish_boundary(std::function<void()> done) {
  settled_ = std::move(done);
  if (spec_.kernel_boundary != UmhBoundary::None) {
    for (const auto& home : homes_) home->settle_marks();
  }
  work_off();
}

// ------------------------------------------------------------------------------------------------------------- account

std::uint64_t HostHierarchy::synchronized_bytes() const {
  std::uint64_t lines = 0;
  for (const auto& home : homes_) lines += home->stats().synchronized_lines;
  return lines * map_.geometry().line_bytes;
}

bool HostHierarchy::idle() const {
  return courier_.idle() && llc_->idle() && free_lines_.size() == lines_.size() &&
         std::ranges::all_of(homes_, [](const auto& home) { return home->idle(); });
}

std::string HostHierarchy::describe_waiting() const {
  std::string text = llc_->describe_waiting();
  for (const auto& home : homes_) text += home->describe_waiting();
  return text;
}

LineImage HostHierarchy::contents(nmoesi::Line line) const {
  LineImage image = home_of(map_.geometry().block_of(line)).memory(line);
  if (const LineImage* cached = llc_->image_of_line(line)) {
    map_.geometry().overlay(image, *cached, llc_->mask_of(line));
  }
  return image;
}

void HostHierarchy::describe(StatVisitor& visitor) {
  HostHierarchyStats stats;
  for (std::size_t h = 0; h < homes_.size(); ++h) {
    const nmoesi::HomeDirectoryStats& one = homes_[h]->stats();
    stats.hmd.reads += one.reads;
    stats.hmd.writes += one.writes;
    stats.hmd.puts += one.puts;
    stats.hmd.publishes += one.publishes;
    stats.hmd.probes += one.probes;
    stats.hmd.peer_transfers += one.peer_transfers;
    stats.hmd.merges += one.merges;
    stats.hmd.merged_lines += one.merged_lines;
    stats.hmd.synchronized_lines += one.synchronized_lines;
    stats.hmd.stale_puts += one.stale_puts;
    stats.hmd.marks += one.marks;
    const DirectoryMemoryStats& memory = modules_[h].stats();
    stats.memory.reads += memory.reads;
    stats.memory.writes += memory.writes;
    stats.memory.read_bytes += memory.read_bytes;
    stats.memory.write_bytes += memory.write_bytes;
    stats.memory.busy_cycles += memory.busy_cycles;
  }
  stats.llc_hits = llc_hits_;
  stats.llc_misses = llc_misses_;
  stats.traffic = courier_.traffic();
  stats.describe(visitor);
}

void HostHierarchyStats::describe(StatVisitor& visitor) {
  visitor.counter("hmd.reads", "requests", "Read requests that the directories of the host's memory served.",
                  hmd.reads);
  visitor.counter("hmd.writes", "requests", "Write requests that the directories of the host's memory served.",
                  hmd.writes);
  visitor.counter("hmd.puts", "blocks",
                  "Blocks, and lines of the last-level cache, that were put to the host's memory.", hmd.puts);
  visitor.counter("hmd.publishes", "blocks", "Blocks that GPUs published at kernel boundaries.", hmd.publishes);
  visitor.counter("hmd.probes", "probes", "Probes of the directories of the host's memory to stacked memories.",
                  hmd.probes);
  visitor.counter("hmd.peer_transfers", "blocks", "Blocks that came from another GPU and not from the host.",
                  hmd.peer_transfers);
  visitor.counter("hmd.merges", "messages", "Messages with changed bytes that were merged into the host's memory.",
                  hmd.merges);
  visitor.counter("hmd.merged_lines", "lines", "Lines with changed bytes that were merged into the host's memory.",
                  hmd.merged_lines);
  visitor.counter("hmd.synchronized_lines", "lines",
                  "Lines that GPUs sent home because the host's core asked for a line of their block.",
                  hmd.synchronized_lines);
  visitor.counter("hmd.stale_puts", "messages",
                  "Puts and publications whose bytes a probe had taken before they arrived.", hmd.stale_puts);
  visitor.counter("hmd.marks", "blocks",
                  "Times that a block was marked because a holder's copy lacked bytes that had come home.", hmd.marks);
  visitor.counter("memory.reads", "accesses", "Reads of the modules of the host's memory.", memory.reads);
  visitor.counter("memory.writes", "accesses", "Writes of the modules of the host's memory.", memory.writes);
  visitor.counter("memory.read_bytes", "bytes", "Bytes read from the modules of the host's memory.", memory.read_bytes);
  visitor.counter("memory.write_bytes", "bytes", "Bytes written to the modules of the host's memory.",
                  memory.write_bytes);
  visitor.counter("memory.busy_cycles", "cycles", "Time that the modules of the host's memory were in use.",
                  memory.busy_cycles);
  visitor.counter("llc.hits", "lines", "Accesses of the host's core that its last-level cache performed at once.",
                  llc_hits);
  visitor.counter("llc.misses", "lines", "Accesses of the host's core for which its last-level cache asked the home.",
                  llc_misses);
  traffic.describe(visitor);
}

}  // namespace nearfar

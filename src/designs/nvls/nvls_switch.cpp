#include "designs/nvls/nvls_switch.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "config/schema.h"
#include "config/system_spec.h"
#include "memory/cache/request_latency.h"
#include "sim/error.h"

namespace nearfar {
namespace {

/// A number of the free ones, or a new one.
template <class T>
std::uint32_t take_number(std::vector<T>& all, std::vector<std::uint32_t>& free) {
  if (free.empty()) {
    free.push_back(static_cast<std::uint32_t>(all.size()));
    all.emplace_back();
  }
  const std::uint32_t number = free.back();
  free.pop_back();
  return number;
}

PhysLine line_in(PhysPage page, std::uint64_t lines) {
  return PhysLine{page, static_cast<unsigned>(std::countr_zero(lines))};
}

// Which reduction the read of a member's lines is for.
std::uint32_t reduction_of(const LineRequest& reply) { return reply.unit | std::uint32_t{as_load(reply).target} << 16; }
void set_reduction(LoadRequest& read, std::uint32_t number) {
  read.unit = static_cast<std::uint16_t>(number);
  read.target = static_cast<std::uint16_t>(number >> 16);
}

}  // namespace

void NvlsSpec::describe(Section& section) {
  section.cycles("lookup_latency", lookup_latency, {0, 100'000},
                 "Time that the switch takes to find the members of a multicast page, for stores and loads.");
  section.cycles("reduction_latency", reduction_latency, {0, 100'000},
                 "Time from the last operand of a line at the switch to its sum.");
  section.integer("operand_rate", operand_rate, {1, 1 << 20}, "bytes",
                  "Bytes of operands that the reduction unit of each port of the switch adds in a cycle.");
  section.integer("entries", entries, {1, 65'536}, "lines",
                  "Lines that each port of the switch can have under reduction; further loads wait.");
}

void NvlsStats::describe(StatVisitor& visitor) {
  visitor.counter("multicast_messages", "messages", "Messages with stores to multicast memory that reached the switch.",
                  multicast_messages);
  visitor.counter("multicast_lines", "lines", "Stores to lines of multicast memory that reached the switch.",
                  multicast_lines);
  visitor.counter("copies", "messages",
                  "Messages with stores that the switch sent to members of multicast pages, one to each.", copies);
  visitor.counter("extra_bytes", "bytes",
                  "Data bytes of stores that the switch sent beyond those that came to it: of all copies but one.",
                  extra_bytes);
  visitor.counter("reductions", "lines",
                  "Loads of lines of multicast memory, and atomics on them, that the switch answered with a sum.",
                  reductions);
  visitor.counter("operands", "lines",
                  "Lines of members that the switch read, or had updated by an atomic, and added up.", operands);
  visitor.counter("entry_waits", "lines",
                  "Loads of lines of multicast memory that found no free entry at their port of the switch.",
                  entry_waits);
  visitor.counter("operand_wait_cycles", "cycles",
                  "Time that operands waited for the reduction unit of a port of the switch, summed over messages.",
                  operand_wait_cycles);
}

NvlsSwitch::NvlsSwitch(const SwitchSite& site, const NvlsSpec& spec)
    : partition_(site.partition),
      spec_(spec),
      line_bytes_(site.system.gpu.line),
      watch_(site.watch),
      network_(site.partition, site.system.link, site.topology, site.system.gpu.line, site.system.gpu.clock.hertz,
               *this, site.masks),
      ports_(site.system.gpus),
      lookup_handler_(partition_.add_handler<&NvlsSwitch::on_looked_up>(this)),
      sum_handler_(partition_.add_handler<&NvlsSwitch::on_sum>(this)) {
  network_.perturb(site.system.perturb);
}

void NvlsSwitch::refuse(const Packet& packet) const {
  throw SimulationError(fmt::format(
      "the switch got a packet of device {} that is no store and no load of multicast memory", packet.origin));
}

// -------------------------------------------------------------------------------------------------- what GPUs send

void NvlsSwitch::on_request(LineRequest* request, Spacing) {
  if (request->kind == RequestKind::Write) refuse(*request);
  if (counts_latency(*request)) {
    latency_.request_link += request->lines() * std::uint64_t{since_stage_start(partition_.now(), *request)};
  }
  request->stage_start = static_cast<std::uint32_t>(partition_.now());
  look_up(request);
}

void NvlsSwitch::look_up(Packet* packet) {
  ++looking_up_;
  if (spec_.lookup_latency == 0) {
    on_looked_up(packet);
  } else {
    partition_.schedule(packet, lookup_handler_, partition_.now() + spec_.lookup_latency);
  }
}

void NvlsSwitch::on_looked_up(Packet* packet) {
  --looking_up_;
  Port& port = port_of(*packet);
  if (packet->type == PacketType::Lines) {
    const std::uint32_t free = spec_.entries - port.entries;
    const std::uint32_t lines = static_cast<LineRequest*>(packet)->lines();
    stats_.entry_waits += lines - std::min(lines, free);
  }
  port.waiting.push(packet);
  work(port);
}

/// What came from a GPU goes on in order, until a load finds no entry.
void NvlsSwitch::work(Port& port) {
  while (!port.waiting.empty()) {
    Packet* first = port.waiting.front();
    if (first->type == PacketType::Stores) {
      multicast(*static_cast<StorePacket*>(first));
    } else if (!reduce(*static_cast<LineRequest*>(first))) {
      return;
    }
    port.waiting.pop();
    partition_.pool().release(first);
  }
}

// ------------------------------------------------------------------------------------------------------- multicast

void NvlsSwitch::multicast(const StorePacket& packet) {
  const DeviceId source{packet.origin};
  const std::uint32_t number = take_number(multicasts_, free_multicasts_);
  Multicast& made = multicasts_[number];
  // The stores of a message are to one page.
  const std::vector<MulticastMember>& to = members(packet.batch->lines.front().line.page());
  made.batch = packet.batch;
  made.unwritten = static_cast<std::uint32_t>(to.size());
  made.owed = {packet.headers, packet.data, 1};
  port_of(packet).multicasts.push(number);
  ++stats_.multicast_messages;
  stats_.multicast_lines += packet.batch->lines.size();
  stats_.extra_bytes += (to.size() - 1) * packet.batch->data_bytes;
  if (watch_ != nullptr) {
    for (const LineStore& store : packet.batch->lines) watch_->multicast_store_came(source, store.record, store.line);
  }
  for (const MulticastMember& member : to) send_copy(packet, member, number);
}

void NvlsSwitch::send_copy(const StorePacket& packet, const MulticastMember& member, std::uint32_t number) {
  const DeviceId source{packet.origin};
  StoreBatch& batch = batches_.add(FlushCause::None);
  batches_.ready().clear();
  batch.wire = packet.batch->wire;
  for (LineStore store : packet.batch->lines) {
    const PhysLine line = store.line;
    store.line = PhysLine{member.page, line.index()};
    if (watch_ != nullptr) {
      store.record = watch_->multicast_store(source, store.record, line, store.line, member.first);
    }
    batch.add(store);
  }
  auto* copy = partition_.pool().allocate<StorePacket>();
  copy->batch = &batch;
  copy->packets = packet.packets;
  copy->set_wire_bytes(packet.wire_bytes);
  copy->early_ticks = packet.early_ticks;
  copy->destination = member.page.device().value;
  copy->data = batch.wire.data_credits;
  ++stats_.copies;
  ports_[copy->destination].copies.push({&batch, source, number});
  network_.forward_stores(copy);
}

void NvlsSwitch::stores_drained(DeviceId member, std::uint32_t count) {
  for (std::uint32_t i = 0; i < count; ++i) {
    const MemberCopy copy = ports_[member.value].copies.pop();
    if (watch_ != nullptr) {
      for (const LineStore& store : copy.batch->lines) watch_->member_written(store.record, store.line);
    }
    batches_.recycle(*copy.batch);
    if (--multicasts_[copy.multicast].unwritten == 0) tell_source(copy.source);
  }
}

/// Messages of a GPU that all members have written, in order.
void NvlsSwitch::tell_source(DeviceId source) {
  Ring<std::uint32_t>& own = ports_[source.value].multicasts;
  NetworkInterface::StoresReturned returned;
  while (!own.empty() && multicasts_[own.front()].unwritten == 0) {
    const Multicast& done = multicasts_[own.front()];
    if (watch_ != nullptr) {
      for (const LineStore& store : done.batch->lines) watch_->multicast_written(source, store.record, store.line);
    }
    returned.headers += done.owed.headers;
    returned.data += done.owed.data;
    returned.drained += done.owed.drained;
    free_multicasts_.push_back(own.pop());
  }
  if (returned.drained != 0) network_.return_stores(source, returned, 0);
}

// ------------------------------------------------------------------------------------------------------- reduction

/// As many lines of a load as there are entries; whether these were all.
bool NvlsSwitch::reduce(LineRequest& request) {
  Port& port = port_of(request);
  std::uint64_t rest = request.mask;
  for (std::uint32_t free = spec_.entries - port.entries; rest != 0 && free != 0; --free) rest &= rest - 1;
  const std::uint64_t taken = request.mask & ~rest;
  if (taken == 0) return false;
  begin_reduction(request, taken);
  request.mask = rest;
  return rest == 0;
}

void NvlsSwitch::begin_reduction(const LineRequest& request, std::uint64_t lines) {
  const DeviceId source{request.origin};
  const PhysPage page = request.line.page();
  const std::uint32_t number = take_number(reductions_, free_reductions_);
  Reduction& made = reductions_[number];
  made.request = partition_.pool().copy(request);
  made.request->mask = lines;
  const std::vector<MulticastMember>& of = members(page);
  made.missing.assign(kPageBytes / line_bytes_, static_cast<std::uint32_t>(of.size()));
  const auto count = static_cast<std::uint32_t>(std::popcount(lines));
  ports_[source.value].entries += count;
  stats_.reductions += count;
  const bool atomic = request.kind == RequestKind::Atomic;
  if (watch_ != nullptr) {
    for (std::uint64_t rest = lines; rest != 0; rest &= rest - 1) {
      if (atomic) watch_->multicast_store_came(source, request.record, line_in(page, rest));
      watch_->multicast_load_came(source, request.record, line_in(page, rest));
    }
  }
  for (const MulticastMember& member : of) {
    auto* read = partition_.pool().allocate<LoadRequest>();
    read->kind = atomic ? RequestKind::Atomic : RequestKind::Fetch;
    if (atomic) read->operand_bytes = as_load(request).operand_bytes;
    read->fill = LineRequest::kForSwitch;
    read->line = line_in(member.page, lines);
    read->mask = lines;
    read->stage_start = static_cast<std::uint32_t>(partition_.now());
    set_reduction(*read, number);
    if (watch_ != nullptr) {
      read->record = watch_->multicast_load(source, request.record, member.page, member.first, lines);
    }
    for (std::uint32_t i = 0; i < count; ++i) network_.reserve_always(member.page.device());
    network_.send_request(read);
  }
  network_.requests_taken(source, count);
}

/// The cycle in which the reduction unit of a port has added these operands.
Cycle NvlsSwitch::add_operands(Port& port, unsigned lines) {
  const std::uint64_t rate = spec_.operand_rate;
  const std::uint64_t now = partition_.now() * rate;
  if (port.operands_done > now) stats_.operand_wait_cycles += (port.operands_done - now) / rate;
  port.operands_done = std::max(port.operands_done, now) + lines * line_bytes_;
  return (port.operands_done + rate - 1) / rate;
}

void NvlsSwitch::on_reply(LineRequest* reply) {
  const std::uint32_t number = reduction_of(*reply);
  Reduction& reduction = reductions_[number];
  const PhysPage member = reply->line.page();
  std::uint64_t complete = 0;
  for (std::uint64_t rest = reply->mask; rest != 0; rest &= rest - 1) {
    const PhysLine line = line_in(member, rest);
    if (watch_ != nullptr) watch_->operand_came(reply->record, line);
    if (--reduction.missing[line.index()] == 0) complete |= rest & -rest;
  }
  stats_.operands += reply->lines();
  const Cycle added = add_operands(port_of(*reduction.request), reply->lines());
  partition_.pool().release(reply);
  if (complete == 0) return;
  LineRequest* sum = reduction.request;
  if (complete == sum->mask) {
    reduction.request = nullptr;
    free_reductions_.push_back(number);
  } else {
    sum = partition_.pool().copy(*reduction.request);
    sum->mask = complete;
    reduction.request->mask &= ~complete;
  }
  partition_.schedule(sum, sum_handler_, added + spec_.reduction_latency);
}

void NvlsSwitch::on_sum(LineRequest* request) {
  const DeviceId source{request->origin};
  Port& port = port_of(*request);
  port.entries -= request->lines();
  if (counts_latency(*request)) {
    latency_.home += request->lines() * std::uint64_t{since_stage_start(partition_.now(), *request)};
  }
  if (watch_ != nullptr) {
    for (std::uint64_t rest = request->mask; rest != 0; rest &= rest - 1) {
      watch_->multicast_loaded(source, request->record, line_in(request->line.page(), rest));
    }
  }
  network_.answer(request, 0);
  work(port);
}

// --------------------------------------------------------------------------------------------------------- account

bool NvlsSwitch::idle() const {
  return looking_up_ == 0 && network_.waiting() == 0 && std::ranges::all_of(ports_, [](const Port& port) {
           return port.waiting.empty() && port.multicasts.empty() && port.copies.empty() && port.entries == 0;
         });
}

std::string NvlsSwitch::describe_waiting() const {
  std::string text = network_.describe_waiting();
  for (std::size_t g = 0; g < ports_.size(); ++g) {
    const Port& port = ports_[g];
    if (port.waiting.empty() && port.multicasts.empty() && port.entries == 0) continue;
    text += fmt::format("  port of GPU {}: {} messages wait, {} multicasts are not written, {} lines under reduction\n",
                        g, port.waiting.size(), port.multicasts.size(), port.entries);
  }
  return text.empty() ? text : "switch:\n" + text;
}

}  // namespace nearfar

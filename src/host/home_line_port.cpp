#include "host/home_line_port.h"

namespace nearfar {

HomeLinePort::HomeLinePort(Partition& partition, L2Cache& llc, NetworkInterface& network, DataWatch* watch,
                           Cycle latency, std::uint64_t line_bytes)
    : partition_(partition),
      llc_(llc),
      network_(network),
      watch_(watch),
      latency_(latency),
      whole_line_(ByteMask::all(static_cast<unsigned>(line_bytes))),
      issue_handler_(partition.add_handler<&HomeLinePort::on_issue>(this)) {}

void HomeLinePort::access(const HostLineAccess& access, Event* event, HandlerId done) {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint16_t>(accesses_.size()));
    accesses_.emplace_back();
  }
  const std::uint16_t number = free_.back();
  free_.pop_back();
  accesses_[number] = {access, event, done};
  LineRequest* request = access.writes ? static_cast<LineRequest*>(partition_.pool().allocate<StoreRequest>())
                                       : partition_.pool().allocate<LoadRequest>();
  request->kind = access.writes ? RequestKind::Write : RequestKind::HostRead;
  request->line = access.line;
  request->mask = std::uint64_t{1} << access.line.index();
  request->unit = number;
  request->origin = partition_.device().value;
  partition_.schedule(request, issue_handler_, partition_.now() + latency_);
}

void HomeLinePort::on_issue(LineRequest* request) {
  const HostLineAccess& access = accesses_[request->unit].what;
  if (watch_ != nullptr) {
    const LoadUnit unit = LoadUnit::of(partition_.device(), access.application, false);
    request->record =
        access.writes ? watch_->store_issued(0, unit, access.application, access.page, access.line, whole_line_)
                      : watch_->loads_issued(unit, access.application, access.page, access.line.page(), request->mask);
  }
  request->stage_start = static_cast<std::uint32_t>(partition_.now());
  // The core bounds how many are under way.
  if (access.line.device() == partition_.device()) {
    llc_.reserve_always(access.line);
    llc_.request(request);
  } else {
    network_.reserve_always(access.line.device());
    network_.send_request(request);
  }
}

void HomeLinePort::served(LineRequest* request) {
  const unsigned number = request->unit;
  const bool writes = request->kind == RequestKind::Write;
  if (watch_ != nullptr && writes) watch_->stores_acknowledged(request->record, request->mask);
  if (watch_ != nullptr && !writes) {
    const HostLineAccess& access = accesses_[number].what;
    watch_->filled(LoadUnit::of(partition_.device(), access.application, false), access.line, nullptr);
  }
  partition_.pool().release(request);
  complete(number);
}

void HomeLinePort::ordered(unsigned number) { complete(number); }

void HomeLinePort::complete(unsigned number) {
  const Access ended = accesses_[number];
  free_.push_back(static_cast<std::uint16_t>(number));
  partition_.schedule(ended.event, ended.done, partition_.now());
}

}  // namespace nearfar

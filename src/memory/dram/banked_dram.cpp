// The channel's scheduler first, then rows, then the way in and out.
#include "memory/dram/banked_dram.h"

#include <algorithm>
#include <cassert>

namespace nearfar {
namespace {

/// What a drain looks through; a few slots of the ring stay free, so that it need not be packed at every write.
constexpr std::uint32_t kWriteWindow = 48;

/// Writes that are too few for a drain wait this many look-aheads before they use the time when no read waits: so
/// several share a turn-around, and an event.
constexpr Cycle kPatience = 8;

/// Bursts that are committed together at least, so that a decision is worth its event.
constexpr Cycle kBurstsTogether = 4;

DramRequest make_request(const DramMap::Place& place, Cycle now) {
  DramRequest request;
  request.row = place.row;
  request.since = static_cast<std::uint32_t>(now);
  request.bank = static_cast<std::uint16_t>(place.bank);
  request.rank = static_cast<std::uint8_t>(place.rank);
  return request;
}

DramRequest make_read(Event* event, Cycle pipeline, const DramMap::Place& place, Cycle now) {
  DramRequest request = make_request(place, now);
  request.read = event;
  request.pipeline = static_cast<std::uint32_t>(pipeline);
  return request;
}

DramRequest make_write(PhysLine line, const DramMap::Place& place, Cycle now) {
  DramRequest request = make_request(place, now);
  request.line = line.value;
  return request;
}

}  // namespace

BankedDram::Channel::Channel(const DramSpec& spec, std::uint64_t line_bytes, std::uint64_t clock_hertz)
    : bus(line_bytes, spec.channel_bandwidth.bytes_per_second, clock_hertz, spec.ranks,
          spec.scheduler == DramScheduler::FrFcfs),
      openings(spec.ranks * spec.banks),
      reads(spec.ranks, spec.ranks * spec.banks),
      writes(spec.ranks, spec.ranks * spec.banks) {}

BankedDram::BankedDram(Partition& partition, const DramSpec& spec, std::uint64_t line_bytes, std::uint64_t clock_hertz,
                       DramClient& client)
    : partition_(partition),
      spec_(spec),
      line_bytes_(line_bytes),
      client_(client),
      map_(spec, line_bytes),
      wake_handler_(partition.add_handler<&BankedDram::on_wake>(this)),
      read_window_(std::min(spec.read_queue, DramWindow::kSlots)),
      write_window_(std::min(spec.write_queue, kWriteWindow)),
      pass_limit_(4 * read_window_),
      channels_(spec.channels, Channel(spec, line_bytes, clock_hertz)),
      banks_(std::size_t{spec.channels} * spec.ranks * spec.banks),
      ranks_(std::size_t{spec.channels} * spec.ranks) {
  assert(spec.write_low < spec.write_high && spec.write_high <= spec.write_queue);
  look_ahead_ = spec.t_cl + std::max(spec.t_rp + spec.t_rcd, kBurstsTogether * bus().burst().ceil());
  patience_ = kPatience * look_ahead_;
  for (std::uint32_t i = 0; i < spec.channels; ++i) {
    channels_[i].first_bank = i * spec.ranks * spec.banks;
    channels_[i].first_rank = i * spec.ranks;
  }
  for (std::uint32_t i = 0; i < banks_.size(); ++i) {
    banks_[i].rank = static_cast<std::uint16_t>(i / spec.banks % spec.ranks);
  }
  if (!spec.refresh) return;
  // The ranks of a channel take turns.
  for (std::uint32_t i = 0; i < ranks_.size(); ++i) {
    ranks_[i].refresh_due = spec.t_refi * (i % spec.ranks + 1) / spec.ranks;
  }
}

void BankedDram::wake_at(Channel& channel, Cycle when) {
  if (channel.wake <= when) return;
  channel.wake = when;
  auto* event = partition_.pool().allocate<IndexEvent>();
  event->index = static_cast<std::uint32_t>(&channel - channels_.data());
  partition_.schedule(event, wake_handler_, when);
}

/// The client is told of room from here only, never from within a call of its own; it may write, and be refused, at
/// once.
void BankedDram::on_wake(IndexEvent* event) {
  Channel& channel = channels_[event->index];
  const bool overtaken = channel.wake != event->when;
  partition_.pool().release(event);
  if (overtaken) return;
  channel.wake = kNever;
  serve(channel);
  if (!channel.refused || !has_room(channel)) return;
  channel.refused = false;
  client_.dram_has_room();
}

/// Commits requests until the bus is booked as far as the look-ahead, and leaves a wake-up if any request waits.
void BankedDram::serve(Channel& channel) {
  const Cycle now = partition_.now();
  if (spec_.refresh) refresh(channel);
  for (;;) {
    if (may_change_turn(channel)) take_turns(channel);
    if (channel.active().empty()) break;
    const Choice choice = choose(channel);
    if (choice.begin.cycle() > now + look_ahead_) {
      wake_at(channel, choice.begin.cycle() - spec_.t_cl);
      return;
    }
    commit(channel, choice);
  }
  if (channel.writes_waiting != 0) wake_at(channel, channel.writes_since + patience_);
}

void BankedDram::take_turns(Channel& channel) {
  const std::uint32_t writes = channel.writes_waiting;
  const std::uint32_t share = spec_.write_high - spec_.write_low;
  const bool reads_wait = channel.reads_waiting != 0;
  switch (channel.turn) {
    case Turn::Reads:
      if (writes >= spec_.write_high && (channel.turn_left == 0 || !reads_wait)) {
        start_turn(channel, Turn::Drain, writes - spec_.write_low);
      } else if (writes != 0 && !reads_wait && partition_.now() >= channel.writes_since + patience_) {
        start_turn(channel, Turn::Spare, 0);
      }
      return;
    case Turn::Drain:
      if (writes == 0 || (reads_wait && (writes <= spec_.write_low || channel.turn_left == 0))) {
        start_turn(channel, Turn::Reads, std::min(channel.reads_waiting, share));
      }
      return;
    case Turn::Spare:
      if (writes >= spec_.write_high) {
        channel.turn = Turn::Drain;
        channel.turn_left = writes - spec_.write_low;
      } else if (writes == 0 || reads_wait) {
        start_turn(channel, Turn::Reads, std::min(channel.reads_waiting, share));
      }
      return;
  }
}

void BankedDram::start_turn(Channel& channel, Turn turn, std::uint32_t requests) {
  channel.turn = turn;
  channel.turn_left = requests;
  channel.passed = 0;
  channel.writes_since = partition_.now();
  if (turn != Turn::Reads) ++stats_.write_drains;
  const DramWindow& window = channel.active();
  window.each(window.all(), [&](std::uint32_t slot) { prepare(channel, window[slot].bank); });
}

/// The request that gets the bus next. Under FR-FCFS every bank that is asked for has its row open or being opened,
/// so there is always one.
BankedDram::Choice BankedDram::choose(Channel& channel) {
  DramWindow& window = channel.active();
  const Cycle now = partition_.now();
  const bool in_order = spec_.scheduler == DramScheduler::Fcfs;
  if (in_order || channel.passed >= pass_limit_) {
    const std::uint32_t oldest = window.oldest(window.all());
    if (!window.is_hit(oldest)) open_row(channel, window[oldest], channel.turn == Turn::Reads);
    const ExactTime begin = earliest_data(channel, bank_of(channel, window[oldest].bank));
    if (in_order || begin.cycle() <= now + look_ahead_) return {oldest, begin};
  }
  const ExactTime soonest = channel.bus.earliest(now + spec_.t_cl, channel.direction(), channel.bus.rank());
  note_ready(channel, soonest.cycle() - spec_.t_cl);
  const DramWindow::Mask ready = window.ready() & window.of_rank(channel.bus.rank());
  if (ready == 0) return choose_first_legal(channel);
  const std::uint32_t oldest = window.oldest(ready);
  const Bank& bank = bank_of(channel, window[oldest].bank);
  const bool legal = column_ready(channel, bank) + spec_.t_cl <= soonest.cycle();
  return legal ? Choice{oldest, soonest} : choose_first_legal(channel);
}

/// Where the oldest request that is ready does not get the bus at once: another rank, a turn from writes to reads, or
/// all banks still opening.
BankedDram::Choice BankedDram::choose_first_legal(Channel& channel) {
  DramWindow& window = channel.active();
  Choice best{0, ExactTime::never()};
  window.each(window.ready(), [&](std::uint32_t slot) {
    const ExactTime begin = earliest_data(channel, bank_of(channel, window[slot].bank));
    if (begin < best.begin) best = {slot, begin};
  });
  for (std::uint32_t i = 0; i < channel.openings.size(); ++i) {
    if (channel.openings.ready(i) + spec_.t_cl > best.begin.cycle()) break;
    const std::uint32_t bank = channel.openings.bank(i);
    const DramWindow::Mask waiting = window.of_bank(bank) & window.hits();
    if (waiting == 0) continue;
    const ExactTime begin = earliest_data(channel, bank_of(channel, bank));
    if (begin < best.begin) best = {window.oldest(waiting), begin};
  }
  assert(best.begin != ExactTime::never());
  return best;
}

Cycle BankedDram::column_ready(const Channel& channel, const Bank& bank) const {
  if (channel.turn != Turn::Reads) return bank.column_ready;
  return std::max(bank.column_ready, ranks_[channel.first_rank + bank.rank].read_ready);
}

ExactTime BankedDram::earliest_data(Channel& channel, const Bank& bank) {
  const Cycle column = std::max(partition_.now(), column_ready(channel, bank));
  return channel.bus.earliest(column + spec_.t_cl, channel.direction(), bank.rank);
}

inline void BankedDram::enqueue(Channel& channel, DramWindow& window, const DramRequest& request) {
  const Bank& bank = bank_of(channel, request.bank);
  window.add(request, bank.row == request.row, !bank.opening);
  prepare(channel, request.bank);
}

void BankedDram::commit(Channel& channel, const Choice& choice) {
  DramWindow& window = channel.active();
  DramRequest& request = window[choice.slot];
  const std::uint32_t bank = request.bank;
  if (channel.turn_left != 0) --channel.turn_left;
  channel.passed = choice.slot == window.oldest(window.all()) ? 0 : channel.passed + 1;
  --(channel.turn == Turn::Reads ? channel.reads_waiting : channel.writes_waiting);
  transfer(channel, request, choice.begin);
  window.remove(choice.slot);
  Backlog& more = channel.turn == Turn::Reads ? channel.more_reads : channel.more_writes;
  if (!more.empty()) enqueue(channel, window, more.pop());
  prepare(channel, bank);
}

void BankedDram::transfer(Channel& channel, DramRequest& request, ExactTime begin) {
  Bank& bank = bank_of(channel, request.bank);
  const ExactTime end = channel.bus.book(begin, channel.direction(), bank.rank, partition_.now() + spec_.t_cl);
  const Cycle column = begin.cycle() - spec_.t_cl;
  ++found_[static_cast<std::size_t>(request.found)];
  if (timeline_ != nullptr) trace(channel, request, begin, end);
  if (channel.turn == Turn::Reads) {
    tell(channel, DramCommand::Read, request.bank, column, begin, end);
    bank.ready = std::max(bank.ready, begin.ceil() - spec_.t_cl + spec_.t_rtp);
    complete_read(request, column, end);
  } else {
    --channel.waiting_lines[request.line];
    tell(channel, DramCommand::Write, request.bank, column, begin, end);
    bank.ready = std::max(bank.ready, end.ceil() + spec_.t_wr);
    Cycle& read_ready = rank_of(channel, bank).read_ready;
    read_ready = std::max(read_ready, end.ceil() + spec_.t_wtr);
  }
}

void BankedDram::trace(const Channel& channel, const DramRequest& request, ExactTime begin, ExactTime end) {
  static constexpr std::array kReads = {"read, row hit", "read, row closed", "read, row conflict"};
  static constexpr std::array kWrites = {"write, row hit", "write, row closed", "write, row conflict"};
  const auto number = static_cast<std::uint32_t>(&channel - channels_.data());
  const auto found = static_cast<std::size_t>(request.found);
  if (channel.turn == Turn::Reads) {
    timeline_->read_ends(request.read, number, end.ceil() + spec_.controller_latency, kReads[found]);
  } else {
    timeline_->write(number, PhysLine{request.line}, begin.cycle(), end.ceil(), kWrites[found]);
  }
}

/// Until its first command a read waits, then it is served.
void BankedDram::complete_read(DramRequest& request, Cycle column, ExactTime end) {
  const Cycle complete = end.ceil() + spec_.controller_latency;
  if (request.found == RowState::Hit) note_first_command(request, column);
  stats_.read_service_cycles += static_cast<std::uint32_t>(complete) - request.since;
  partition_.schedule(request.read, request.read->handler, complete + request.pipeline);
}

void BankedDram::note_first_command(DramRequest& request, Cycle when) {
  stats_.read_wait_cycles += static_cast<std::uint32_t>(when) - request.since;
  request.since = static_cast<std::uint32_t>(when);
}

void BankedDram::prepare(Channel& channel, std::uint32_t bank) {
  if (spec_.scheduler == DramScheduler::Fcfs || prepare(channel, channel.active(), bank)) return;
  // While writes drain, banks that they do not need are prepared for the reads that follow.
  if (channel.turn != Turn::Reads) prepare(channel, channel.reads, bank);
}

/// Opens the row of the bank's oldest request unless another one still hits the open row; false: no request is there.
bool BankedDram::prepare(Channel& channel, DramWindow& window, std::uint32_t bank) {
  const DramWindow::Mask waiting = window.of_bank(bank);
  if (waiting == 0) return false;
  if ((waiting & window.hits()) == 0) open_row(channel, window[window.oldest(waiting)], &window == &channel.reads);
  return true;
}

void BankedDram::open_row(Channel& channel, DramRequest& request, bool read) {
  Bank& bank = bank_of(channel, request.bank);
  Cycle begin = std::max(partition_.now(), bank.ready);
  Cycle activate = begin;
  const bool conflict = bank.row != kNoRow;
  if (conflict) {
    tell(channel, DramCommand::Precharge, request.bank, begin);
    activate += spec_.t_rp;
  }
  activate = rank_of(channel, bank).activates.place(activate, spec_.t_rrd, spec_.t_faw);
  if (!conflict) begin = activate;
  bank.column_ready = activate + spec_.t_rcd;
  bank.ready = activate + spec_.t_ras;
  set_row(channel, request.bank, request.row);
  tell(channel, DramCommand::Activate, request.bank, activate);
  if (request.found != RowState::Hit) return;
  request.found = conflict ? RowState::Conflict : RowState::Closed;
  if (read) note_first_command(request, begin);
}

void BankedDram::set_row(Channel& channel, std::uint32_t bank_number, std::uint32_t row) {
  Bank& bank = bank_of(channel, bank_number);
  if (bank.opening) channel.openings.remove(bank_number);
  bank.row = row;
  const bool asked_for = (channel.reads.of_bank(bank_number) | channel.writes.of_bank(bank_number)) != 0;
  bank.opening = row != kNoRow && asked_for;
  if (!asked_for) return;
  if (bank.opening) channel.openings.add(bank_number, bank.column_ready);
  channel.reads.set_row(bank_number, row);
  channel.writes.set_row(bank_number, row);
}

/// Takes the banks off the list of openings that are ready for a column command at `column`.
void BankedDram::note_ready(Channel& channel, Cycle column) {
  while (!channel.openings.empty() && channel.openings.ready() <= column) {
    const std::uint32_t bank = channel.openings.bank();
    channel.openings.pop();
    bank_of(channel, bank).opening = false;
    channel.reads.set_ready(bank);
    channel.writes.set_ready(bank);
  }
}

void BankedDram::refresh(Channel& channel) {
  const Cycle now = partition_.now();
  for (std::uint32_t rank = 0; rank < spec_.ranks; ++rank) {
    Cycle& due = ranks_[channel.first_rank + rank].refresh_due;
    if (due > now) continue;
    while (due <= now) {
      ++refreshes_;
      const Cycle done = close_rank(channel, rank, due) + spec_.t_rfc;
      for (std::uint32_t b = rank * spec_.banks; b < (rank + 1) * spec_.banks; ++b) {
        bank_of(channel, b).ready = done;
        set_row(channel, b, kNoRow);
      }
      due += spec_.t_refi;
    }
    for (std::uint32_t b = rank * spec_.banks; b < (rank + 1) * spec_.banks; ++b) prepare(channel, b);
  }
}

/// Closes all rows of a rank for its refresh, which can begin at the time that is returned.
Cycle BankedDram::close_rank(Channel& channel, std::uint32_t rank, Cycle due) {
  Cycle begin = due;
  for (std::uint32_t b = rank * spec_.banks; b < (rank + 1) * spec_.banks; ++b) {
    Bank& bank = bank_of(channel, b);
    if (bank.row == kNoRow) {
      begin = std::max(begin, bank.ready);
      continue;
    }
    const Cycle close = std::max(due, bank.ready);
    tell(channel, DramCommand::Precharge, b, close);
    begin = std::max(begin, close + spec_.t_rp);
  }
  tell(channel, DramCommand::Refresh, rank * spec_.banks, begin);
  return begin;
}

void BankedDram::tell_observer(const Channel& channel, DramCommand command, std::uint32_t bank, Cycle when,
                               ExactTime begin, ExactTime end) {
  const auto number = static_cast<std::uint32_t>(&channel - channels_.data());
  observer_->command({command, number, bank, bank_of(channel, bank).row, when, begin, end});
}

void BankedDram::read(PhysLine line, Event* event, HandlerId done, Cycle pipeline) {
  const Cycle now = partition_.now();
  const DramMap::Place place = map_.place(line);
  Channel& channel = channels_[place.channel];
  ++stats_.reads;
  if (channel.writes_waiting != 0 && write_waits(channel, place.bank, line)) {
    stats_.read_service_cycles += spec_.controller_latency;
    if (timeline_ != nullptr) {
      timeline_->delay_next(pipeline);
      timeline_->read(place.channel, line, now + spec_.controller_latency, "read of a waiting write");
    }
    partition_.schedule(event, done, now + spec_.controller_latency + pipeline);
    return;
  }
  event->handler = done;
  if (timeline_ != nullptr) timeline_->read_begins(event, line, pipeline);
  if (spec_.refresh) refresh(channel);
  if (channel.reads_waiting == 0 && channel.turn == Turn::Reads) {
    read_first(channel, make_read(event, pipeline, place, now));
    return;
  }
  // With others before it the channel has a wake-up already.
  ++channel.reads_waiting;
  if (channel.reads.size() < read_window_) {
    enqueue(channel, channel.reads, make_read(event, pipeline, place, now));
  } else {
    channel.more_reads.push(make_read(event, pipeline, place, now));
  }
}

/// A read that has no other before it does not pass through the window, unless its time is far off.
void BankedDram::read_first(Channel& channel, DramRequest request) {
  const Bank& bank = bank_of(channel, request.bank);
  const Cycle now = partition_.now();
  if (channel.bus.free().cycle() <= now + look_ahead_) {
    if (bank.row != request.row) open_row(channel, request, true);
    const ExactTime begin = earliest_data(channel, bank);
    if (begin.cycle() <= now + look_ahead_) {
      transfer(channel, request, begin);
      return;
    }
  }
  ++channel.reads_waiting;
  enqueue(channel, channel.reads, request);
  serve(channel);
}

bool BankedDram::write_waits(Channel& channel, std::uint32_t bank, PhysLine line) {
  if (channel.waiting_lines[line.value] == 0) return false;
  bool found = false;
  channel.writes.each(channel.writes.of_bank(bank),
                      [&](std::uint32_t slot) { found = found || channel.writes[slot].line == line.value; });
  return found || channel.more_writes.contains_line(line.value);
}

bool BankedDram::can_write(PhysLine line) {
  Channel& channel = channels_[map_.channel(line)];
  if (has_room(channel)) return true;
  channel.refused = true;
  return false;
}

void BankedDram::write(PhysLine line) {
  const Cycle now = partition_.now();
  const DramMap::Place place = map_.place(line);
  Channel& channel = channels_[place.channel];
  ++stats_.writes;
  ++channel.waiting_lines[line.value];
  if (channel.writes_waiting++ == 0) channel.writes_since = now;
  if (channel.writes.size() < write_window_) {
    enqueue(channel, channel.writes, make_write(line, place, now));
  } else {
    channel.more_writes.push(make_write(line, place, now));
  }
  if (channel.turn != Turn::Reads) return;
  if (channel.writes_waiting == spec_.write_high) {
    serve(channel);
    // Who was refused has been told of room since, from an event: below the high mark there was room.
    assert(!channel.refused);
  } else if (channel.wake == kNever) {
    wake_at(channel, channel.writes_since + patience_);
  }
}

DramRequest BankedDram::Backlog::pop() {
  const DramRequest request = requests_[first_++];
  // The storage stays: the rest moves to its front now and then.
  if (2 * first_ >= requests_.size()) {
    requests_.erase(requests_.begin(), requests_.begin() + static_cast<std::ptrdiff_t>(first_));
    first_ = 0;
  }
  return request;
}

bool BankedDram::Backlog::contains_line(std::uint64_t line) const {
  return std::any_of(requests_.begin() + static_cast<std::ptrdiff_t>(first_), requests_.end(),
                     [&](const DramRequest& request) { return request.line == line; });
}

std::uint64_t BankedDram::pending() const {
  std::uint64_t sum = 0;
  for (const Channel& channel : channels_) sum += channel.reads_waiting + channel.writes_waiting;
  return sum;
}

const DramStats& BankedDram::stats() {
  stats_.read_bytes = stats_.reads * line_bytes_;
  stats_.write_bytes = stats_.writes * line_bytes_;
  const ExactTime burst = bus().burst();
  stats_.row_hits = found_[static_cast<std::size_t>(RowState::Hit)];
  stats_.row_closed = found_[static_cast<std::size_t>(RowState::Closed)];
  stats_.row_conflicts = found_[static_cast<std::size_t>(RowState::Conflict)];
  const std::uint64_t bursts = stats_.row_hits + stats_.row_closed + stats_.row_conflicts;
  const auto parts = static_cast<unsigned __int128>(bursts) * burst.part();
  stats_.bus_busy_cycles = bursts * burst.cycle() + static_cast<std::uint64_t>(parts / bus().parts());
  stats_.refreshes = refreshes_;
  const Cycle now = partition_.now();
  for (const Rank& rank : ranks_) {
    if (rank.refresh_due <= now) stats_.refreshes += (now - rank.refresh_due) / spec_.t_refi + 1;
  }
  return stats_;
}

}  // namespace nearfar

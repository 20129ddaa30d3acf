// DRAM with channels, ranks, banks and open rows, under an FR-FCFS (or FCFS) scheduler for each channel.
//
// Nobody ticks. Time is arithmetic: every bank, rank and bus knows when it may be used next, so that a request can be
// committed ahead of time, and its command times follow. A channel commits its requests in the order in which the
// scheduler would serve them, until its bus is booked far enough ahead to hide the opening of a row; then it sleeps
// until the booked time runs down. A read that finds its channel at rest is committed in the cycle in which it comes.
//
// What is modelled:
//  - A row is opened as soon as a request of the window needs it and no waiting request of its kind hits the row that
//    is open in the bank. So banks are prepared in parallel, in order of age.
//  - The bus goes to the oldest request whose row is open and whose column command is legal, else to the one that
//    is legal first. A request that has been passed by too many younger ones gets its row, and goes next.
//  - Writes wait until `write_high` of them start a drain, which ends at `write_low`; those that have waited for some
//    time also go when no read waits. While both kinds wait, neither has more than a drain's worth in one turn.
//  - A read of a line whose write still waits is answered from the write queue, after the controller's latency.
//    A write is never held back by an older read of its line: the cache in front does not write what it is reading.
//  - Refresh closes the rows of a rank and holds it for t_rfc. One that falls due while requests are committed is put
//    off until they are done, as the standards permit.
//  - The write latency is t_cl. A turn-around of the bus costs half a burst. The command bus is not modelled.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory/dram/dram.h"
#include "memory/dram/dram_activates.h"
#include "memory/dram/dram_bus.h"
#include "memory/dram/dram_map.h"
#include "memory/dram/dram_openings.h"
#include "memory/dram/dram_window.h"

namespace nearfar {

enum class DramCommand : std::uint8_t { Activate, Precharge, Read, Write, Refresh };

/// One command as the model places it. Commands of one bank are told in order of time, those of different banks not.
struct DramCommandTime {
  DramCommand command;
  std::uint32_t channel;
  std::uint32_t bank;  ///< counted through the ranks; Refresh: the rank's first
  std::uint32_t row;
  Cycle when;       ///< Read, Write: the whole cycle in which the column command begins
  ExactTime begin;  ///< Read, Write: of the data
  ExactTime end;
};

/// Sees every command, for tests.
class DramObserver {
 public:
  virtual ~DramObserver() = default;
  virtual void command(const DramCommandTime& command) = 0;
};

class BankedDram final : public Dram {
 public:
  BankedDram(Partition& partition, const DramSpec& spec, std::uint64_t line_bytes, std::uint64_t clock_hertz,
             DramClient& client);

  void read(PhysLine line, Event* event, HandlerId done, Cycle pipeline) override;
  Cycle book_read(PhysLine) override { return kNever; }  // what comes later may be served earlier
  bool can_write(PhysLine line) override;
  void write(PhysLine line) override;
  std::uint64_t pending() const override;
  const DramStats& stats() override;

  void observe(DramObserver* observer) { observer_ = observer; }
  const DramMap& map() const { return map_; }
  /// Of every channel alike: the length of a burst and the turn-around.
  const DramBus& bus() const { return channels_.front().bus; }
  /// Younger requests that may pass the oldest one of a channel.
  std::uint32_t pass_limit() const { return pass_limit_; }

 private:
  static constexpr std::uint32_t kNoRow = ~std::uint32_t{0};

  struct Bank {
    std::uint32_t row = kNoRow;
    std::uint16_t rank = 0;
    bool opening = false;    ///< listed among its channel's openings, for requests that wait
    Cycle ready = 0;         ///< row open: when it may be closed; else when one may be opened
    Cycle column_ready = 0;  ///< when the open row may be read or written
  };

  struct Rank {
    DramActivates activates;
    Cycle read_ready = 0;  ///< t_wtr after the last write
    Cycle refresh_due = kNever;
  };

  /// Whose turn it is: reads; writes because they are many; writes because nothing else is to be done.
  enum class Turn : std::uint8_t { Reads, Drain, Spare };

  /// Requests that do not fit in their window, in order.
  class Backlog {
   public:
    bool empty() const { return first_ == requests_.size(); }
    void push(const DramRequest& request) { requests_.push_back(request); }
    DramRequest pop();
    bool contains_line(std::uint64_t line) const;

   private:
    std::vector<DramRequest> requests_;
    std::size_t first_ = 0;
  };

  /// Counts the waiting writes by a hash of their lines: most reads see at once that theirs is not among them.
  class WaitingLines {
   public:
    std::uint16_t& operator[](std::uint64_t line) { return counts_[line * 0x9e37'79b9'7f4a'7c15 >> (64 - kBits)]; }

   private:
    static constexpr unsigned kBits = 8;
    std::array<std::uint16_t, 1 << kBits> counts_{};
  };

  struct Channel {
    Channel(const DramSpec& spec, std::uint64_t line_bytes, std::uint64_t clock_hertz);

    Turn turn = Turn::Reads;
    bool refused = false;
    std::uint32_t first_bank = 0;
    std::uint32_t first_rank = 0;
    std::uint32_t reads_waiting = 0;
    std::uint32_t writes_waiting = 0;
    std::uint32_t turn_left = 0;  ///< requests before the other kind may take its turn
    std::uint32_t passed = 0;     ///< younger requests that went before the oldest one
    Cycle writes_since = 0;       ///< when the writes that wait began to do so
    Cycle wake = kNever;
    DramBus bus;
    DramOpenings openings;
    DramWindow reads;
    DramWindow writes;
    Backlog more_reads;
    Backlog more_writes;
    WaitingLines waiting_lines;

    DramWindow& active() { return turn == Turn::Reads ? reads : writes; }
    BusDirection direction() const { return turn == Turn::Reads ? BusDirection::Read : BusDirection::Write; }
  };

  struct Choice {
    std::uint32_t slot;
    ExactTime begin;
  };

  Bank& bank_of(const Channel& channel, std::uint32_t bank) { return banks_[channel.first_bank + bank]; }
  Rank& rank_of(const Channel& channel, const Bank& bank) { return ranks_[channel.first_rank + bank.rank]; }
  bool has_room(const Channel& channel) const { return channel.writes_waiting < spec_.write_queue; }

  void on_wake(IndexEvent* event);
  void wake_at(Channel& channel, Cycle when);

  void serve(Channel& channel);
  bool may_change_turn(const Channel& channel) const {
    return channel.turn != Turn::Reads || channel.reads_waiting == 0 || channel.writes_waiting >= spec_.write_high;
  }
  void take_turns(Channel& channel);
  void start_turn(Channel& channel, Turn turn, std::uint32_t requests);
  Choice choose(Channel& channel);
  Choice choose_first_legal(Channel& channel);
  Cycle column_ready(const Channel& channel, const Bank& bank) const;
  ExactTime earliest_data(Channel& channel, const Bank& bank);
  void commit(Channel& channel, const Choice& choice);
  void transfer(Channel& channel, DramRequest& request, ExactTime begin);
  void trace(const Channel& channel, const DramRequest& request, ExactTime begin, ExactTime end);
  void complete_read(DramRequest& request, Cycle column, ExactTime end);
  void note_first_command(DramRequest& request, Cycle when);

  void read_first(Channel& channel, DramRequest request);
  void enqueue(Channel& channel, DramWindow& window, const DramRequest& request);
  static bool write_waits(Channel& channel, std::uint32_t bank, PhysLine line);

  void prepare(Channel& channel, std::uint32_t bank);
  bool prepare(Channel& channel, DramWindow& window, std::uint32_t bank);
  void open_row(Channel& channel, DramRequest& request, bool read);
  void set_row(Channel& channel, std::uint32_t bank_number, std::uint32_t row);
  void note_ready(Channel& channel, Cycle column);
  void refresh(Channel& channel);
  Cycle close_rank(Channel& channel, std::uint32_t rank, Cycle due);
  void tell(const Channel& channel, DramCommand command, std::uint32_t bank, Cycle when, ExactTime begin = {},
            ExactTime end = {}) {
    if (observer_ != nullptr) tell_observer(channel, command, bank, when, begin, end);
  }
  void tell_observer(const Channel& channel, DramCommand command, std::uint32_t bank, Cycle when, ExactTime begin,
                     ExactTime end);

  Partition& partition_;
  const DramSpec spec_;
  const std::uint64_t line_bytes_;
  DramClient& client_;
  const DramMap map_;
  const HandlerId wake_handler_;
  const std::uint32_t read_window_;
  const std::uint32_t write_window_;
  const std::uint32_t pass_limit_;
  Cycle look_ahead_ = 0;  ///< how far ahead a burst may be booked
  Cycle patience_ = 0;    ///< how long writes wait for a drain before they use the time when no read waits
  DramObserver* observer_ = nullptr;
  std::vector<Channel> channels_;
  std::vector<Bank> banks_;
  std::vector<Rank> ranks_;
  std::array<std::uint64_t, 3> found_{};  ///< bursts by RowState
  std::uint64_t refreshes_ = 0;
  DramStats stats_;
};

}  // namespace nearfar

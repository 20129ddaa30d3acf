// A cache of lines under NMOESI: the L2 slice of a GPU, a write-back L1, and the last-level cache of the host.
//
// It may have cores that access it directly (an L1; an L2 under write-through L1s; the host's), and children, for which
// it keeps a directory (an L2 over write-back L1s). Each line with work in progress has a transaction, whose phase says
// what an event meets (coverage.h). A line that waits for a way is in W as far as others can tell.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coherence/nmoesi/coverage.h"
#include "coherence/nmoesi/message.h"
#include "memory/cache/tag_array.h"

namespace nearfar::nmoesi {

/// What a core does to a line.
struct CoreAccess {
  Event event = Event::Load;  ///< Load, Store or NStore
  Line line = 0;
  Mask mask = 0;          ///< of stores: the granules they touch
  void* token = nullptr;  ///< the core's
};

/// The core beside a cache.
class CacheClient {
 public:
  virtual ~CacheClient() = default;
  /// An access that had to wait is performed now, on this image of its line (none where nobody follows data).
  virtual void performed(const CoreAccess& access, LineImage* image) = 0;
};

struct LineCacheOptions {
  Agent self = kNobody;
  Agent parent = kNobody;
  Agent first_child = kNobody;  ///< children have consecutive numbers
  unsigned children = 0;
  std::uint64_t sets = 1;
  std::uint32_t ways = 1;
  IndexHash index = IndexHash::Modulo;
  bool notifies_clean = false;  ///< the parent is told of unchanged copies that leave
  const Table* table = &kOwnedTable;
  Geometry geometry;
};

class LineCache {
 public:
  LineCache(const LineCacheOptions& options, Fabric& fabric, CacheClient* client);
  LineCache(const LineCache&) = delete;
  LineCache& operator=(const LineCache&) = delete;

  /// Whether the access is performed at once, on `image`; else wait() has to be called.
  bool access(const CoreAccess& access, LineImage*& image) {
    const TagArray::Slot slot = tags_.find(access.line);
    if (slot != TagArray::kNone && (tags_.state(slot) & kBusy) == 0) {
      const Transition& to = transition(*options_.table, state(slot), access.event);
      if (to.action == Action::Hit) {
        if (coverage_ != nullptr) coverage_->note(state(slot), access.event);
        tags_.touch(slot);
        perform(slot, access, to.next);
        image = image_of(slot);
        return true;
      }
    }
    return false;
  }
  /// An access waits for its line; CacheClient::performed() follows.
  void wait(const CoreAccess& access);
  void receive(Message&& message);

  /// The copy of a line leaves, in its turn.
  void evict(Line line);
  /// Every copy leaves.
  void evict_all();
  /// Changed bytes go to the parent, and the copies stay; the answer is how many lines have any.
  std::uint64_t publish_all();
  /// Every copy that is not changed is forgotten.
  void drop_clean();

  std::uint64_t changed_lines() const;

  bool idle() const { return transactions_.empty(); }
  std::string describe_waiting() const;
  void cover(Coverage* coverage) { coverage_ = coverage; }

  // What tests and checks look at.
  State state_of(Line line) const;
  Mask mask_of(Line line) const;
  const LineImage* image_of_line(Line line) const;
  std::uint32_t sharers_of(Line line) const;
  Agent owner_of(Line line) const;
  Phase phase_of(Line line) const;
  template <class Visit>
  void for_each_line(Visit visit) const {
    for (TagArray::Slot slot = 0; slot < tags_.slots(); ++slot) {
      if (tags_.valid(slot) && state(slot) != State::I) visit(tags_.key(slot));
    }
  }

 private:
  enum class Probing : std::uint8_t { Request, Eviction, Parent };

  /// What waits for a line.
  struct Request {
    enum class What : std::uint8_t { Access, Message, Evict, Publish };
    What what = What::Access;
    CoreAccess access;
    Message message;
  };
  /// A probe of the parent, of one line or several.
  struct Probe {
    Message asked;
    unsigned left = 0;
    State state = State::I;  ///< of the last line
    std::uint16_t held = 0;
    std::unique_ptr<LineBytesList> bytes;

    bool invalidates() const { return asked.kind == Kind::ProbeInv; }
  };
  struct Transaction {
    Line line = 0;
    Phase phase = Phase::Q;
    Probing probing = Probing::Request;
    unsigned answers = 0;  ///< of children that have not come
    Request current;
    std::vector<Request> queue;
    std::size_t next = 0;    ///< in the queue
    Probe* probe = nullptr;  ///< of the parent, which waits or is being served
    bool published = false;  ///< what is put stays
    bool put_full = false;   ///< nobody has taken the bytes that have been put yet
    Mask put_mask = 0;
    LineImage put_image;
  };

  static constexpr std::uint8_t kBusy = 0x80;
  using Slot = TagArray::Slot;

  State state(Slot slot) const { return static_cast<State>(tags_.state(slot) & ~kBusy); }
  void set_state(Slot slot, State state) {
    tags_.state(slot) = static_cast<std::uint8_t>(static_cast<std::uint8_t>(state) | (tags_.state(slot) & kBusy));
  }
  LineImage* image_of(Slot slot) { return images_.empty() ? nullptr : &images_[slot]; }
  void perform(Slot slot, const CoreAccess& access, State next) {
    masks_[slot] |= access.mask;
    set_state(slot, next);
  }

  // Transactions.
  Transaction* find(Line line);
  Transaction& open(Line line);
  void close(Transaction& transaction);
  void enqueue(Line line, Request&& request);
  void go_on(Transaction& transaction);
  void begin(Transaction& transaction);
  bool make_room(Line line);
  void retry_room();

  // Requests.
  void ask(Transaction& transaction, Kind kind);
  void on_data(Message&& message);
  void serve(Transaction& transaction);
  void serve_child(Transaction& transaction);
  void grant(Transaction& transaction);
  void probe_children(Transaction& transaction, std::uint32_t children, bool invalidate, Probing why);
  void on_child_answer(Message&& message);
  void put_by_child(const Message& message);
  void on_child_request(Message&& message);
  void merge(Slot slot, Mask mask, const LineImage* image);

  // Leaving.
  void begin_eviction(Transaction& transaction);
  void leave(Transaction& transaction);
  void begin_publishing(Transaction& transaction);
  void put(Transaction& transaction, Slot slot, Kind kind);
  void on_put_ack(const Message& message);
  void drop(Slot slot);

  // Probes of the parent.
  void on_probe(Message&& message);
  void probe_line(Line line, Probe& probe);
  void serve_probe(Transaction& transaction);
  void answer_probe(Line line, Probe& probe);
  void answer_from_put(Transaction& transaction, Probe& probe);
  bool must_invalidate(Slot slot, const Probe& probe) const;
  std::uint32_t children_to_probe(Slot slot, const Probe& probe) const;
  void probe_done(Probe& probe, State state);
  void part_done(Probe& probe);

  void send(Message&& message, Agent to, Line line);

  LineCacheOptions options_;
  Geometry geometry_;
  Fabric& fabric_;
  CacheClient* client_;
  Coverage* coverage_ = nullptr;
  TagArray tags_;
  std::vector<Mask> masks_;             ///< by slot
  std::vector<LineImage> images_;       ///< by slot, where data is followed
  std::vector<std::uint32_t> sharers_;  ///< by slot, where there are children
  std::vector<Agent> owners_;
  boost::unordered_flat_map<Line, Transaction*> transactions_;
  std::vector<std::unique_ptr<Transaction>> made_;
  std::vector<Transaction*> free_;
  std::vector<std::unique_ptr<Probe>> probes_;
  std::vector<Probe*> free_probes_;
  std::vector<Line> room_;  ///< lines that wait for a way, in order
};

}  // namespace nearfar::nmoesi

// The bounded buffers of a GMMU for messages from the links, one for requests and one for responses. While a buffer is
// full, the messages of its channel wait on the link, in order.
#pragma once

#include <array>
#include <cstdint>

#include "sim/partition.h"
#include "translation/gmmu/gmmu_stats.h"
#include "translation/message.h"

namespace nearfar {

/// Behind the buffers.
class IngressClient {
 public:
  virtual ~IngressClient() = default;
  /// Whether the buffer of a message's channel has a place for it.
  virtual bool has_place(const Message& message) const = 0;
  virtual void accept(const Message& message) = 0;
};

class MessageIngress {
 public:
  MessageIngress(Partition& partition, IngressClient& client, GmmuStats& stats)
      : partition_(partition),
        client_(client),
        stats_(stats),
        room_handler_(partition.add_handler<&MessageIngress::on_room>(this)) {}

  /// A message has come over a link.
  void receive(const Message& message);
  /// A place may have become free. Those that wait are looked at in this cycle, but not at once: who makes room is in
  /// the middle of something.
  void place_freed();
  std::uint32_t stopped() const { return stopped_[0].size() + stopped_[1].size(); }

 private:
  void on_room(Event* event);

  Partition& partition_;
  IngressClient& client_;
  GmmuStats& stats_;
  std::array<TranslationPacketQueue, 2> stopped_;  ///< messages that wait on the link: requests, responses
  bool going_on_ = false;                          ///< they will be looked at in this cycle
  HandlerId room_handler_;
};

}  // namespace nearfar

// A partition: one device's share of simulated time. It owns its event queue, its pool of events and its handlers, and
// shares nothing mutable with another partition. Partitions talk only through messages, which the engine carries
// from one window to the next.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/event.h"
#include "sim/outbox.h"
#include "sim/prefetch.h"
#include "sim/timeline.h"
#include "sim/types.h"
#include "sim/wheel.h"

namespace nearfar {

/// The doors of a partition that messages of other partitions knock at; the first handlers of every partition.
enum class MessagePort : std::uint8_t { Network, Credit, Announcement };
inline constexpr std::size_t kMessagePorts = 3;

/// What stands between a partition and the others. It may keep messages back at inputs and outputs, and decides who is
/// next there once all that could come first is known.
class NetworkPort {
 public:
  virtual ~NetworkPort() = default;
  /// A message has come, at message->when. Asked for every message in order of (arrival, source, sequence); it is to be
  /// handed to Partition::deliver(), now or later.
  virtual void arrive(Event* message) = 0;
  /// All messages that come before cycle `limit` have been announced.
  virtual void all_arrived(Cycle limit) = 0;
  /// All events before cycle `limit` have run.
  virtual void end_window(Cycle limit) = 0;
  /// The first cycle in which something that is kept back may move on, or kNever.
  virtual Cycle next_time() const = 0;
};

class Partition {
 public:
  Partition(DeviceId device, std::size_t partitions)
      : device_(device), outboxes_{Outbox(partitions), Outbox(partitions)} {
    handlers_.resize(kMessagePorts);
  }
  Partition(const Partition&) = delete;
  Partition& operator=(const Partition&) = delete;

  DeviceId device() const { return device_; }
  Cycle now() const { return wheel_.now(); }
  EventPool& pool() { return pool_; }

  /// Makes `(self->*Method)(T*)` callable by events of type T. An event that fires belongs to its handler.
  template <auto Method, class Component>
  HandlerId add_handler(Component* self) {
    handlers_.push_back({&call<Method, Component>, self, nullptr});
    return static_cast<HandlerId>(handlers_.size() - 1);
  }
  /// Has `(self->*Method)(event)` called shortly before an event of a handler is likely to fire: a chance to bring what
  /// it needs into the host's cache.
  template <auto Method, class Component>
  void set_preparation(HandlerId handler) {
    handlers_[handler].prepare = &prepare<Method, Component>;
  }
  template <auto Method, class Component>
  void set_port(MessagePort port, Component* self) {
    handlers_[static_cast<std::size_t>(port)] = {&call<Method, Component>, self, nullptr};
  }

  void schedule(Event* event, HandlerId handler, Cycle when) {
    event->handler = handler;
    wheel_.schedule(event, when);
  }

  /// Sends a copy of a message to another partition and releases it here. It arrives at `arrival`, beyond this window.
  void post(Event* message, DeviceId to, MessagePort port, Cycle arrival) {
    assert(arrival >= window_end_);
    message->when = arrival;
    message->source = device_.value;
    message->handler = static_cast<HandlerId>(port);
    earliest_sent_ = std::min(earliest_sent_, arrival);
    outboxes_[writing_].add(to, *message);
    pool_.release(message);
  }

  /// Sets the network interface: what comes from other partitions passes its inputs, and what it holds back for its
  /// outputs leaves at the latest at the end of a window.
  void set_network(NetworkPort* network) { network_ = network; }
  /// A message is through the device's input and fires in cycle message->when.
  void deliver(Event* message) { wheel_.deliver(message); }

  /// Begins a window: what it sends goes to outbox `box`, the contents of which all have been received.
  void begin_window(std::size_t box) {
    writing_ = box;
    outboxes_[box].clear();
  }

  /// Runs all events before `limit`. All messages that arrive before it are here: they are admitted first, in order.
  void run(Cycle limit) {
    window_end_ = limit;
    admit_before(limit);
    while (Event* event = wheel_.pop(limit)) {
      ++events_;
      prepare_soon();
      const Handler& handler = handlers_[event->handler];
      handler.call(handler.self, event);
    }
    if (network_ != nullptr) network_->end_window(limit);
  }

  /// Takes in what another partition sent in the window before.
  void receive(const Outbox& sent) {
    sent.for_each(device_.value,
                  [&](const EventBlock& message) { inbox_.deliver(reinterpret_cast<Event*>(pool_.copy(message))); });
  }

  const Outbox& outbox(std::size_t box) const { return outboxes_[box]; }
  /// Makes what was sent since the last window the contents of outbox `box`.
  void turn_outboxes(std::size_t box) {
    if (writing_ != box) std::swap(outboxes_[0], outboxes_[1]);
    writing_ = box;
  }

  /// Earliest arrival among the messages sent since the last call.
  Cycle take_earliest_sent() {
    const Cycle earliest = earliest_sent_;
    earliest_sent_ = kNever;
    return earliest;
  }

  /// Time of the next event or arrival.
  Cycle next_time() const {
    const Cycle own = std::min(wheel_.next_time(), inbox_.next_time());
    return network_ == nullptr ? own : std::min(own, network_->next_time());
  }
  std::uint64_t events() const { return events_; }

  /// Where events are noted for a person to look at; null in most runs.
  Timeline* timeline() { return timeline_.get(); }
  void set_timeline(std::unique_ptr<Timeline> timeline) { timeline_ = std::move(timeline); }

  /// What moves a run forward; the watchdog ends a run in which `steps` stands still.
  struct Progress {
    std::uint64_t steps = 0;
    std::uint64_t accesses = 0;
    std::uint64_t groups = 0;

    Progress& operator+=(const Progress& other) {
      steps += other.steps;
      accesses += other.accesses;
      groups += other.groups;
      return *this;
    }
    friend Progress operator-(const Progress& a, const Progress& b) {
      return {a.steps - b.steps, a.accesses - b.accesses, a.groups - b.groups};
    }
  };
  Progress& progress() { return progress_; }

 private:
  struct Handler {
    void (*call)(void* self, Event* event) = nullptr;
    void* self = nullptr;
    void (*prepare)(const void* self, const Event& event) = nullptr;
  };

  void prepare_soon() const {
    const Wheel::Soon soon = wheel_.soon();
    prefetch_line(soon.later);
    if (soon.next == nullptr) return;
    const Handler& handler = handlers_[soon.next->handler];
    if (handler.prepare != nullptr) handler.prepare(handler.self, *soon.next);
  }

  template <class Component, class T>
  static T type_of(void (Component::*)(T*));
  template <class Component, class T>
  static T type_of(void (Component::*)(const T&) const);

  template <auto Method, class Component>
  static void call(void* self, Event* event) {
    (static_cast<Component*>(self)->*Method)(static_cast<decltype(type_of(Method))*>(event));
  }
  template <auto Method, class Component>
  static void prepare(const void* self, const Event& event) {
    (static_cast<const Component*>(self)->*Method)(static_cast<const decltype(type_of(Method))&>(event));
  }

  void admit_before(Cycle limit) {
    while (Event* message = inbox_.pop(limit)) {
      if (network_ != nullptr) {
        network_->arrive(message);
      } else {
        wheel_.deliver(message);
      }
    }
    if (network_ != nullptr) network_->all_arrived(limit);
  }

  DeviceId device_;
  Cycle window_end_ = 0;
  Cycle earliest_sent_ = kNever;
  std::uint64_t events_ = 0;
  Progress progress_;
  NetworkPort* network_ = nullptr;
  std::vector<Handler> handlers_;
  std::array<Outbox, 2> outboxes_;  ///< written in one window, read by the others in the next
  std::size_t writing_ = 0;
  EventPool pool_;
  std::unique_ptr<Timeline> timeline_;
  Wheel wheel_;
  Wheel inbox_;  ///< messages that are here and have not been admitted yet, by their arrival
};

}  // namespace nearfar

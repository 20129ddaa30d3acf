// What the directories of a unified memory hierarchy do, for their device's timeline: blocks that a stacked memory has
// asked for or put, until they have come or are acknowledged; requests at a module of the host's memory, from their
// arrival until their block is in its place, waiting included.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "coherence/umh/hierarchy_map.h"
#include "sim/partition.h"
#include "sim/timeline.h"

namespace nearfar {

class DirectoryTimeline {
 public:
  DirectoryTimeline(Partition& partition, const HierarchyMap& map, DeviceId host)
      : partition_(partition), map_(map), host_(host) {}

  /// Cheap to ask for every message.
  bool on() const {
    Timeline* timeline = partition_.timeline();
    return timeline != nullptr && timeline->wants(TimelineSubject::Data);
  }
  /// A message between a stacked memory of this GPU and a home.
  void stack_sends(const nmoesi::Message& message);
  void stack_receives(const nmoesi::Message& message);
  /// A message to or from a home of this host.
  void home_receives(const nmoesi::Message& message);
  void home_sends(const nmoesi::Message& message);

 private:
  /// A block of a stacked memory, or a line of the last-level cache.
  struct Key {
    nmoesi::Line first = 0;
    nmoesi::Agent requester = 0;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return (key.first << 16 | key.requester) * 0x9e3779b97f4a7c15ULL; }
  };
  struct Begun {
    const char* name = nullptr;
    Cycle start = 0;
  };

  Key key_of(const nmoesi::Message& message, nmoesi::Agent requester) const;
  void begin(const Key& key, nmoesi::Kind kind);
  void end(const Key& key, unsigned directory, Cycle when);

  Partition& partition_;
  const HierarchyMap& map_;
  DeviceId host_;
  std::unordered_map<Key, Begun, Hash> begun_;
};

}  // namespace nearfar

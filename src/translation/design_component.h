// A part of a design in one device: what the baseline asks of it, whatever it is. Which decisions it takes is said by
// the seams it is plugged into.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "stats/stat.h"
#include "translation/message.h"

namespace nearfar {

class DesignComponent {
 public:
  virtual ~DesignComponent() = default;

  /// Its place in the names of statistics: `prt` gives gpu<g>.prt.lookups, or host.prt.lookups.
  virtual const char* name() const = 0;
  virtual void describe(StatVisitor& visitor) = 0;
  /// Takes a message that the baseline has no use for; false if it is not for this part.
  virtual bool on_message(const Message&) { return false; }
  /// Nothing waits in it.
  virtual bool idle() const { return true; }
  virtual std::string describe_waiting() const { return {}; }
  /// --check, when a run has ended: throws a SimulationError where an invariant does not hold.
  virtual void check() const {}
};

/// The parts of designs in one device, in the order in which the designs were named.
class DesignComponents {
 public:
  template <class Part>
  Part& add(std::unique_ptr<Part> part) {
    Part& added = *part;
    parts_.push_back(std::move(part));
    return added;
  }
  /// The part of a type; null where there is none.
  template <class Part>
  Part* find() const {
    for (const auto& part : parts_) {
      if (auto* found = dynamic_cast<Part*>(part.get())) return found;
    }
    return nullptr;
  }
  bool take(const Message& message) {
    for (const auto& part : parts_) {
      if (part->on_message(message)) return true;
    }
    return false;
  }
  bool idle() const {
    for (const auto& part : parts_) {
      if (!part->idle()) return false;
    }
    return true;
  }
  /// What must hold when a run has ended.
  void check() const {
    for (const auto& part : parts_) part->check();
  }
  std::string describe_waiting() const {
    std::string text;
    for (const auto& part : parts_) text += part->describe_waiting();
    return text;
  }
  auto begin() const { return parts_.begin(); }
  auto end() const { return parts_.end(); }

 private:
  std::vector<std::unique_ptr<DesignComponent>> parts_;
};

}  // namespace nearfar

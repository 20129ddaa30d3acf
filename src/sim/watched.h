// What the engine asks of a device now and then, to tell a machine that is stuck from one that is slow.
#pragma once

namespace nearfar {

class Watched {
 public:
  virtual ~Watched() = default;
  /// Something goes on that waits for nothing else and ends by itself, however long it takes.
  virtual bool computes() const = 0;
  /// A request waits that waited already when this was asked last.
  virtual bool starves() = 0;
};

}  // namespace nearfar

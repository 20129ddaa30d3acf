// A person's mistake in what they gave us: one clear sentence, exit code 2, nothing half-written.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace nearfar {

class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A mistake in an override. It is said of --set, unless whoever made the override of another option says so.
class OverrideError : public InputError {
 public:
  OverrideError(std::string override_text, const std::string& option, std::string what_is_wrong)
      : InputError(option + ": " + what_is_wrong), text(std::move(override_text)), problem(std::move(what_is_wrong)) {}

  std::string text;     ///< gpu.l2.size=x
  std::string problem;  ///< the message without the option
};

}  // namespace nearfar

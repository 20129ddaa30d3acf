// The command line as a whole: from the words a person typed to an exit code.
#pragma once

#include <string>
#include <vector>

namespace nearfar {

inline constexpr int kExitOk = 0;
inline constexpr int kExitOpposite = 1;       ///< a measured claim is the opposite of the published one
inline constexpr int kExitInput = 2;          ///< what was asked for is wrong or cannot be done
inline constexpr int kExitSimulation = 3;     ///< the simulation itself could not go on
inline constexpr int kExitInterrupted = 130;  ///< ended by Ctrl-C, as shells count it

/// Runs the command in `words` (without the program's own name). Errors are said on stderr.
int run_program(std::vector<std::string> words);

}  // namespace nearfar

// Names of designs and their combinations.
#include "designs/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/error.h"
#include "config/nearest.h"
#include "config/words.h"
#include "designs/design.h"

namespace nearfar {

std::vector<DesignInfo> list_designs() {
  std::vector<DesignInfo> designs = {
      {std::string(kBaseline), "The machine as its system file describes it, without any design.", ""}};
  for (const Design& design : all_designs()) designs.push_back({design.name, design.sentence, design.paper});
  return designs;
}

std::vector<std::string> parse_designs(std::string_view text) {
  std::vector<std::string> known;
  for (const DesignInfo& design : list_designs()) known.push_back(design.name);
  std::vector<std::string> names = split_names("design", text);
  for (const std::string& name : names) {
    if (std::ranges::find(known, name) != known.end()) continue;
    throw InputError(fmt::format("There is no design `{}`.{} `nearfar list designs` shows them all.", name,
                                 did_you_mean(name, known)));
  }
  if (names.size() > 1 && std::ranges::find(names, kBaseline) != names.end()) {
    throw InputError(
        fmt::format("`{}` is the machine without designs; in `{}` it stands beside one.", kBaseline, text));
  }
  std::erase(names, kBaseline);
  return names;
}

}  // namespace nearfar

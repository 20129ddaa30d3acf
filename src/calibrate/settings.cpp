#include "calibrate/settings.h"

#include <algorithm>

#include "config/words.h"

namespace nearfar {

std::vector<std::string> merged_texts(const std::vector<std::string>& lower, const std::vector<std::string>& upper) {
  const auto key_of = [](const std::string& text) { return text.substr(0, text.find('=')); };
  std::vector<std::string> texts;
  for (const std::vector<std::string>* list : {&lower, &upper}) {
    for (const std::string& text : *list) {
      std::erase_if(texts, [&](const std::string& other) { return key_of(other) == key_of(text); });
      texts.push_back(text);
    }
  }
  return texts;
}

Settings merged(const Settings& lower, const Settings& upper) {
  Settings settings;
  settings.system = upper.system.empty() ? lower.system : upper.system;
  settings.size = upper.size ? upper.size : lower.size;
  settings.overrides = merged_texts(lower.overrides, upper.overrides);
  settings.parameters = merged_texts(lower.parameters, upper.parameters);
  return settings;
}

std::string settings_text(const Settings& settings) {
  std::vector<std::string> parts;
  if (!settings.system.empty()) parts.push_back("system=" + settings.system);
  if (settings.size) parts.push_back("size=" + std::string(size_name(*settings.size)));
  parts.insert(parts.end(), settings.overrides.begin(), settings.overrides.end());
  parts.insert(parts.end(), settings.parameters.begin(), settings.parameters.end());
  return parts.empty() ? "as it is" : join(parts, " ");
}

}  // namespace nearfar

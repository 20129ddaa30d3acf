// Finds systems/, follows `base` from file to file, and hands the whole to the configuration.
#include "machine/system_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "config/bibliography.h"
#include "config/configuration.h"
#include "config/error.h"
#include "config/folder.h"
#include "config/nearest.h"
#include "config/source.h"
#include "config/yaml.h"
#include "machine/instances.h"
#include "machine/system_check.h"

namespace nearfar {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestChain = 16;

/// Keys of a file that speak about the file, not about the machine.
const std::vector<std::string>& file_keys() {
  // `provenance` says where the values of a frozen reading come from (docs/calibration.md).
  static const std::vector<std::string> keys = {"base", "description", "paper", "abstract", "provenance"};
  return keys;
}

SearchPath systems_path() { return {"systems", "NEARFAR_SYSTEMS"}; }

/// One file of the chain from a system to its oldest base.
struct Document {
  std::string name;
  fs::path directory;  // where its bases are looked for first
  YamlNode root;

  const YamlEntry* find(std::string_view key) const {
    const auto found = std::ranges::find(root.entries, key, &YamlEntry::key);
    return found == root.entries.end() ? nullptr : &*found;
  }

  /// A file key's value, which must be some text; "" when the key is absent.
  std::string text(std::string_view key) const {
    const YamlEntry* entry = find(key);
    if (entry == nullptr) return "";
    if (entry->value.kind != YamlNode::Kind::Scalar || entry->value.text.empty()) {
      fail_at(entry->value.place, fmt::format("`{}` takes a text.", key));
    }
    return entry->value.text;
  }

  /// The paper that describes the machine.
  std::string paper() const {
    const std::string key = text("paper");
    try {
      static_cast<void>(citation(key));
    } catch (const InputError& error) {
      fail_at(find("paper")->value.place, error.what());
    }
    return key;
  }

  bool is_abstract() const {
    const std::string value = text("abstract");
    if (!value.empty() && value != "true" && value != "false") {
      fail_at(find("abstract")->value.place, "`abstract` takes true or false.");
    }
    return value == "true";
  }
};

Document make_document(std::string name, fs::path directory, const std::shared_ptr<const Source>& source) {
  return {std::move(name), std::move(directory), parse_yaml(source)};
}

Document read_path(const std::string& path) {
  const fs::path file(path);
  const fs::path directory = file.has_parent_path() ? file.parent_path() : fs::path(".");
  return make_document(file.stem().string(), directory, read_source(path, path));
}

Document read_file(const NamedFile& file) {
  return make_document(file.path.stem().string(), file.path.parent_path(), read_source(file.path.string(), file.shown));
}

/// The systems that can be run: those that are not abstract. A file that cannot be read counts, so that naming it
/// shows what is wrong with it.
std::vector<std::string> runnable_names(const SearchPath& systems) {
  std::vector<std::string> names = systems.names();
  std::erase_if(names, [&](const std::string& name) {
    try {
      return read_file(*systems.find(name)).is_abstract();
    } catch (const InputError&) {
      return false;
    }
  });
  return names;
}

Document read_named(const std::string& name) {
  if (is_yaml_path(name)) return read_path(name);
  const SearchPath systems = systems_path();
  if (const auto file = systems.find(name)) return read_file(*file);
  const std::vector<std::string> names = runnable_names(systems);
  std::error_code error;
  const bool exists = name.find('/') != std::string::npos || fs::exists(name, error);
  throw InputError(fmt::format("there is no system `{}` in {}.{} The systems are {}.{}", name, systems.text(),
                               did_you_mean(name, names), fmt::join(names, ", "),
                               exists ? " A file is named by a path that ends in .yaml." : ""));
}

Document read_base(const Document& derived, const YamlEntry& entry) {
  const std::string name = derived.text("base");
  std::error_code error;
  if (is_yaml_path(name)) {
    const fs::path path = (derived.directory / name).lexically_normal();
    if (!fs::exists(path, error))
      fail_at(entry.value.place, fmt::format("there is no file `{}` to inherit from.", name));
    return read_path(path.string());
  }
  const SearchPath systems = systems_path();
  const bool in_systems = std::ranges::any_of(
      systems.folders(), [&](const fs::path& folder) { return fs::equivalent(derived.directory, folder, error); });
  if (const auto beside = in_systems ? std::nullopt : find_in(derived.directory, name)) {
    return read_path(beside->path.lexically_normal().string());
  }
  if (const auto file = systems.find(name)) return read_file(*file);
  const std::vector<std::string> names = systems.names();
  fail_at(entry.value.place,
          fmt::format("there is no system `{}` to inherit from.{}", name, did_you_mean(name, names)));
}

void refuse_cycle(const std::vector<Document>& chain, const Document& base, const Place& place) {
  const auto same = [&](const Document& other) {
    return other.name == base.name && other.root.place.source->name == base.root.place.source->name;
  };
  const auto found = std::ranges::find_if(chain, same);
  if (found == chain.end()) return;
  std::string loop;
  for (auto document = found; document != chain.end(); ++document) loop += document->name + " → ";
  fail_at(place, fmt::format("`{}` inherits from itself: {}{}.", base.name, loop, base.name));
}

/// The oldest base first, the system last.
std::vector<Document> inheritance(Document system) {
  std::vector<Document> chain;
  chain.push_back(std::move(system));
  while (const YamlEntry* entry = chain.back().find("base")) {
    Document base = read_base(chain.back(), *entry);
    refuse_cycle(chain, base, entry->value.place);
    if (chain.size() == kLongestChain) {
      fail_at(entry->value.place, fmt::format("more than {} files inherit from one another.", kLongestChain));
    }
    chain.push_back(std::move(base));
  }
  std::ranges::reverse(chain);
  return chain;
}

std::vector<EffectiveParameter> effective(const Configuration& configuration) {
  std::vector<EffectiveParameter> result;
  const std::vector<Parameter>& parameters = configuration.schema().parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[i];
    const Field& field = *parameter.field;
    result.push_back({parameter.path, field.text(), configuration.typed(i), parameter.default_text, field.unit(),
                      field.range(), parameter.sentence, configuration.origin(i)});
    if (parameter.default_text != "auto") continue;
    EffectiveParameter& shown = result.back();
    if (shown.origin == "default") shown.typed = "auto";
    if (shown.typed == "auto") shown.default_value = shown.value;
  }
  return result;
}

LoadedSystem load(Document system, std::span<const std::string> overrides,
                  std::vector<std::shared_ptr<PlugIn>> plug_ins) {
  if (system.is_abstract()) {
    fail_at(system.find("abstract")->value.place,
            fmt::format("`{}` is only a base for other systems and cannot be run alone.", system.name));
  }
  LoadedSystem loaded;
  loaded.spec.name = system.name;
  loaded.spec.plug_ins = std::move(plug_ins);
  Configuration configuration(loaded.spec);
  const std::vector<Document> chain = inheritance(std::move(system));
  unsigned level = 0;
  for (const Document& document : chain) {
    document.text("description");
    document.paper();
    document.is_abstract();
    configuration.add_file(document.root, ++level, file_keys());
  }
  ++level;
  for (const std::string& override_text : overrides) configuration.add_override(override_text, level);
  configuration.resolve();
  count_instances(loaded.spec, configuration);
  loaded.spec.link.fill_in(credit_loop(loaded.spec));
  for (const auto& plug_in : loaded.spec.plug_ins) plug_in->fill_in(loaded.spec);
  check_system(loaded.spec, configuration);
  check_instances(loaded.spec, configuration);
  for (const auto& plug_in : loaded.spec.plug_ins) plug_in->check(loaded.spec, configuration);
  loaded.parameters = effective(configuration);
  return loaded;
}

}  // namespace

LoadedSystem load_system(const std::string& name, std::span<const std::string> overrides,
                         std::vector<std::shared_ptr<PlugIn>> plug_ins) {
  return load(read_named(name), overrides, std::move(plug_ins));
}

LoadedSystem load_system_text(const std::string& text, const std::string& shown_as,
                              std::span<const std::string> overrides) {
  return load(make_document(shown_as, systems_path().first(), make_source(text, shown_as)), overrides, {});
}

std::vector<SystemSummary> list_systems() {
  std::vector<SystemSummary> systems;
  const SearchPath folders = systems_path();
  for (const std::string& name : runnable_names(folders)) {
    const NamedFile file = *folders.find(name);
    const std::string path = file.path.string();
    try {
      const Document document = read_file(file);
      systems.push_back({name, path, document.text("description"), document.paper()});
    } catch (const InputError& error) {
      const std::string_view message = error.what();
      systems.push_back({name, path, fmt::format("Cannot be read: {}", message.substr(0, message.find('\n'))), ""});
    }
  }
  return systems;
}

}  // namespace nearfar

// Reading claims. Keys are few and all checked: a claim that is misspelt must not pass as one that is not measured.
#include "report/claims_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "config/bibliography.h"
#include "config/error.h"
#include "config/folder.h"
#include "config/nearest.h"
#include "config/words.h"
#include "config/yaml.h"

namespace nearfar {
namespace {

constexpr YamlSubject kSubject = {"file of claims", "files of claims", "title: IDYLL", "name `groups` instead"};

const std::vector<std::string> kFileKeys = {"title", "paper", "figures_of", "groups", "claims"};
const std::vector<std::string> kAlwaysKeys = {"sentence", "figure", "published", "unit", "quality"};
const std::vector<std::string> kMeasuredKeys = {"study", "plot", "series", "over", "take"};
const std::vector<std::string> kOtherKeys = {"band", "because", "role", "bound"};

const std::map<std::string, Quality> kQualities = {{"speedup", Quality::Speedup},     {"ratio", Quality::Ratio},
                                                   {"reduction", Quality::Reduction}, {"gain", Quality::Gain},
                                                   {"change", Quality::Change},       {"share", Quality::Share},
                                                   {"count", Quality::Count}};
const std::map<std::string, Take> kTakes = {
    {"mean", Take::Mean},       {"geometric mean", Take::GeometricMean},        {"lowest", Take::Lowest},
    {"highest", Take::Highest}, {"lowest and highest", Take::LowestAndHighest}, {"ratio of means", Take::RatioOfMeans},
    {"each", Take::Each}};

const std::map<std::string, Role> kRoles = {
    {"fact", Role::Fact}, {"derived", Role::Derived}, {"result", Role::Result}, {"indicative", Role::Indicative}};

const std::string& text_of(const YamlEntry& entry) {
  if (entry.value.kind != YamlNode::Kind::Scalar || entry.value.text.empty()) {
    fail_at(entry.value.place, fmt::format("`{}` takes a text.", entry.key));
  }
  return entry.value.text;
}

const std::vector<YamlEntry>& entries_of(const YamlEntry& entry) {
  if (entry.value.kind != YamlNode::Kind::Mapping) {
    fail_at(entry.value.place, fmt::format("`{}` takes a mapping of names.", entry.key));
  }
  return entry.value.entries;
}

template <class Value>
Value choice_of(const YamlEntry& entry, const std::map<std::string, Value>& choices) {
  const std::string& text = text_of(entry);
  if (const auto found = choices.find(text); found != choices.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  fail_at(entry.value.place, fmt::format("`{}` is one of {}; `{}` is not.{}", entry.key, fmt::join(names, ", "), text,
                                         did_you_mean(text, names)));
}

void check_key(const YamlEntry& entry, const std::vector<std::string>& keys, std::string_view whose) {
  if (std::ranges::find(keys, entry.key) != keys.end()) return;
  fail_at(entry.key_place, fmt::format("{} has no key `{}`.{}", whose, entry.key, did_you_mean(entry.key, keys)));
}

/// Words with `separator` between, none empty.
std::vector<std::string> words_of(const YamlEntry& entry, char separator) {
  std::vector<std::string> words;
  for (std::string word : split(text_of(entry), separator)) {
    word.erase(0, word.find_first_not_of(' '));
    word.erase(word.find_last_not_of(' ') + 1);
    if (!word.empty()) words.push_back(std::move(word));
  }
  if (words.empty()) fail_at(entry.value.place, fmt::format("`{}` takes at least one word.", entry.key));
  return words;
}

/// "20 %" as 0.2.
double band_of(const YamlEntry& entry) {
  const std::string& text = text_of(entry);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  if (error != std::errc{} || (rest != " %" && rest != "%") || !(value >= 0) || value > 100) {
    fail_at(entry.value.place, fmt::format("`band` takes per cent from 0 % to 100 %; `{}` is not.", text));
  }
  return value / 100;
}

using Groups = std::map<std::string, std::vector<std::string>>;

class ClaimReader {
 public:
  ClaimReader(const YamlEntry& entry, std::string paper, const Groups& groups) : entry_(entry), groups_(groups) {
    claim_.id = entry.key;
    claim_.paper = std::move(paper);
  }

  Claim read() {
    std::vector<std::string> known = kAlwaysKeys;
    known.insert(known.end(), kMeasuredKeys.begin(), kMeasuredKeys.end());
    known.insert(known.end(), kOtherKeys.begin(), kOtherKeys.end());
    for (const YamlEntry& entry : entries_of(entry_)) {
      check_key(entry, known, "a claim");
      take(entry);
    }
    need(kAlwaysKeys, "");
    if (!claim_.study.empty() || has(kMeasuredKeys)) need(kMeasuredKeys, ", since it says where it is measured");
    return std::move(claim_);
  }

 private:
  bool has(const std::vector<std::string>& keys) const {
    return std::ranges::any_of(keys, [&](const std::string& key) { return entry_.value.find(key) != nullptr; });
  }

  void need(const std::vector<std::string>& keys, std::string_view why) const {
    for (const std::string& key : keys) {
      if (entry_.value.find(key) == nullptr) {
        fail_at(entry_.key_place, fmt::format("the claim `{}` lacks `{}`{}.", claim_.id, key, why));
      }
    }
  }

  void take(const YamlEntry& entry) {
    const std::string& key = entry.key;
    if (key == "sentence") claim_.sentence = text_of(entry);
    if (key == "figure") claim_.figure = text_of(entry);
    if (key == "unit") claim_.unit = text_of(entry);
    if (key == "quality") claim_.quality = choice_of(entry, kQualities);
    if (key == "band") claim_.band = band_of(entry);
    if (key == "study") claim_.study = text_of(entry);
    if (key == "plot") claim_.plot = text_of(entry);
    if (key == "series") claim_.series = words_of(entry, ',');
    if (key == "take") claim_.take = choice_of(entry, kTakes);
    if (key == "because") claim_.because = words_of(entry, ' ');
    if (key == "role") claim_.role = choice_of(entry, kRoles);
    if (key == "bound") claim_.bound = text_of(entry);
    if (key == "over") take_categories(entry);
    if (key == "published") take_published(entry);
  }

  /// Names of groups stand for what is in them.
  void take_categories(const YamlEntry& entry) {
    const auto words = words_of(entry, ' ');
    if (words.size() == 1 && groups_.contains(words.front())) claim_.group = words.front();
    for (const std::string& word : words) {
      const auto group = groups_.find(word);
      if (group == groups_.end()) {
        claim_.over.push_back(word);
      } else {
        claim_.over.insert(claim_.over.end(), group->second.begin(), group->second.end());
      }
    }
  }

  void take_published(const YamlEntry& entry) {
    const auto published = parse_published(text_of(entry));
    if (!published) {
      fail_at(
          entry.value.place,
          fmt::format("`published` takes a number, several, a range `1.1..2.4`, a bound such as `>70` or `<1.0`, or "
                      "`about 1.0`; `{}` is none.",
                      entry.value.text));
    }
    claim_.published = *published;
  }

  const YamlEntry& entry_;
  const Groups& groups_;
  Claim claim_;
};

Groups read_groups(const YamlNode& root) {
  Groups groups;
  const auto found = std::ranges::find(root.entries, "groups", &YamlEntry::key);
  if (found == root.entries.end()) return groups;
  for (const YamlEntry& entry : entries_of(*found)) groups[entry.key] = words_of(entry, ' ');
  return groups;
}

const YamlEntry& required(const YamlNode& root, const std::string& key) {
  const auto found = std::ranges::find(root.entries, key, &YamlEntry::key);
  if (found == root.entries.end()) fail_at(root.place, fmt::format("a file of claims needs `{}`.", key));
  return *found;
}

/// Claims that other claims name: what is behind them, and what bounds them.
void check_named_claims(const Paper& paper, const YamlEntry& claims) {
  std::vector<std::string> ids;
  for (const Claim& claim : paper.claims) ids.push_back(claim.id);
  for (const Claim& claim : paper.claims) {
    if (claim.bound.empty() || (claim.bound != claim.id && std::ranges::find(ids, claim.bound) != ids.end())) continue;
    fail_at(claims.value.find(claim.id)->find("bound")->place,
            fmt::format("there is no other claim `{}` in this file.{}", claim.bound, did_you_mean(claim.bound, ids)));
  }
  for (const Claim& claim : paper.claims) {
    for (const std::string& id : claim.because) {
      if (id != claim.id && std::ranges::find(ids, id) != ids.end()) continue;
      const YamlNode* place = claims.value.find(claim.id)->find("because");
      if (id == claim.id) fail_at(place->place, fmt::format("`{}` names itself; a reason is another claim.", id));
      fail_at(place->place, fmt::format("there is no claim `{}` in this file.{}", id, did_you_mean(id, ids)));
    }
  }
}

std::string publication_of(const YamlEntry& entry) {
  std::string key = text_of(entry);
  try {
    static_cast<void>(citation(key));
  } catch (const InputError& error) {
    fail_at(entry.value.place, error.what());
  }
  return key;
}

Paper read_paper(const std::shared_ptr<const Source>& source, const std::string& id) {
  const YamlNode root = parse_yaml(source, kSubject);
  for (const YamlEntry& entry : root.entries) check_key(entry, kFileKeys, "a file of claims");
  Paper paper;
  paper.id = id;
  paper.title = text_of(required(root, "title"));
  for (const YamlEntry& entry : root.entries) {
    if (entry.key == "paper") paper.paper = publication_of(entry);
    if (entry.key == "figures_of") paper.figures_of = publication_of(entry);
  }
  const Groups groups = read_groups(root);
  const YamlEntry& claims = required(root, "claims");
  for (const YamlEntry& entry : entries_of(claims)) paper.claims.push_back(ClaimReader(entry, id, groups).read());
  check_named_claims(paper, claims);
  return paper;
}

SearchPath claims_path() { return {"claims", "NEARFAR_CLAIMS"}; }

}  // namespace

Paper read_paper_text(const std::string& text, const std::string& shown_as, const std::string& id) {
  return read_paper(make_source(text, shown_as), id);
}

std::vector<std::string> paper_names() { return claims_path().names(); }

std::vector<Paper> read_papers() { return read_papers(paper_names()); }

std::vector<Paper> read_papers(const std::vector<std::string>& names) {
  const SearchPath claims = claims_path();
  const std::vector<std::string> known = claims.names();
  std::vector<Paper> papers;
  for (const std::string& name : names.empty() ? known : names) {
    const auto file = claims.find(name);
    if (!file) {
      throw InputError(fmt::format("There are no claims of a paper `{}`.{} The papers are {}.", name,
                                   did_you_mean(name, known), fmt::join(known, ", ")));
    }
    papers.push_back(read_paper(read_source(file->path.string(), file->shown), name));
  }
  return papers;
}

}  // namespace nearfar

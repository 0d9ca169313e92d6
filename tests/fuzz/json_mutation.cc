// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

// How libFuzzer alters the inputs of readers of JSON. Altered bytes mostly break the syntax, and what stands behind the
// syntax is seldom reached. So every second input is altered as values: one is left out, doubled, renamed, made another
// or taken from another place.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using Json = nlohmann::json;
using Random = std::minstd_rand;

// A value and where it stands. Neither owns.
struct Place {
  Json* value;
  Json* parent;  // null for the whole document
};

std::size_t Below(Random& random, std::size_t count) {
  return std::uniform_int_distribution<std::size_t>(0, count - 1)(random);
}

void Gather(Json& value, Json* parent, std::vector<Place>& places) {
  places.push_back({&value, parent});
  for (Json& child : value) {
    if (value.is_structured()) Gather(child, &value, places);
  }
}

Json Extreme(Random& random) {
  static const std::array<Json, 21> kExtremes = {
      Json(nullptr),       Json(true),          Json(false),         Json(0),         Json(1),          Json(-1),
      Json(2147483647),    Json(2147483648),    Json(INT64_MAX),     Json(INT64_MIN), Json(UINT64_MAX), Json(0.5),
      Json(-0.0),          Json(1e308),         Json(-1e308),        Json(1e-300),    Json(1e18),       Json(""),
      Json("a\x1b[31m\n"), Json(Json::array()), Json(Json::object())};
  return kExtremes[Below(random, kExtremes.size())];
}

Json::iterator IteratorTo(const Place& place) {
  Json::iterator found = place.parent->begin();
  while (&*found != place.value) ++found;
  return found;
}

void Alter(Json& value, Random& random) {
  if (value.is_string()) {
    std::string text = value.get<std::string>();
    const std::size_t size = text.size();
    text.resize(size + 8);
    text.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(text.data()), size, text.size()));
    value = text;
  } else if (value.is_number_integer()) {
    value = static_cast<std::int64_t>(value.get<std::uint64_t>() + (Below(random, 2) == 0 ? 1 : UINT64_MAX));
  } else if (value.is_number_float()) {
    value = value.get<double>() * (Below(random, 2) == 0 ? 2.0 : -1.0);
  } else {
    value = Extreme(random);
  }
}

// Gives a member a name that stands somewhere in the document, so that names of our formats come together anew.
void Rename(const Place& place, const std::vector<Place>& places, Random& random) {
  const Place& other = places[Below(random, places.size())];
  if (other.parent == nullptr || !other.parent->is_object() || !place.parent->is_object()) return;
  const std::string name = IteratorTo(other).key();
  Json value = std::move(*place.value);
  place.parent->erase(IteratorTo(place));
  (*place.parent)[name] = std::move(value);
}

void Mutate(Json& document, Random& random) {
  std::vector<Place> places;
  Gather(document, nullptr, places);
  const Place place = places[Below(random, places.size())];
  const std::size_t way = Below(random, 6);
  if (place.parent == nullptr || way == 0) {
    *place.value = Extreme(random);
  } else if (way == 1) {
    place.parent->erase(IteratorTo(place));
  } else if (way == 2) {
    const Json copy = *places[Below(random, places.size())].value;
    *place.value = copy;
  } else if (way == 3 && place.parent->is_array()) {
    const Json copy = *place.value;
    place.parent->insert(IteratorTo(place), copy);
  } else if (way == 4) {
    Rename(place, places, random);
  } else {
    Alter(*place.value, random);
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned int seed) {
  Random random(seed);
  if (Below(random, 2) == 0) {
    Json document = Json::parse(data, data + size, nullptr, /*allow_exceptions=*/false);
    if (!document.is_discarded()) {
      Mutate(document, random);
      const std::string text = document.dump(-1, ' ', false, Json::error_handler_t::replace);
      if (text.size() <= max_size) {
        std::memcpy(data, text.data(), text.size());
        return text.size();
      }
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

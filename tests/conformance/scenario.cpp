// SPDX-License-Identifier: BSL-1.0

#include "scenario.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace conformance {

namespace {

scenario load(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in.good() && !in.eof()) throw std::runtime_error(file.string() + ": cannot be read");
    try {
        scenario s;
        s.data = json::parse(bytes).as_object();
        s.name = s.data.at("name").as_string();
        const json::value* category = s.data.if_contains("category");
        if (category != nullptr) s.category = category->as_string();
        return s;
    } catch (const std::exception& e) {
        throw std::runtime_error(file.string() + ": not a scenario: " + e.what());
    }
}

} // namespace

std::vector<scenario> load_folder(const std::filesystem::path& folder) {
    if (!std::filesystem::is_directory(folder)) {
        throw std::runtime_error(folder.string() +
                                 ": no such folder; name one that holds scenario files (NAME.json)");
    }
    std::vector<scenario> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".json") all.push_back(load(entry.path()));
    }
    if (all.empty()) throw std::runtime_error(folder.string() + ": holds no scenario (NAME.json)");
    std::sort(all.begin(), all.end(), [](const scenario& a, const scenario& b) { return a.name < b.name; });
    return all;
}

} // namespace conformance

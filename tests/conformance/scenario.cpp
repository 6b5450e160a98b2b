// SPDX-License-Identifier: BSL-1.0

#include "scenario.hpp"

#include <boost/json/parse.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace conformance {

namespace {

bool has_child_step(const json::value& steps) {
    return std::any_of(steps.as_array().begin(), steps.as_array().end(), [](const json::value& step) {
        return step.is_array() ? has_child_step(step) : step.as_object().contains("child");
    });
}

std::string what_is_missing(const json::object& data) {
    const json::object& settings = data.at("settings").as_object();
    if (settings.contains("compaction")) return "compaction";
    for (const auto& tool : data.at("tools").as_object()) {
        if (has_child_step(tool.value())) return "child sessions";
    }
    for (const json::value& each : data.at("runs").as_array()) {
        const json::object& run = each.as_object();
        const json::value* op = run.if_contains("op");
        if (op != nullptr && op->as_string() != "run") return std::string(op->as_string());
        for (const char* feature : {"steer", "notices", "skip_reconnect_wait_at_ms", "steer_after"}) {
            if (run.contains(feature)) return feature;
        }
    }
    return {};
}

scenario load(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (!in.good() && !in.eof()) throw std::runtime_error(file.string() + ": cannot be read");
    try {
        scenario s;
        s.data = json::parse(bytes).as_object();
        s.name = s.data.at("name").as_string();
        s.category = s.data.at("category").as_string();
        s.unsupported = what_is_missing(s.data);
        return s;
    } catch (const std::exception& e) {
        throw std::runtime_error(file.string() + ": not a scenario: " + e.what());
    }
}

} // namespace

std::vector<scenario> load_folder(const std::filesystem::path& folder) {
    if (!std::filesystem::is_directory(folder)) {
        throw std::runtime_error(folder.string() + ": no such folder; name one that holds scenario files (NAME.json)");
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

// SPDX-License-Identifier: BSL-1.0

#pragma once

// A conformance scenario as data: what the model, the tools and the approver do, what the caller does, what
// must show.

#include <boost/json/value.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace conformance {

namespace json = boost::json;

struct scenario {
    std::string name;
    std::string category; ///< empty if the file has none
    json::object data;

    [[nodiscard]] const json::object& expect() const { return data.at("expect").as_object(); }
    [[nodiscard]] const json::object& settings() const { return data.at("settings").as_object(); }
};

/// All scenarios of a folder, by name. Throws std::runtime_error with a sentence that names the file.
[[nodiscard]] std::vector<scenario> load_folder(const std::filesystem::path& folder);

} // namespace conformance

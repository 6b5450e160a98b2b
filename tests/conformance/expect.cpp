// SPDX-License-Identifier: BSL-1.0

#include "expect.hpp"

namespace conformance {

std::optional<std::string> difference(const json::object& expect, const json::object& seen) {
    // The kind of operation is the runner's own doing.
    json::object wanted = expect;
    for (json::value& run : wanted.at("runs").as_array())
        run.as_object().erase("op");
    return difference(wanted, seen, "expect");
}

namespace {

/// The lists of an expectation that are mutated, each with its name.
std::vector<named_list> lists_of(json::object& expect) {
    std::vector<named_list> lists;
    for (json::value& run : expect.at("runs").as_array()) {
        for (const char* name : {"stream", "history", "carry_over"}) {
            json::value* list = run.as_object().if_contains(name);
            if (list != nullptr) lists.emplace_back(name, &list->as_array());
        }
    }
    if (json::value* children = expect.if_contains("children")) {
        for (auto& child : children->as_object()) {
            for (json::value& file : child.value().at("trace").as_array()) {
                lists.emplace_back("child's trace", &file.as_array());
            }
        }
    }
    for (json::value& file : expect.at("trace").as_array())
        lists.emplace_back("trace", &file.as_array());
    for (json::value& input : expect.at("llm_inputs").as_array()) {
        lists.emplace_back("llm input", &input.as_object().at("new_messages").as_array());
    }
    lists.emplace_back("approval calls", &expect.at("approval_calls").as_array());
    return lists;
}

} // namespace

std::vector<mutant> mutants(const json::object& expect) {
    return mutants_of(expect, lists_of);
}

} // namespace conformance

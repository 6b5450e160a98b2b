// SPDX-License-Identifier: BSL-1.0

#include "expect.hpp"

#include <string>

namespace conformance {

namespace {

/// The matchers of the file in the words that comparing knows.
void translate(json::value& v) {
    if (v.is_array()) {
        for (json::value& each : v.as_array())
            translate(each);
    }
    if (!v.is_object()) return;
    json::object& members = v.as_object();
    for (auto& each : members)
        translate(each.value());
    if (const json::value* prefix = members.if_contains("text_prefix")) {
        const std::string pattern = std::string(prefix->as_string()) + "{{ANY}}";
        members.erase("text_prefix");
        members["text"] = pattern;
    }
    if (members.erase("text_any") > 0) members["text"] = "{{ANY}}";
    if (members.erase("synthetic") > 0) members["body_ran"] = false;
}

json::object translated(const json::object& expect) {
    json::value v = expect;
    translate(v);
    return v.as_object();
}

/// Whether a tool's body ran is told by every result; it counts where it is asked for.
void drop_unasked(const json::value& expected, json::value& seen) {
    if (expected.is_array() && seen.is_array()) {
        const json::array& wanted = expected.as_array();
        json::array& got = seen.as_array();
        for (std::size_t n = 0; n < got.size(); ++n)
            drop_unasked(n < wanted.size() ? wanted[n] : json::value(), got[n]);
    }
    if (!seen.is_object()) return;
    const json::object* wanted = expected.if_object();
    if (wanted == nullptr || !wanted->contains("body_ran")) seen.as_object().erase("body_ran");
    if (wanted == nullptr) return;
    for (auto& each : seen.as_object()) {
        const json::value* other = wanted->if_contains(each.key());
        if (other != nullptr) drop_unasked(*other, each.value());
    }
}

/// The lists of an expectation that are mutated, each with its name.
std::vector<named_list> lists_of(json::object& expect) {
    std::vector<named_list> lists;
    for (const char* name : {"events", "states", "llm_inputs", "action_results", "result", "listener_b"}) {
        if (json::value* list = expect.if_contains(name)) lists.emplace_back(name, &list->as_array());
    }
    for (json::value& input : expect.at("llm_inputs").as_array())
        lists.emplace_back("llm input", &input.as_array());
    if (json::value* state = expect.if_contains("final_state")) {
        lists.emplace_back("final messages", &state->at("messages").as_array());
    }
    return lists;
}

/// A value that the same member never has.
void turn(json::value& v) {
    if (v.is_null() || v.is_array()) {
        v = "something else";
    } else {
        alter(v);
    }
}

} // namespace

std::optional<std::string> difference(const json::object& expect, const json::object& seen) {
    const json::object wanted = translated(expect);
    json::value got = seen;
    drop_unasked(wanted, got);
    return difference(wanted, got.as_object(), "expect");
}

std::vector<mutant> mutants(const json::object& expect) {
    const json::object wanted = translated(expect);
    std::vector<mutant> all = mutants_of(wanted, lists_of);
    if (wanted.contains("listener_action")) {
        all.push_back({"another listener action", wanted});
        turn(all.back().expect.at("listener_action"));
    }
    const json::value* state = wanted.if_contains("final_state");
    if (state == nullptr) return all;
    for (const auto& member : state->as_object()) {
        all.push_back({"another final " + std::string(member.key()), wanted});
        turn(all.back().expect.at("final_state").at(member.key()));
    }
    return all;
}

} // namespace conformance

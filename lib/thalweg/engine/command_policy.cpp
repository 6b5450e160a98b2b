// SPDX-License-Identifier: BSL-1.0

#include <thalweg/engine/command_policy.hpp>

#include <thalweg/protocol/json.hpp>

#include <boost/regex.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace thalweg {

struct command_policy::compiled {
    struct rule {
        std::string name;
        boost::regex pattern;
    };
    std::vector<rule> rules;
};

result<command_policy> command_policy::make(std::vector<command_rule> rules) {
    auto made = std::make_shared<compiled>();
    for (command_rule& each : rules) {
        if (!each.enabled) continue;
        boost::regex pattern;
        try {
            pattern.assign(each.pattern, boost::regex::perl);
        } catch (const boost::regex_error& e) {
            return failure(std::make_error_code(std::errc::invalid_argument),
                           "command rule '" + each.name + "': invalid pattern at position " +
                               std::to_string(e.position()) + ": " + e.what());
        }
        made->rules.push_back({std::move(each.name), std::move(pattern)});
    }
    command_policy policy;
    if (!made->rules.empty()) policy.rules_ = std::move(made);
    return policy;
}

namespace {

std::optional<std::string> shell_text(const tool_call& call) {
    const bool starts = call.name() == "exec_command";
    if (!starts && !(call.name() == "input_command")) return std::nullopt;
    const auto arguments = json::parse(call.arguments());
    if (!arguments) return std::nullopt;
    const auto member = arguments.value().find(starts ? "cmd" : "chars");
    if (!member) return std::nullopt;
    auto text = member->as_string();
    if (!starts && text && *text == "\x03") return std::nullopt;
    return text;
}

bool matches(const std::string& text, const boost::regex& pattern) {
    try {
        return boost::regex_search(text, pattern);
    } catch (const std::runtime_error&) { // gave up: too complex for this text
        return true;
    }
}

} // namespace

std::string_view command_policy::forbids(const tool_call& call) const {
    if (!rules_) return {};
    const auto text = shell_text(call);
    if (!text) return {};
    for (const compiled::rule& each : rules_->rules) {
        if (matches(*text, each.pattern)) return each.name;
    }
    return {};
}

} // namespace thalweg

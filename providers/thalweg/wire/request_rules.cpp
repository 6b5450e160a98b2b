// SPDX-License-Identifier: BSL-1.0

#include <thalweg/wire/request_rules.hpp>

#include <thalweg/protocol/json.hpp>
#include <thalweg/wire/history.hpp>

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace thalweg::wire {

namespace {

bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool is_letter_or_digit(char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
}

/// "a, b and c"
std::string listed(const std::vector<std::string>& words, std::string_view last_joint) {
    std::string made;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i > 0) made.append(i + 1 == words.size() ? last_joint : ", ");
        made += words[i];
    }
    return made;
}

std::string quoted(std::string_view name) {
    std::string made;
    json::append_string(made, name);
    return made;
}

// The rules of names
// ---------------------------------------------------------------------------------------------------------

std::string rule_of_names(const request_rules& rules) {
    std::vector<std::string> parts = {"letters", "digits"};
    for (const char each : rules.beside_letters)
        parts.push_back({'\'', each, '\''});
    std::string made = "1 to " + std::to_string(rules.longest_name) + " " + listed(parts, " and ");
    if (rules.name_begins_with_word) made += ", the first one a letter or '_'";
    return made;
}

bool is_taken_as_name(std::string_view name, const request_rules& rules) {
    if (rules.longest_name == 0) return true;
    const auto is_good = [&rules](char c) {
        return is_letter_or_digit(c) || rules.beside_letters.find(c) != std::string_view::npos;
    };
    return name.size() <= rules.longest_name && std::all_of(name.begin(), name.end(), is_good) &&
           (!rules.name_begins_with_word || is_letter(name.front()) || name.front() == '_');
}

std::string name_refusal(std::string_view name, const request_rules& rules) {
    if (name.empty() && rules.longest_name == 0) return "a tool has no name";
    if (!name.empty() && is_taken_as_name(name, rules)) return {};
    std::string made = "tool name " + quoted(name) + ": ";
    return made.append(rules.server).append(" takes ").append(rule_of_names(rules));
}

// The rules of schemas
// ---------------------------------------------------------------------------------------------------------

std::string schema_refusal(std::string_view schema, const request_rules& rules) {
    if (schema.empty()) return {};
    const auto parsed = json::parse(schema);
    if (!parsed) return "is not JSON: " + parsed.error().message();
    if (!parsed.value().is_object()) return "is no JSON object";
    const auto type = parsed.value().find("type");
    if (type && type->raw() != R"("object")")
        return "is of the type " + std::string(type->raw()) + ", but arguments are always an \"object\"";
    for (const std::string_view each : rules.no_members_on_top)
        if (parsed.value().find(each))
            return "has " + quoted(each) + " at its top, which " + std::string(rules.server) +
                   " takes inside of \"properties\" only";
    return {};
}

std::string tools_refusal(std::span<const tool_definition> tools, const request_rules& rules) {
    std::unordered_set<std::string_view> names;
    for (const tool_definition& each : tools) {
        if (std::string refusal = name_refusal(each.name, rules); !refusal.empty()) return refusal;
        if (!names.insert(each.name).second)
            return "two tools are named " + quoted(each.name) + ": a call could mean either";
        if (const std::string wrong = schema_refusal(each.parameters, rules); !wrong.empty())
            return "the schema of tool " + quoted(each.name) + " " + wrong;
    }
    return {};
}

// The rules of images
// ---------------------------------------------------------------------------------------------------------

std::size_t decoded_size(std::string_view base64) {
    while (base64.ends_with('='))
        base64.remove_suffix(1);
    return base64.size() / 4 * 3 + base64.size() % 4 * 3 / 4;
}

std::string picture_refusal(const picture& shown, const request_rules& rules) {
    const std::string server(rules.server);
    if (shown.is_url())
        return rules.takes_image_urls ? std::string()
                                      : "an image is given by its URL: " + server + " takes its bytes only";
    const auto types = rules.image_types;
    if (!types.empty() && std::find(types.begin(), types.end(), shown.mime_type) == types.end())
        return "an image is of the type " + quoted(shown.mime_type) + ": " + server + " takes " +
               listed({types.begin(), types.end()}, " and ");
    const std::size_t size = decoded_size(shown.data);
    if (rules.largest_image != 0 && size > rules.largest_image)
        return "an image has " + std::to_string(size) + " bytes: " + server + " takes at most " +
               std::to_string(rules.largest_image);
    return {};
}

std::string images_refusal(const message& of, const request_rules& rules) {
    std::string refusal;
    if (of.kind() == kind::tool_call_output) {
        for (const text& each : of.images())
            if (refusal.empty()) refusal = picture_refusal(picture_at(each), rules);
    } else if (of.role() == role::user) {
        if (const auto shown = picture_of(of)) refusal = picture_refusal(*shown, rules);
    }
    return refusal;
}

} // namespace

std::string refusal_of(const model_request& request, const request_rules& rules) {
    std::string refusal = tools_refusal(request.tools(), rules);
    for (const auto part : {request.history(), request.input()})
        for (const message& each : part)
            if (refusal.empty()) refusal = images_refusal(each, rules);
    return refusal;
}

std::shared_ptr<const endpoint> checked(std::shared_ptr<const endpoint> at, const model_request& request,
                                        const request_rules& rules) {
    if (at->refusal()) return at;
    std::string refusal = refusal_of(request, rules);
    if (refusal.empty()) return at;
    auto refusing = std::make_shared<endpoint>(*at);
    refusing->refuse(std::move(refusal));
    return refusing;
}

} // namespace thalweg::wire

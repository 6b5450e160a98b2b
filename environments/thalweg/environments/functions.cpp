// SPDX-License-Identifier: BSL-1.0

#include <thalweg/environments/functions.hpp>

#include <thalweg/environments/combine.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace thalweg {

namespace {

bool is_name(std::string_view name) {
    constexpr std::size_t longest = 64;
    return !name.empty() && name.size() <= longest && std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-';
    });
}

/// Why this list cannot be an environment, or empty.
std::string fault_of(const std::vector<tool>& tools) {
    for (auto each = tools.begin(); each != tools.end(); ++each) {
        if (!each->fault().empty()) return each->fault();
        const text& name = each->definition().name;
        if (std::any_of(tools.begin(), each, [&](const tool& t) { return t.definition().name == name; }))
            return "two tools are named \"" + name.str() +
                   "\"; a model could call only one of them, rename the other";
    }
    return {};
}

[[noreturn]] void refuse(const std::string& fault) {
    std::fprintf(stderr, "thalweg: functions: %s\n", fault.c_str());
    std::abort();
}

stream<chunk, tool_result> ended(tool_result with) {
    auto ending = std::move(with);
    co_return std::move(ending);
}

} // namespace

tool::tool(text name, text description) : definition_{std::move(name), std::move(description), {}, {}} {
    if (!is_name(definition_.name))
        fault_ = "\"" + definition_.name.str() +
                 "\" cannot be the name of a tool; use 1 to 64 of A-Z a-z 0-9 _ -";
}

void tool::take_schema(text schema) {
    definition_.parameters = std::move(schema);
    auto compiled = json_schema::compile(definition_.parameters);
    if (compiled)
        schema_ = std::move(compiled.value());
    else if (fault_.empty())
        fault_ = "the schema of the tool \"" + definition_.name.str() + "\": " + compiled.error().message();
}

tool tool::label(text for_people) && {
    definition_.label = std::move(for_people);
    return std::move(*this);
}

stream<chunk, tool_result> tool::execute(tool_call call, tool_context context) const {
    if (!fault_.empty()) return ended(tool_result::failed(fault_));
    return body_->start(body_, std::move(call), std::move(context));
}

namespace environments {

functions::functions(std::vector<tool> tools) : tools_(std::move(tools)) {
    if (const std::string fault = fault_of(tools_); !fault.empty()) refuse(fault);
}

result<functions> functions::make(std::vector<tool> tools) {
    if (std::string fault = fault_of(tools); !fault.empty())
        return failure(std::make_error_code(std::errc::invalid_argument), std::move(fault));
    return functions(std::move(tools));
}

std::vector<tool_definition> functions::tools() const {
    std::vector<tool_definition> list;
    list.reserve(tools_.size());
    for (const tool& each : tools_)
        list.push_back(each.definition());
    return list;
}

stream<chunk, tool_result> functions::execute(tool_call call, tool_context context) const {
    for (const tool& each : tools_)
        if (each.definition().name == call.name()) return each.execute(std::move(call), std::move(context));
    return no_tools().execute(std::move(call), std::move(context));
}

} // namespace environments
} // namespace thalweg

// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/chat/request.hpp>

#include <thalweg/protocol/json.hpp>
#include <thalweg/providers/detail/openai_server.hpp>
#include <thalweg/wire/request_body.hpp>

#include <string_view>
#include <utility>

namespace thalweg::providers::detail {

namespace {

using wire::request_body;

void add_tools(request_body& body, const openai_chat_options& options,
               std::span<const tool_definition> tools) {
    if (tools.empty()) return;
    if (body.member("tools")) {
        auto& out = body.out();
        char before = '[';
        for (const tool_definition& each : tools) {
            out += before;
            before = ',';
            out += R"({"type":"function","function":{"name":)";
            json::append_string(out, each.name);
            out += R"(,"description":)";
            json::append_string(out, each.description);
            out += R"(,"parameters":)";
            wire::append_schema(out, each.parameters);
            if (options.dialect.strict_tools) out += R"(,"strict":true)";
            out += "}}";
        }
        out += ']';
    }
    const std::string_view choice = options.tool_choice;
    if (choice == "auto" || choice == "none" || choice == "required") {
        body.add("tool_choice", choice);
    } else if (!choice.empty() && body.member("tool_choice")) {
        body.out() += R"({"type":"function","function":{"name":)";
        json::append_string(body.out(), choice);
        body.out() += "}}";
    }
    if (options.parallel_tool_calls)
        body.add_json("parallel_tool_calls", *options.parallel_tool_calls ? "true" : "false");
}

void add_thinking(request_body& body, thinking_switch how, std::string_view level) {
    if (level.empty()) return;
    const bool on = level != "none" && level != "off" && level != "disabled";
    const char* const yes_or_no = on ? "true" : "false";
    switch (how) {
    case thinking_switch::none: return;
    case thinking_switch::reasoning_effort: return body.add("reasoning_effort", on ? level : "none");
    case thinking_switch::reasoning_object:
        if (!body.member("reasoning")) return;
        body.out() += R"({"effort":)";
        json::append_string(body.out(), on ? level : "none");
        body.out() += '}';
        return;
    case thinking_switch::thinking_object:
        return body.add_json("thinking", on ? R"({"type":"enabled"})" : R"({"type":"disabled"})");
    case thinking_switch::enable_thinking: return body.add_json("enable_thinking", yes_or_no);
    case thinking_switch::chat_template_kwargs:
        return body.add_json("chat_template_kwargs", std::string(R"({"enable_thinking":)") + yes_or_no + "}");
    }
}

} // namespace

openai_chat_options resolved(openai_chat_options options) {
    constexpr std::size_t longest_at_openai = 64;
    options.base_url = openai_base(std::move(options.base_url));
    const bool openai = is_openai(options.base_url);
    auto& dialect = options.dialect;
    if (dialect.length == length_member::automatic)
        dialect.length = openai ? length_member::max_completion_tokens : length_member::max_tokens;
    if (dialect.longest_call_id == 0 && openai) dialect.longest_call_id = longest_at_openai;
    return options;
}

std::string chat_request_body(const openai_chat_options& options, const model_request& request) {
    request_body body(options.extra);
    body.add("model", options.model);
    if (body.member("messages")) append_chat_messages(body.out(), options, request);
    body.add_json("stream", "true");
    if (options.dialect.include_usage) body.add_json("stream_options", R"({"include_usage":true})");
    add_tools(body, options, request.tools());
    if (options.max_tokens) {
        const bool newer = options.dialect.length == length_member::max_completion_tokens;
        body.add_int(newer ? "max_completion_tokens" : "max_tokens", *options.max_tokens);
    }
    if (options.temperature) body.add_double("temperature", *options.temperature);
    add_thinking(body, options.dialect.thinking, request.thinking_level());
    if (!request.response_schema().empty() && body.member("response_format")) {
        body.out() += R"({"type":"json_schema","json_schema":{"name":"answer","schema":)";
        wire::append_schema(body.out(), request.response_schema());
        body.out() += R"(,"strict":false}})";
    }
    return body.finish();
}

} // namespace thalweg::providers::detail

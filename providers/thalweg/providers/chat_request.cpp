// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/chat_request.hpp>

#include <thalweg/protocol/json.hpp>

#include <cstdlib>

namespace thalweg::providers::detail {

namespace {

/// The members of the body; those of `extra` win over ours.
class body_writer {
public:
    explicit body_writer(std::string_view extra) {
        if (const auto parsed = extra.empty() ? json::parse("{}") : json::parse(extra))
            extra_ = parsed.value();
    }

    /// Begins a member; its value is to be appended to out(). False: `extra` has one of that name.
    bool member(std::string_view name) {
        if (extra_.find(name)) return false;
        add_name(name);
        return true;
    }
    void add(std::string_view name, std::string_view text) {
        if (member(name)) json::append_string(out_, text);
    }
    void add_json(std::string_view name, std::string_view json) {
        if (member(name)) out_ += json;
    }

    [[nodiscard]] std::string& out() noexcept { return out_; }

    std::string finish() {
        for (const json::member& each : extra_.members()) {
            add_name(each.key);
            json::append_compact(out_, each.value.raw());
        }
        return std::move(out_ += '}');
    }

private:
    void add_name(std::string_view name) {
        if (out_.size() > 1) out_ += ',';
        json::append_string(out_, name);
        out_ += ':';
    }

    json::view extra_;
    std::string out_ = "{";
};

void append_parameters(std::string& out, std::string_view schema) {
    const auto parsed = json::parse(schema);
    if (parsed && parsed.value().is_object())
        json::append_compact(out, schema);
    else
        out += R"({"type":"object","properties":{}})";
}

void add_tools(body_writer& body, const openai_chat_options& options,
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
            append_parameters(out, each.parameters);
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

void add_thinking(body_writer& body, thinking_switch how, std::string_view level) {
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

bool is_openai(std::string_view base_url) {
    return base_url.starts_with("https://api.openai.com/") || base_url == "https://api.openai.com";
}

} // namespace

openai_chat_options resolved(openai_chat_options options) {
    constexpr std::size_t longest_at_openai = 64;
    if (options.base_url.empty()) {
        const char* given = std::getenv("OPENAI_BASE_URL");
        options.base_url = given != nullptr && *given != '\0' ? given : "https://api.openai.com/v1";
    }
    const bool openai = is_openai(options.base_url);
    auto& dialect = options.dialect;
    if (dialect.length == length_member::automatic)
        dialect.length = openai ? length_member::max_completion_tokens : length_member::max_tokens;
    if (dialect.longest_call_id == 0 && openai) dialect.longest_call_id = longest_at_openai;
    return options;
}

std::string chat_request_body(const openai_chat_options& options, const model_request& request) {
    body_writer body(options.extra);
    body.add("model", options.model);
    if (body.member("messages")) append_chat_messages(body.out(), options, request);
    body.add_json("stream", "true");
    if (options.dialect.include_usage) body.add_json("stream_options", R"({"include_usage":true})");
    add_tools(body, options, request.tools());
    if (options.max_tokens) {
        const bool newer = options.dialect.length == length_member::max_completion_tokens;
        body.add_json(newer ? "max_completion_tokens" : "max_tokens", std::to_string(*options.max_tokens));
    }
    if (options.temperature && body.member("temperature"))
        json::append_double(body.out(), *options.temperature);
    add_thinking(body, options.dialect.thinking, request.thinking_level());
    if (!request.response_schema().empty() && body.member("response_format")) {
        body.out() += R"({"type":"json_schema","json_schema":{"name":"answer","schema":)";
        append_parameters(body.out(), request.response_schema());
        body.out() += R"(,"strict":false}})";
    }
    return body.finish();
}

} // namespace thalweg::providers::detail

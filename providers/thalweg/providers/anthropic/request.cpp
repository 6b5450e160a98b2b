// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/anthropic/request.hpp>

#include <thalweg/protocol/json.hpp>
#include <thalweg/wire/answer_decoder.hpp>
#include <thalweg/wire/history.hpp>
#include <thalweg/wire/request_body.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::providers::detail {

namespace {

using wire::append_text;
using wire::exchanged;
using wire::request_body;

constexpr std::size_t longest_call_id = 64;
constexpr std::int64_t least_budget = 1024;

/// Content blocks, as JSON texts: the last one can still be marked.
using blocks = std::vector<std::string>;

std::string text_block(std::string_view text) {
    std::string made = R"({"type":"text","text":)";
    append_text(made, text);
    return made + "}";
}

std::string image_block(const wire::picture& shown) {
    std::string made = R"({"type":"image","source":{"type":)";
    if (shown.is_url()) {
        made += R"("url","url":)";
    } else {
        made += R"("base64","media_type":)";
        append_text(made, shown.mime_type);
        made += R"(,"data":)";
    }
    append_text(made, shown.data);
    return made + "}}";
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && wire::is_one_of(text.substr(text.size() - 1), {" ", "\n", "\t", "\r"}))
        text.remove_suffix(1);
    return text;
}

// Signed thinking goes back as it came, in its place; unsigned thinking never (the server refuses it).
void add_thinking(blocks& to, const message& m, std::string_view model) {
    if (const auto data = wire::own_fidelity(m, model, "redacted")) {
        to.push_back(R"({"type":"redacted_thinking","data":)" + std::string(data->raw()) + "}");
        return;
    }
    const auto signature = wire::own_fidelity(m, model, "signature");
    if (!signature || !wire::is_whole(m)) return;
    std::string made = R"({"type":"thinking","thinking":)";
    append_text(made, m.content());
    to.push_back(made.append(R"(,"signature":)").append(signature->raw()).append("}"));
}

blocks answer_blocks(const exchanged& of, const wire::call_ids& ids, std::string_view model, bool is_last) {
    blocks made;
    for (const message* each : of.answer) {
        if (each->kind() == kind::thinking) {
            add_thinking(made, *each, model);
        } else if (each->kind() == kind::text) {
            const bool ends_all = is_last && each == of.answer.back();
            const std::string_view said = ends_all ? trimmed(each->content()) : each->content().view();
            if (!trimmed(said).empty()) made.push_back(text_block(said));
        } else if (each->kind() == kind::inline_data) {
            made.push_back(text_block("[" + each->mime_type().str() + " data]"));
        } else if (wire::is_whole_call(*each)) {
            std::string call = R"({"type":"tool_use","id":)";
            append_text(call, ids.of(*each));
            call += R"(,"name":)";
            append_text(call, each->name());
            made.push_back(call.append(R"(,"input":)").append(wire::arguments_of(*each)).append("}"));
        }
    }
    return made;
}

std::string result_block(std::string_view id, const message* output) {
    std::string made = R"({"type":"tool_result","tool_use_id":)";
    append_text(made, id);
    const bool is_error = output == nullptr || !wire::is_whole(*output);
    if (is_error) made += R"(,"is_error":true)";
    made += R"(,"content":[)";
    std::string_view said = output == nullptr ? wire::no_result : output->content().view();
    const bool has_images = output != nullptr && !output->images().empty();
    if (trimmed(said).empty()) said = has_images ? "" : wire::empty_result;
    if (!said.empty()) made += text_block(said);
    if (has_images) {
        for (const text& each : output->images()) {
            if (made.back() != '[') made += ',';
            made += image_block(wire::picture_at(each));
        }
    }
    return made + "]}";
}

/// All results first, then what people said: the server takes them in no other order.
blocks user_blocks(const exchanged& of, const wire::call_ids& ids) {
    blocks made;
    for (const message* each : of.answer)
        if (wire::is_whole_call(*each)) made.push_back(result_block(ids.of(*each), of.result_of(*each)));
    for (const message* each : of.user) {
        if (const auto shown = wire::picture_of(*each))
            made.push_back(image_block(*shown));
        else if (each->kind() != kind::text)
            made.push_back(
                text_block("[" + each->mime_type().str() + " data that this model cannot be shown]"));
        else if (!trimmed(each->content()).empty())
            made.push_back(text_block(each->content()));
    }
    return made;
}

std::string_view cache_mark(prompt_cache how) {
    switch (how) {
    case prompt_cache::off: return "";
    case prompt_cache::five_minutes: return R"(,"cache_control":{"type":"ephemeral"})";
    case prompt_cache::one_hour: return R"(,"cache_control":{"type":"ephemeral","ttl":"1h"})";
    }
    return "";
}

/// Puts the mark into a JSON object that is whole.
void mark(std::string& object, prompt_cache how) {
    object.insert(object.size() - 1, cache_mark(how));
}

struct turn {
    std::string_view role;
    blocks content;
};

void add_turn(std::vector<turn>& to, std::string_view role, blocks content) {
    if (content.empty()) return;
    if (to.empty() || to.back().role != role) return to.push_back({role, std::move(content)});
    auto& before = to.back().content; // the server wants the roles to alternate
    before.insert(before.end(), std::make_move_iterator(content.begin()),
                  std::make_move_iterator(content.end()));
}

void append_messages(std::string& out, const anthropic_options& options, const model_request& request) {
    const auto all = wire::exchanges_of(request);
    std::vector<turn> turns;
    for (std::size_t i = 0; i < all.size(); ++i) {
        const wire::call_ids ids(all[i].answer, {.longest = longest_call_id, .only_words = true});
        const bool is_last = i + 1 == all.size() && all[i].user.empty() && all[i].outputs.empty();
        add_turn(turns, "assistant", answer_blocks(all[i], ids, options.model, is_last));
        add_turn(turns, "user", user_blocks(all[i], ids));
    }
    const auto last_user = std::find_if(turns.rbegin(), turns.rend(),
                                        [](const turn& each) { return each.role == "user"; });
    if (last_user != turns.rend()) mark(last_user->content.back(), options.cache);
    out += '[';
    for (const turn& each : turns) {
        if (&each != turns.data()) out += ',';
        out.append(R"({"role":")").append(each.role).append(R"(","content":[)");
        for (const std::string& block : each.content)
            out.append(&block == each.content.data() ? "" : ",").append(block);
        out += "]}";
    }
    out += ']';
}

void add_tools(request_body& body, const anthropic_options& options, const model_request& request) {
    if (request.tools().empty()) return;
    if (body.member("tools")) {
        std::string& out = body.out();
        out += '[';
        for (const tool_definition& each : request.tools()) {
            if (&each != request.tools().data()) out += ',';
            out += R"({"name":)";
            append_text(out, each.name);
            out += R"(,"description":)";
            append_text(out, each.description);
            out += R"(,"input_schema":)";
            wire::append_schema(out, each.parameters);
            out += '}';
        }
        mark(out, options.cache);
        out += ']';
    }
    const std::string_view choice = options.tool_choice;
    if (choice.empty() && options.parallel_tool_calls) return;
    if (!body.member("tool_choice")) return;
    std::string& out = body.out();
    const bool is_word = choice.empty() || wire::is_one_of(choice, {"auto", "none", "required"});
    out += R"({"type":)";
    append_text(out, choice.empty() ? "auto" : choice == "required" ? "any" : is_word ? choice : "tool");
    if (!is_word) {
        out += R"(,"name":)";
        append_text(out, choice);
    }
    if (!options.parallel_tool_calls && choice != "none") out += R"(,"disable_parallel_tool_use":true)";
    out += '}';
}

/// Tokens that a level asks for; nothing for a word that is no level.
std::optional<std::int64_t> budget_of(std::string_view level, std::int64_t most) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(level.data(), level.data() + level.size(), number);
    if (failed == std::errc() && end == level.data() + level.size()) return number;
    if (level == "minimal") return least_budget;
    if (level == "low") return most / 4;
    if (level == "medium") return most / 2;
    if (wire::is_one_of(level, {"high", "xhigh", "max"})) return most / 4 * 3;
    return std::nullopt;
}

/// Whether the model is asked to think.
bool add_thinking_level(request_body& body, const anthropic_options& options, std::string_view level) {
    if (level.empty()) return false;
    if (wire::is_one_of(level, {"none", "off", "disabled"})) {
        body.add_json("thinking", R"({"type":"disabled"})");
        return false;
    }
    if (options.thinking == anthropic_thinking::adaptive) {
        body.add_json("thinking", R"({"type":"adaptive"})");
        std::string effort = R"({"effort":)";
        append_text(effort, level == "minimal" ? "low" : level);
        body.add_json("output_config", effort + "}");
        return true;
    }
    const auto budget = budget_of(level, options.max_tokens);
    // The server wants at least 1024 tokens, and room for an answer behind them.
    if (!budget || options.max_tokens <= least_budget) return false;
    const auto fitting = std::clamp(*budget, least_budget, options.max_tokens - 1);
    body.add_json("thinking", R"({"type":"enabled","budget_tokens":)" + std::to_string(fitting) + "}");
    return true;
}

} // namespace

const wire::request_rules& anthropic_rules() {
    static constexpr std::array<std::string_view, 4> image_types = {"image/png", "image/jpeg", "image/gif",
                                                                    "image/webp"};
    static constexpr std::array<std::string_view, 3> nowhere_on_top = {"oneOf", "allOf", "anyOf"};
    static constexpr wire::request_rules rules = {.server = "Anthropic",
                                                  .longest_name = 128,
                                                  .beside_letters = "_-",
                                                  .no_members_on_top = nowhere_on_top,
                                                  .image_types = image_types,
                                                  .largest_image = std::size_t{5} << 20};
    return rules;
}

std::string anthropic_request_body(const anthropic_options& options, const model_request& request) {
    request_body body(options.extra);
    body.add("model", options.model);
    body.add_int("max_tokens", options.max_tokens);
    if (!request.system().empty() && body.member("system")) {
        std::string block = text_block(request.system());
        mark(block, options.cache);
        body.out() += "[" + block + "]";
    }
    if (body.member("messages")) append_messages(body.out(), options, request);
    body.add_json("stream", "true");
    add_tools(body, options, request);
    const bool thinks = add_thinking_level(body, options, request.thinking_level());
    if (options.temperature && !thinks) body.add_double("temperature", *options.temperature);
    if (!options.stop_sequences.empty() && body.member("stop_sequences")) {
        std::string& out = body.out();
        char before = '[';
        for (const std::string& each : options.stop_sequences) {
            out += std::exchange(before, ',');
            append_text(out, each);
        }
        out += ']';
    }
    return body.finish();
}

} // namespace thalweg::providers::detail

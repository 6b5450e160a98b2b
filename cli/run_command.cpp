// SPDX-License-Identifier: BSL-1.0

#include "run_command.hpp"

#include "conversation.hpp"
#include "exit_status.hpp"
#include "model_choice.hpp"

#include <thalweg/providers/model_catalogue.hpp>
#include <thalweg/thalweg.hpp>
#include <thalweg/trace/file_sink.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace cli {

using namespace thalweg;

namespace {

/// The trace of a new session in the folder that was given.
result<std::unique_ptr<trace::file_sink>> open_trace(const run_arguments& given, session_options& options,
                                                     loop& on) {
    if (given.trace.empty()) return std::unique_ptr<trace::file_sink>();
    const trace::session_file where = trace::new_session_file(given.trace, on.wall_ms());
    auto sink = trace::file_sink::open(where);
    if (!sink) return sink;
    session_meta meta;
    meta.session_id = text(where.session_id);
    const model_choice& chosen = chosen_model(given);
    meta.provider = text(chosen.name);
    meta.model_id = chosen.default_model.empty() ? text("scripted-1") : text(given.model);
    meta.model_context_window = providers::known_models().find(meta.model_id).context_window.value_or(0);
    meta.system_prompt = text(given.system);
    std::error_code ignored;
    const text here(std::filesystem::current_path(ignored).string());
    meta.agent_state = here;
    meta.workspace = here;
    options.meta = std::move(meta);
    options.trace = sink.value().get();
    return sink;
}

task<int> perform(const run_arguments& given) {
    const context here = co_await this_coroutine();
    session_options options;
    options.system = given.system;
    options.retry.fail_fast = true; // whoever mistypes a model or a URL waits at a terminal
    auto trace = open_trace(given, options, here.loop());
    if (!trace) co_return complain(trace.error().message());
    co_return co_await converse(given, std::move(options), std::nullopt);
}

} // namespace

int run(const run_arguments& given) {
    const model_choice& chosen = chosen_model(given);
    const bool is_scripted = chosen.default_model.empty();
    if (is_scripted && (!given.model.empty() || !given.base_url.empty())) {
        std::fprintf(stderr, "error: %s means nothing to the scripted model; %s\n",
                     given.model.empty() ? "--base-url" : "--model",
                     given.provider.empty()
                         ? "set OPENAI_API_KEY or ANTHROPIC_API_KEY or give --base-url to reach a real one"
                         : "leave it out, or write --provider openai-chat");
        return usage;
    }
    run_arguments complete = given;
    if (complete.model.empty()) complete.model = chosen.default_model;
    if (!read_prompt(complete.prompt)) return usage;
    return run_main([&complete] { return perform(complete); });
}

} // namespace cli

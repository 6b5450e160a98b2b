// SPDX-License-Identifier: BSL-1.0

#include "resume_command.hpp"

#include "conversation.hpp"
#include "exit_status.hpp"
#include "model_choice.hpp"
#include "printable.hpp"
#include "renderer.hpp"
#include "trace_target.hpp"
#include "transcript.hpp"

#include <thalweg/engine/session_trace.hpp>
#include <thalweg/thalweg.hpp>

#include <cstdio>
#include <utility>

namespace cli {

using namespace thalweg;

namespace {

void report(const stored_session& stored) {
    for (const session_damage& each : stored.damages)
        std::fprintf(stderr, "%s\n", to_string(each).c_str());
    if (stored.damage_count > stored.damages.size())
        std::fprintf(stderr, "%zu lines more cannot be read\n", stored.damage_count - stored.damages.size());
}

std::string counted(std::size_t count, const char* one, const char* many) {
    return std::to_string(count) + (count == 1 ? one : many);
}

/// What the next request gets in front of a new prompt.
std::string owed_by(const resumed_state& state) {
    std::size_t outputs = 0;
    for (const message& m : state.carry_over)
        outputs += m.kind() == kind::tool_call_output ? 1 : 0;
    const std::size_t others = state.carry_over.size() - outputs;
    std::string all;
    if (state.pending_summary) all += ", the summary of what was before";
    if (outputs > 0) all += ", " + counted(outputs, " tool output", " tool outputs");
    if (others > 0) all += ", " + counted(others, " message", " messages");
    if (state.repairs > 0)
        all += " (" + counted(state.repairs, " call was", " calls were") +
               " cut off by the end of the process)";
    return all.empty() ? all : all.substr(2);
}

int show(const resume_arguments& given) {
    const auto loaded = load_session(given.traces, given.session);
    if (!loaded) return complain(loaded.error().message());
    const stored_session& stored = loaded.value();
    const std::string id = stored.where.session_id;
    transcript shown(stdout, wants_color(stdout));
    for (const std::string& file : files_of({.path = given.traces, .session = id})) {
        auto source = open_trace(file);
        if (!source) return failure;
        while (auto entry = source->next()) {
            if (entry->content) shown.show(entry->content.value());
        }
    }
    std::fflush(stdout);
    report(stored);
    const std::string owed = owed_by(stored.state);
    if (!owed.empty()) std::fprintf(stderr, "still owed to the model: %s\n", owed.c_str());
    std::fprintf(stderr, "session %s; name a prompt to go on with it\n", id.c_str());
    return std::ferror(stdout) != 0 ? failure : ok;
}

/// The arguments of a run as this session wants them, or why it cannot go on.
result<run_arguments> settle(const resume_arguments& given, const session_meta& meta) {
    run_arguments run = given.run;
    run.prompt = *given.prompt;
    run.model = given.model.empty() ? meta.model_id.str() : given.model;
    if (run.provider.empty()) run.provider = meta.provider.str();
    if (find_choice(run.provider) != nullptr) return run;
    return thalweg::failure(make_error_code(std::errc::not_supported),
                            "the session's provider \"" + one_line(meta.provider, 60) +
                                "\" is not known to this program; name another one with --provider");
}

task<int> go_on(const run_arguments& run, reopened_session& reopened) {
    session_options options;
    options.system = reopened.stored.state.meta->system_prompt.str();
    options.retry.fail_fast = true; // as in a new session
    options.trace = reopened.sink.get();
    std::optional<resumed_state> from(std::move(reopened.stored.state));
    co_return co_await converse(run, std::move(options), std::move(from));
}

} // namespace

int resume(const resume_arguments& given) {
    if (!given.prompt) return show(given);
    resume_arguments complete = given;
    if (!read_prompt(*complete.prompt)) return usage;
    auto reopened = reopen_session(given.traces, given.session);
    if (!reopened) return complain(reopened.error().message());
    report(reopened.value().stored);
    if (const std::size_t repairs = reopened.value().stored.state.repairs; repairs > 0) {
        std::fprintf(stderr, "the trace has no output for %s; the model is told so\n",
                     counted(repairs, " call", " calls").c_str());
    }
    const auto run = settle(complete, *reopened.value().stored.state.meta);
    if (!run) return complain(run.error().message());
    return run_main([&] { return go_on(run.value(), reopened.value()); });
}

} // namespace cli

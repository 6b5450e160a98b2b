// SPDX-License-Identifier: BSL-1.0

#include "conversation.hpp"

#include "ask.hpp"
#include "exit_status.hpp"
#include "model_choice.hpp"
#include "renderer.hpp"

#include <thalweg/environments/any_environment.hpp>
#include <thalweg/environments/combine.hpp>
#include <thalweg/environments/demo.hpp>
#include <thalweg/providers/model_catalogue.hpp>
#include <thalweg/thalweg.hpp>

#include <cstdio>
#include <functional>
#include <iostream>
#include <iterator>
#include <unistd.h>
#include <utility>

namespace cli {

using namespace thalweg;

namespace {

/// Where the stream goes as JSON lines.
class json_lines {
public:
    [[nodiscard]] bool open(const std::optional<std::string>& target) {
        if (!target) return true;
        file_ = *target == "-" ? stdout : std::fopen(target->c_str(), "we");
        return file_ != nullptr;
    }
    ~json_lines() {
        if (file_ != nullptr && file_ != stdout) std::fclose(file_);
    }
    [[nodiscard]] bool takes_stdout() const { return file_ == stdout; }
    void write(const message& m) {
        if (file_ == nullptr) return;
        line_.clear();
        append_json(line_, m);
        line_ += '\n';
        std::fwrite(line_.data(), 1, line_.size(), file_);
        std::fflush(file_);
    }
    [[nodiscard]] bool is_broken() const { return file_ != nullptr && std::ferror(file_) != 0; }

private:
    std::FILE* file_ = nullptr;
    std::string line_;
};

int status_of(const run_outcome& outcome) {
    switch (outcome.how()) {
    case run_outcome::end::answered: return ok;
    case run_outcome::end::interrupted: return interrupted;
    case run_outcome::end::model_failed:
        return outcome.last_status() == stop_reason::auth ? static_cast<int>(refused)
                                                          : static_cast<int>(failure);
    case run_outcome::end::max_turns:
    case run_outcome::end::stopped:
    case run_outcome::end::compaction_failed:
    case run_outcome::end::input_failed:
    case run_outcome::end::environment_failed:
    case run_outcome::end::busy:
    case run_outcome::end::nothing_detached:
    case run_outcome::end::has_reader:
    case run_outcome::end::reader_left: return failure;
    }
    return failure;
}

task<int> hold(const run_arguments& given, any_provider provider, session_options options,
               std::optional<resumed_state> from) {
    json_lines lines;
    if (!lines.open(given.json)) {
        co_return complain(*given.json + ": cannot be written; check the folder and its permissions");
    }
    any_environment tools = given.tools == "demo" ? any_environment(environments::demo())
                                                  : any_environment(none);
    session chat(std::move(provider), std::move(tools), std::move(options));
    if (from) {
        const auto restored = chat.restore(std::move(*from));
        if (!restored) co_return complain(restored.error().message());
    }

    // What is not the answer must not get into a file that is to hold it.
    std::FILE* notes = ::isatty(STDOUT_FILENO) == 1 ? stdout : stderr;
    renderer screen(stdout, notes, wants_color(notes));
    asker ask(lines.takes_stdout() ? nullptr : &screen);
    run_options how;
    const bool asks = given.approve == "ask" || (given.approve.empty() && asker::can_ask());
    if (given.approve == "all") how.approve = allow_all;
    if (asks && asker::can_ask()) how.approve = std::ref(ask);
    if (asks && !asker::can_ask()) {
        std::fputs("standard input is no terminal, so nobody can be asked: tool calls will be denied\n",
                   stderr);
    }
    if (given.max_turns) how.max_turns = given.max_turns;

    auto run = chat.run(text(given.prompt), how);
    while (message* m = co_await run.peek()) {
        lines.write(*m);
        if (!lines.takes_stdout()) screen.show(*m);
    }
    const run_outcome& outcome = run.result();
    if (!lines.takes_stdout()) screen.finish(outcome.usage());
    if (!outcome.ok()) {
        std::string why = outcome.why();
        const std::string& last = screen.last_failure();
        if (!last.empty() && why.find(last) == std::string::npos) why += ": " + last;
        std::fprintf(stderr, "error: %s\n", why.c_str());
    }
    if (lines.is_broken() || std::ferror(stdout) != 0) co_return complain("the output could not be written");
    co_return status_of(outcome);
}

} // namespace

int complain(const std::string& sentence) {
    std::fprintf(stderr, "error: %s\n", sentence.c_str());
    return failure;
}

bool read_prompt(std::string& prompt) {
    if (prompt == "-") {
        prompt.assign(std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>());
    }
    if (prompt.find_first_not_of(" \t\r\n") != std::string::npos) return true;
    std::fputs("error: the prompt is empty; say what the agent shall do\n", stderr);
    return false;
}

task<int> converse(const run_arguments& given, session_options options, std::optional<resumed_state> from) {
    const bool is_real = !chosen_model(given).default_model.empty();
    const std::int64_t limit = is_real ? providers::compaction_limit(given.model) : -1;
    if (!options.compaction && limit > 0) options.compaction.emplace().max_context_length = limit;
    any_provider provider = make_provider(given);
    const int status = co_await hold(given, std::move(provider), std::move(options), std::move(from));
    co_return status;
}

} // namespace cli

// SPDX-License-Identifier: BSL-1.0

#include "ask.hpp"

#include "printable.hpp"

#include <thalweg/async/asio_interop.hpp>

#include <asio/buffer.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include <cstdio>
#include <unistd.h>
#include <utility>

namespace cli {

namespace {

/// A question as long as it is on the screen; also an interrupt that destroys the asking coroutine takes it
/// back.
class open_question {
public:
    open_question(renderer* screen, const thalweg::text& call, std::string question,
                  const std::string& answer)
        : screen_(screen), answer_(answer) {
        if (screen_ != nullptr) {
            screen_->ask(call, std::move(question));
        } else {
            std::fprintf(stderr, "%s ", question.c_str());
            std::fflush(stderr);
        }
    }
    open_question(const open_question&) = delete;
    ~open_question() {
        if (screen_ != nullptr) screen_->stop_asking(!answer_.empty() && answer_.back() == '\n');
    }

private:
    renderer* screen_;
    const std::string& answer_;
};

} // namespace

bool asker::can_ask() {
    return ::isatty(STDIN_FILENO) == 1;
}

thalweg::task<thalweg::decision> asker::operator()(const thalweg::tool_call& call) {
    if (always_) co_return thalweg::decision::allow;
    std::string question = "run " + one_line(call.name(), 60) + " " + one_line(call.arguments(), 400) +
                           " ? [y]es, [a]lways, [N]o:";
    std::string answer;
    {
        const open_question open(screen_, call.id(), std::move(question), answer);
        answer = co_await read_line();
    }
    while (!answer.empty() && (answer.back() == '\n' || answer.back() == '\r' || answer.back() == ' '))
        answer.pop_back();
    always_ = answer == "a" || answer == "always";
    if (always_ || answer == "y" || answer == "yes") co_return thalweg::decision::allow;
    co_return thalweg::decision::deny;
}

thalweg::task<std::string> asker::read_line() {
    const thalweg::context here = co_await thalweg::this_coroutine();
    asio::posix::stream_descriptor input(here.loop().io(), ::dup(STDIN_FILENO));
    std::string line;
    while (line.find('\n') == std::string::npos && line.size() < sizeof buffer_) {
        const auto room = asio::buffer(buffer_);
        const auto got = co_await input.async_read_some(room, thalweg::use_task);
        if (got.failed) break;
        line.append(buffer_, got.value);
    }
    co_return line;
}

} // namespace cli

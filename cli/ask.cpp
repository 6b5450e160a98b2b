// SPDX-License-Identifier: BSL-1.0

#include "ask.hpp"

#include "printable.hpp"

#include <thalweg/async/asio_interop.hpp>

#include <asio/buffer.hpp>
#include <asio/posix/stream_descriptor.hpp>

#include <cstdio>
#include <unistd.h>

namespace cli {

bool asker::can_ask() {
    return ::isatty(STDIN_FILENO) == 1;
}

thalweg::task<thalweg::decision> asker::operator()(const thalweg::tool_call& call) {
    if (always_) co_return thalweg::decision::allow;
    const std::string shown = one_line(call.name(), 60) + " " + one_line(call.arguments(), 400);
    std::fprintf(stderr, "run %s ? [y]es, [a]lways, [N]o: ", shown.c_str());
    std::fflush(stderr);
    const std::string answer = co_await read_line();
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
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r' || line.back() == ' '))
        line.pop_back();
    co_return line;
}

} // namespace cli

// SPDX-License-Identifier: BSL-1.0

#include <thalweg/async/run_main.hpp>

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>

#include <csignal>
#include <cstdio>
#include <exception>

namespace thalweg::detail {

namespace {

class polite_signals {
public:
    explicit polite_signals(loop& on) : loop_(on), signals_(on.io(), SIGINT, SIGTERM) { wait(); }

private:
    void wait() {
        signals_.async_wait([this](std::error_code failed, int number) {
            if (failed) return;
            if (asked_) die_of(number);
            asked_ = true;
            // The next one ends the program even if no coroutine ever lets the loop look; one that came
            // already is seen below.
            std::signal(SIGINT, SIG_DFL);
            std::signal(SIGTERM, SIG_DFL);
            wait();
            loop_.begin_turn();
            loop_.cancel().request(number == SIGINT ? cancel_reason::user : cancel_reason::shutdown);
        });
    }
    [[noreturn]] static void die_of(int number) {
        std::signal(number, SIG_DFL);
        std::raise(number);
        std::_Exit(128 + number);
    }

    loop& loop_;
    asio::signal_set signals_;
    bool asked_ = false;
};

} // namespace

int run_main(task<int> work) {
    loop on;
    const polite_signals signals(on);
    try {
        return on.run(std::move(work));
    } catch (const std::exception& e) {
        std::fprintf(stderr, "error: %s\n", e.what());
    } catch (...) {
        std::fputs("error: an exception that is not a std::exception\n", stderr);
    }
    return 1;
}

} // namespace thalweg::detail

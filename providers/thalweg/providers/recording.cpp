// SPDX-License-Identifier: BSL-1.0

#include <thalweg/providers/recording.hpp>

#include <thalweg/async/loop.hpp>
#include <thalweg/providers/detail/exchange.hpp>
#include <thalweg/providers/detail/line_file.hpp>
#include <thalweg/providers/detail/redactor.hpp>
#include <thalweg/providers/detail/request_key.hpp>

#include <exception>

namespace thalweg::providers {

namespace detail {

class tape_state {
public:
    tape_state(std::string path, recording_options options)
        : options_(std::move(options)),
          secrets_(options_.secrets),
          file_(std::move(path), options_.append ? line_file::start::append : line_file::start::anew) {}

    [[nodiscard]] bool keeps_pace() const noexcept { return options_.keep_pace; }

    [[nodiscard]] std::string describe(const model_request& request) const {
        return describe_request(request, secrets_, options_.rewrite);
    }

    /// Errors are noted. `kept` is spoiled.
    void keep(exchange& kept) noexcept {
        try {
            auto done = redact(kept, secrets_);
            if (done) {
                std::string line;
                append_json(line, kept);
                done = file_.append(line);
            }
            if (!done) note(done.error());
        } catch (const std::exception& e) {
            note_thrown(e.what());
        }
    }

    void note(error why) {
        ++lost_;
        if (!fault_)
            fault_.emplace(why.code(),
                           "an exchange is not in the recording " + file_.path() + ": " + why.message());
    }
    void note_thrown(const char* what) noexcept {
        try {
            note(error(std::make_error_code(std::errc::operation_canceled), what));
        } catch (...) {
            ++lost_; // no memory for a sentence
        }
    }

    /// The fault, if nobody was told of it yet.
    [[nodiscard]] const error* take_news() noexcept {
        if (!fault_ || std::exchange(is_told_, true)) return nullptr;
        return &*fault_;
    }
    [[nodiscard]] const std::optional<error>& fault() const noexcept { return fault_; }
    [[nodiscard]] std::size_t lost() const noexcept { return lost_; }

private:
    recording_options options_;
    redactor secrets_;
    line_file file_;
    std::optional<error> fault_;
    std::size_t lost_ = 0;
    bool is_told_ = false;
};

namespace {

/// One exchange in the making; kept as interrupted if nothing else is said before the end.
class take {
public:
    take(tape_state& on, loop& time, const model_request& request)
        : tape_(on), loop_(time), begun_(time.now()) {
        try {
            kept_.request = on.describe(request);
        } catch (const std::exception& e) {
            is_over_ = true;
            on.note_thrown(e.what());
        }
    }
    take(const take&) = delete;
    ~take() { end(model_outcome::aborted()); }

    void see(delta& piece) {
        kept_.answer.push_back(kept_delta::of(piece));
        if (tape_.keeps_pace()) kept_.answer.back().at = since_begin();
    }
    void end(const model_outcome& outcome) noexcept {
        if (std::exchange(is_over_, true)) return;
        try {
            kept_.outcome = outcome;
            if (tape_.keeps_pace()) kept_.ended_at = since_begin();
        } catch (const std::exception& e) {
            return tape_.note_thrown(e.what());
        }
        tape_.keep(kept_);
    }

private:
    [[nodiscard]] std::chrono::milliseconds since_begin() const noexcept {
        return std::chrono::duration_cast<std::chrono::milliseconds>(loop_.now() - begun_);
    }

    tape_state& tape_;
    loop& loop_;
    loop::clock::time_point begun_;
    exchange kept_;
    bool is_over_ = false;
};

model_outcome thrown(const char* what) {
    return model_outcome::failed("the provider threw: " + std::string(what));
}

} // namespace

stream<delta, model_outcome> recorded(std::shared_ptr<tape_state> on, provider_ref inner,
                                      model_request request) {
    const context here = co_await this_coroutine();
    take kept(*on, here.loop(), request);
    std::optional<model_outcome> outcome;
    try {
        auto answer = inner.generate(std::move(request));
        while (delta* piece = co_await answer.peek()) {
            kept.see(*piece);
            co_yield std::move(*piece);
        }
        outcome.emplace(std::move(answer.result()));
    } catch (const std::exception& e) {
        kept.end(thrown(e.what()));
        throw;
    } catch (...) {
        kept.end(thrown("something that is no std::exception"));
        throw;
    }
    kept.end(*outcome);
    if (const error* news = on->take_news()) {
        notice said;
        said.code = "recording_fault";
        said.body = news->message();
        co_yield delta::whole(message::event(std::move(said)));
    }
    co_return std::move(*outcome);
}

} // namespace detail

tape::tape(std::string path, recording_options options)
    : state_(std::make_shared<detail::tape_state>(std::move(path), std::move(options))) {}

const std::optional<error>& tape::fault() const noexcept {
    return state_->fault();
}

std::size_t tape::lost() const noexcept {
    return state_->lost();
}

} // namespace thalweg::providers

// SPDX-License-Identifier: BSL-1.0

#pragma once

// The seam to tools: an environment lists its tools and executes one call as a stream of chunks and a result.
//
// No framing, limits, time-outs, truncation or stop reasons here: the engine's tool run does all of that, and
// contains what an environment throws. An environment is used from the session's loop; several calls of it
// run interleaved, so state shared between calls must stand interleaving at every co_await.

#include <thalweg/async/stream.hpp>
#include <thalweg/protocol/approver.hpp>
#include <thalweg/protocol/message.hpp>
#include <thalweg/protocol/tool_call.hpp>

#include <chrono>
#include <concepts>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg {

/// One piece of a tool's output.
class chunk {
public:
    enum class type : std::uint8_t { text, progress, forwarded };

    static chunk text(thalweg::text piece) {
        return chunk(type::text, std::move(piece));
    } ///< UTF-8, appended to the output
    /// Progress for people (D-13): a text and any JSON beside it; never part of the output.
    static chunk progress(thalweg::text content, thalweg::text details_json = {}) {
        chunk c(type::progress, std::move(content));
        c.details_ = std::move(details_json);
        return c;
    }
    /// A message of a child session, origin already set; passes through unchanged.
    static chunk forward(message m) {
        chunk c(type::forwarded, {});
        c.message_ = std::make_unique<thalweg::message>(std::move(m));
        return c;
    }

    [[nodiscard]] type kind() const noexcept { return kind_; }
    [[nodiscard]] thalweg::text& content() noexcept { return content_; }
    [[nodiscard]] const thalweg::text& details() const noexcept { return details_; }
    [[nodiscard]] thalweg::message& forwarded() noexcept { return *message_; } ///< only for forward()

private:
    chunk(type t, thalweg::text content) noexcept : content_(std::move(content)), kind_(t) {}

    thalweg::text content_;
    thalweg::text details_;
    std::unique_ptr<thalweg::message> message_;
    type kind_;
};

/// How a tool ended, in its own view; the engine decides what is reported (R-ENV-07).
class tool_result {
public:
    static tool_result completed() { return tool_result(std::nullopt, {}); }
    static tool_result completed(std::string note) {
        return tool_result(stop_reason::completed, std::move(note));
    }
    static tool_result failed(std::string note) { return tool_result(stop_reason::failed, std::move(note)); }
    static tool_result failed(const error& why) { return failed(why.message()); }
    static tool_result aborted() { return tool_result(stop_reason::aborted, {}); }
    /// Of a tool whose generator ended without co_return: a failure with a sentence.
    static tool_result without_co_return() {
        return failed(
            "[tool error] the tool's stream ended without a result: it lacks a co_return at its end");
    }

    /// The last piece of the output, UTF-8: of a tool that has all of it at its end. Views show it as the
    /// result and not as progress.
    tool_result with_output(text last_piece) && {
        output_ = std::move(last_piece);
        return std::move(*this);
    }
    tool_result with_images(std::vector<text> data_urls) && {
        images_ = std::move(data_urls);
        return std::move(*this);
    }
    /// Any JSON beside the output, for people and programs, never for the model (D-13).
    tool_result with_details(text json) && {
        details_ = std::move(json);
        return std::move(*this);
    }
    /// A hint to an agent: when every result of an answer's calls has it, the model is not asked again.
    tool_result terminating() && {
        terminates_ = true;
        return std::move(*this);
    }

    [[nodiscard]] std::optional<stop_reason> stop() const noexcept { return stop_; }
    [[nodiscard]] const std::string& note() const noexcept {
        return note_;
    } ///< one line for the end of the output
    [[nodiscard]] text& output() noexcept { return output_; }
    [[nodiscard]] std::vector<text>& images() noexcept { return images_; }
    [[nodiscard]] text& details() noexcept { return details_; }
    [[nodiscard]] bool terminates() const noexcept { return terminates_; }

private:
    tool_result(std::optional<stop_reason> stop, std::string note) : stop_(stop), note_(std::move(note)) {}

    std::optional<stop_reason> stop_;
    std::string note_;
    text output_;
    std::vector<text> images_;
    text details_;
    bool terminates_ = false;
};

/// Thrown by an environment when its own machinery is broken, as opposed to a tool that fails: the call's
/// output then says so without claiming that the tool had begun to answer (R-ENG-32). Any other exception is
/// the tool's.
class environment_failure : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// Takes over what a tool leaves running when its call has ended: the session that made the call.
class background_host {
public:
    /// Pulls `rest` to its end. Forwarded messages go to the stream of the run that goes on, or to the host
    /// program; the end is reported to the model as a notice with the text of a direct child, or with what
    /// `rest` yields as text. `id` names it for people and for the model. Dropped with the session.
    virtual void adopt(text id, stream<chunk, tool_result> rest) = 0;

protected:
    ~background_host() = default;
};

/// What a tool may know beside its call. Loop and stop token come from the coroutine itself: `co_await
/// this_coroutine()`. Copied freely; a copy may outlive the call.
class tool_context {
public:
    tool_context() = default;
    tool_context(approver asks, int depth, int max_depth, std::chrono::milliseconds grace,
                 background_host* host) noexcept
        : approve_(asks), depth_(depth), max_depth_(max_depth), grace_(grace), host_(host) {}

    /// Who decides about calls of a child session (R-ENG-81): the approver of the run that made this call. It
    /// refers to what the caller of that run gave, and lives as long.
    [[nodiscard]] const approver& approve() const noexcept { return approve_; }
    /// How deep the session that made the call lies under others; 0 = it is nobody's child.
    [[nodiscard]] int depth() const noexcept { return depth_; }
    [[nodiscard]] int max_depth() const noexcept {
        return max_depth_;
    } ///< children may not lie deeper (D-14)
    /// What this call gets after a stop request before it is destroyed where it is suspended (R-ENG-35).
    [[nodiscard]] std::chrono::milliseconds grace() const noexcept { return grace_; }
    /// Lets `rest` go on when this call has ended (R-ENG-84). False, and `rest` is dropped, where nobody
    /// takes it over: in a context that no session made, an agent's included.
    bool keep_running(text id, stream<chunk, tool_result> rest) const {
        if (host_ == nullptr) return false;
        host_->adopt(std::move(id), std::move(rest));
        return true;
    }

private:
    approver approve_;
    int depth_ = 0;
    int max_depth_ = 1;
    std::chrono::milliseconds grace_{2'000};
    background_host* host_ = nullptr; // outlives the calls of its runs
};

namespace detail {

template <class E>
concept has_tools = requires { &E::tools; } || requires(E& e) { e.tools(); };
template <class E>
concept tools_returns_list = requires(E& e) {
    { e.tools() } -> std::convertible_to<std::vector<tool_definition>>;
};
template <class E>
concept has_execute = requires { &E::execute; } ||
                      requires(E& e, tool_call c, tool_context x) { e.execute(std::move(c), x); };
template <class E>
concept execute_takes_call = requires(E& e, tool_call c, tool_context x) { e.execute(std::move(c), x); };
template <class E>
concept execute_returns_stream = requires(E& e, tool_call c, tool_context x) {
    { e.execute(std::move(c), x) } -> std::same_as<stream<chunk, tool_result>>;
};

} // namespace detail

/// Tools behind `std::vector<tool_definition> tools()` and `stream<chunk, tool_result> execute(tool_call,
/// tool_context)`.
template <class E>
concept Environment = detail::tools_returns_list<std::unwrap_reference_t<E>> &&
                      detail::execute_returns_stream<std::unwrap_reference_t<E>>;

/// The same question as Environment, but a "no" stops the build with a sentence that names what is missing.
template <class E>
consteval bool check_environment() {
    using type = std::unwrap_reference_t<E>;
    constexpr bool lists = detail::has_tools<type>;
    static_assert(lists, "thalweg: an environment needs the member `std::vector<tool_definition> tools()`; "
                         "this type has no tools");
    if constexpr (lists) {
        constexpr bool listed = detail::tools_returns_list<type>;
        static_assert(listed, "thalweg: an environment's tools() must return `std::vector<tool_definition>`");
        if constexpr (listed) {
            constexpr bool executes = detail::has_execute<type>;
            static_assert(executes, "thalweg: an environment needs the member `stream<chunk, tool_result> "
                                    "execute(tool_call, tool_context)`; this type has no execute");
            if constexpr (executes) {
                constexpr bool takes = detail::execute_takes_call<type>;
                static_assert(
                    takes,
                    "thalweg: an environment's execute must take `(tool_call, tool_context)` by value");
                if constexpr (takes) {
                    static_assert(
                        detail::execute_returns_stream<type>,
                        "thalweg: an environment's execute must return `stream<chunk, tool_result>`");
                }
            }
        }
    }
    return Environment<E>;
}

template <class E>
inline constexpr bool is_environment = check_environment<E>();

} // namespace thalweg

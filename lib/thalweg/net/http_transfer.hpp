// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. One request on one curl handle: it records what curl's callbacks bring and wakes the
// reader. Inside a callback nothing calls curl (H-56); the driver does that from the loop.

#include <thalweg/async/context.hpp>
#include <thalweg/async/loop.hpp>
#include <thalweg/net/http_outcome.hpp>

#include <curl/curl.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace thalweg::http::detail {

class driver;

class transfer {
public:
    using clock = std::chrono::steady_clock;

    /// Bytes of the body that wait for the reader before the socket is left alone. One read of curl may come
    /// on top.
    static constexpr std::size_t most_waiting = std::size_t{256} << 10;
    /// Status lines and headers of one answer together.
    static constexpr std::size_t most_head = std::size_t{256} << 10;

    explicit transfer(request what);
    transfer(const transfer&) = delete;
    transfer& operator=(const transfer&) = delete;
    ~transfer();

    // For the reader ----------------------------------------------------------------------------------

    [[nodiscard]] bool ended() const noexcept { return ended_; }
    [[nodiscard]] bool has_head() const noexcept { return head_done_; }
    [[nodiscard]] bool has_bytes() const noexcept { return !incoming_.empty(); }
    [[nodiscard]] const outcome& result() const noexcept { return outcome_; }
    [[nodiscard]] std::string_view label() const noexcept { return label_; }

    /// The reader waits until there are bytes, or already until there is a head. Either way the end wakes it.
    void wait(loop& on, thalweg::detail::ready_node& node, bool for_head) noexcept;
    void stop_waiting() noexcept { waiting_ = nullptr; }
    [[nodiscard]] std::string_view take_bytes();
    /// Ends the exchange at once, with what has arrived.
    void cancel(cancel_reason why);

    // For the driver ----------------------------------------------------------------------------------

    [[nodiscard]] CURL* handle() const noexcept { return easy_.get(); }
    void attached(driver& to, clock::time_point now) noexcept;
    void unpaused() noexcept { paused_ = false; }
    void complete(CURLcode code);
    void expire(timeout_kind which);
    /// The client goes away under this exchange.
    void orphaned();

    /// The next limit of our own that will run out, and which one it is.
    struct limit {
        clock::time_point at;
        timeout_kind which;
    };
    [[nodiscard]] std::optional<limit> next_limit() const noexcept;

private:
    struct free_easy {
        void operator()(CURL* easy) const noexcept { curl_easy_cleanup(easy); }
    };
    struct free_list {
        void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
    };

    static std::size_t on_header(char* line, std::size_t size, std::size_t count, void* self) noexcept;
    static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self) noexcept;

    void set_up();
    void set_up_method();
    void set_up_headers();
    bool take_header(std::string_view line);
    void take_header_field(std::string_view line);
    void note_activity() noexcept;
    void end(outcome_kind kind, std::string_view why);
    [[nodiscard]] std::string curl_cause(CURLcode code) const;
    void wake() noexcept;

    request request_;
    std::string label_;
    std::unique_ptr<CURL, free_easy> easy_;
    std::unique_ptr<curl_slist, free_list> header_list_;
    std::array<char, CURL_ERROR_SIZE> curl_text_{};
    driver* driver_ = nullptr;

    outcome outcome_;
    std::size_t head_bytes_ = 0;
    bool head_done_ = false;
    bool head_too_large_ = false;
    bool ended_ = false;
    bool paused_ = false;

    std::string incoming_; // filled by curl
    std::string reading_;  // with the reader

    bool heard_ = false; // any byte of the answer
    clock::time_point started_{};
    clock::time_point last_heard_{};

    loop* waiting_on_ = nullptr;
    thalweg::detail::ready_node* waiting_ = nullptr;
    bool waiting_for_head_ = false;
};

} // namespace thalweg::http::detail

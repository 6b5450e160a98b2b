// SPDX-License-Identifier: BSL-1.0

#pragma once

// What the contenders of bench-merge carry, and the check that every one of them has to pass.
//
// Both messages are 64 bytes and move-only: producer, kind, sequence number, two numbers and 16 bytes of
// text. `heap_message` keeps the text in a std::string; 16 is one byte more than libstdc++ stores inside the
// object, so each message costs an allocation, as it does in most programs. `inline_message` keeps it in the
// message, as the library does. One thread at a time; the check belongs to the consumer.

#include <thalweg/protocol/text.hpp>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::bench {

inline constexpr std::string_view sample_text = "sixteen letters!";
static_assert(sample_text.size() == 16);

enum class message_kind : std::uint32_t { data, end };

// The library's text type, filled up to the size of a std::string so that both messages have 64 bytes.
class inline_text {
public:
    inline_text() = default;
    explicit inline_text(std::string_view bytes) noexcept : text_(bytes) {}

    std::size_t size() const noexcept { return text_.size(); }

private:
    text text_;
    std::uint64_t spare_ = 0;
};

template <class Text>
class basic_message {
public:
    basic_message() = default; // Asio's channel wants it
    basic_message(std::uint32_t producer, std::uint64_t sequence)
        : producer_(producer),
          kind_(message_kind::data),
          sequence_(sequence),
          first_(sequence),
          second_(producer),
          text_(sample_text) {}

    static basic_message end(std::uint32_t producer) {
        basic_message last;
        last.producer_ = producer;
        last.kind_ = message_kind::end;
        return last;
    }

    basic_message(basic_message&&) noexcept = default;
    basic_message& operator=(basic_message&&) noexcept = default;
    basic_message(const basic_message&) = delete;
    basic_message& operator=(const basic_message&) = delete;
    ~basic_message() = default;

    std::uint32_t producer() const noexcept { return producer_; }
    message_kind kind() const noexcept { return kind_; }
    std::uint64_t sequence() const noexcept { return sequence_; }
    std::size_t text_size() const noexcept { return text_.size(); }

private:
    std::uint32_t producer_ = 0;
    message_kind kind_ = message_kind::data;
    std::uint64_t sequence_ = 0;
    std::uint64_t first_ = 0;
    std::uint64_t second_ = 0;
    Text text_;
};

using heap_message = basic_message<std::string>;
using inline_message = basic_message<inline_text>;
static_assert(sizeof(heap_message) == 64 && sizeof(inline_message) == 64);

// Counts messages and insists on the order of each producer; a contender that loses, doubles, reorders or
// empties a message ends the whole bench, because its time would mean nothing.
class order_check {
public:
    explicit order_check(std::size_t producers) : next_(producers, 0) {}

    template <class Message>
    void see(const Message& message) noexcept {
        if (next_[message.producer()]++ != message.sequence()) fail("out of order", message.producer());
        text_bytes_ += message.text_size();
    }

    void finish(std::uint64_t messages) const noexcept {
        const std::uint64_t seen = std::accumulate(next_.begin(), next_.end(), std::uint64_t(0));
        if (seen != messages) fail("wrong number of messages", seen);
        if (text_bytes_ != messages * sample_text.size()) fail("text was lost", text_bytes_);
    }

private:
    [[noreturn]] static void fail(const char* what, std::uint64_t value) noexcept {
        std::fprintf(stderr, "bench: a contender is wrong: %s (%llu)\n", what,
                     static_cast<unsigned long long>(value));
        std::abort();
    }

    std::vector<std::uint64_t> next_;
    std::uint64_t text_bytes_ = 0;
};

// Messages of producer `index` when `messages` are shared out evenly; the first ones take the rest.
inline std::uint64_t share_of(std::uint64_t messages, std::size_t producers, std::size_t index) noexcept {
    return messages / producers + (index < messages % producers ? 1 : 0);
}

} // namespace thalweg::bench

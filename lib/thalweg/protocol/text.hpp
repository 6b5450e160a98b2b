// SPDX-License-Identifier: BSL-1.0

#pragma once

// The string type of everything that travels: immutable UTF-8, 24 bytes, up to 22 bytes stored inside,
// longer text shared by reference count. Copying never copies bytes, so one delta can stand on the stream,
// in the trace buffer and in the history at once; a short delta never touches the heap.
//
// Thread rule: like std::shared_ptr<const std::string>: different objects may be used from different threads,
// one object from one thread at a time.
//
// The type does not check that its bytes are UTF-8: whoever lets bytes in does (utf8.hpp).

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

namespace thalweg {

class text {
public:
    static constexpr std::size_t inline_capacity = 22; ///< bytes that fit without an allocation

    text() noexcept = default;

    /// Copies `bytes`; allocates once when they are more than `inline_capacity`.
    text(std::string_view bytes) {
        if (bytes.size() <= inline_capacity) {
            if (!bytes.empty()) std::memcpy(raw(), bytes.data(), bytes.size());
            raw()[tag_at] = static_cast<char>(bytes.size());
        } else {
            assign_shared(bytes);
        }
    }
    text(const char* zero_terminated) : text(std::string_view(zero_terminated)) {}
    text(const std::string& bytes) : text(std::string_view(bytes)) {}

    text(const text& other) noexcept : word_{other.word_[0], other.word_[1], other.word_[2]} {
        if (is_shared()) block()->references.fetch_add(1, std::memory_order_relaxed);
    }
    text(text&& other) noexcept : word_{other.word_[0], other.word_[1], other.word_[2]} { other.forget(); }
    text& operator=(const text& other) noexcept {
        if (is_shared() && other.is_shared() && word_[0] == other.word_[0]) { // of one growing text
            word_[1] = other.word_[1];
            return *this;
        }
        text copy(other);
        swap(copy);
        return *this;
    }
    text& operator=(text&& other) noexcept {
        if (this == &other) return *this;
        if (is_shared()) release();
        for (int i = 0; i < 3; ++i)
            word_[i] = other.word_[i];
        other.forget();
        return *this;
    }
    ~text() {
        if (is_shared()) release();
    }

    void swap(text& other) noexcept {
        for (int i = 0; i < 3; ++i)
            std::swap(word_[i], other.word_[i]);
    }

    /// Valid as long as this object (inline text lives in it) and unchanged by copies made of it.
    [[nodiscard]] std::string_view view() const noexcept {
        if (is_shared()) return {block()->bytes(), static_cast<std::size_t>(word_[1])};
        return {raw(), static_cast<std::size_t>(raw()[tag_at])};
    }
    operator std::string_view() const noexcept { return view(); }

    [[nodiscard]] const char* data() const noexcept { return view().data(); }
    [[nodiscard]] std::size_t size() const noexcept { return view().size(); } ///< bytes
    [[nodiscard]] bool empty() const noexcept { return raw()[tag_at] == 0; }
    [[nodiscard]] std::string str() const { return std::string(view()); }

    friend bool operator==(const text& a, const text& b) noexcept { return a.view() == b.view(); }
    friend bool operator==(const text& a, std::string_view b) noexcept { return a.view() == b; }
    friend bool operator==(const text& a, const std::string& b) noexcept { return a.view() == b; }
    friend bool operator==(const text& a, const char* b) noexcept { return a.view() == b; }
    friend auto operator<=>(const text& a, const text& b) noexcept { return a.view() <=> b.view(); }
    friend std::ostream& operator<<(std::ostream& out, const text& t) { return out << t.view(); }

private:
    friend class growing_text;

    struct shared_block {
        std::atomic<std::uint32_t> references{1};
        [[nodiscard]] const char* bytes() const noexcept { return reinterpret_cast<const char*>(this + 1); }
        [[nodiscard]] char* bytes() noexcept { return reinterpret_cast<char*>(this + 1); }
    };

    static constexpr std::size_t tag_at = 23; // inline size, or shared_tag
    static constexpr char shared_tag = char(0x7f);

    [[nodiscard]] const char* raw() const noexcept { return reinterpret_cast<const char*>(word_); }
    [[nodiscard]] char* raw() noexcept { return reinterpret_cast<char*>(word_); }
    [[nodiscard]] bool is_shared() const noexcept { return raw()[tag_at] == shared_tag; }
    [[nodiscard]] shared_block* block() const noexcept { return reinterpret_cast<shared_block*>(word_[0]); }
    void forget() noexcept { word_[2] = 0; }

    void assign_shared(std::string_view bytes);
    void release() noexcept;

    std::uint64_t word_[3] = {0, 0, 0}; // inline: 22 bytes, spare, tag; shared: block, size, tag
};

static_assert(sizeof(text) == 24);

} // namespace thalweg

template <>
struct std::hash<thalweg::text> {
    std::size_t operator()(const thalweg::text& t) const noexcept {
        return std::hash<std::string_view>{}(t.view());
    }
};

// SPDX-License-Identifier: BSL-1.0

#pragma once

// Private to this room. Puts the tool calls of one Chat Completions answer together from their fragments, on
// the best evidence there is (H-08): servers number all calls 0, leave ids out, repeat names, or send whole
// calls.
//
// The first call is shown while it streams, as soon as id and name are known; the others wait, because their
// fragments may interleave and every call is final only at the end of the stream. No thread rule.

#include <thalweg/protocol/delta.hpp>
#include <thalweg/providers/chat/chunk.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::providers::detail {

/// Follows JSON text byte by byte to see where a first object ends. It decides which call a fragment belongs
/// to, never whether a call may run.
class object_watch {
public:
    void feed(std::string_view json) noexcept;
    [[nodiscard]] bool is_blank() const noexcept { return state_ == state::blank; }
    [[nodiscard]] bool is_whole() const noexcept { return state_ == state::whole; } ///< only blanks after it

private:
    enum class state : std::uint8_t { blank, open, whole, other };
    void step(char c) noexcept;

    state state_ = state::blank;
    std::uint32_t depth_ = 0;
    bool in_string_ = false;
    bool escaped_ = false;
};

class call_list {
public:
    /// Bounds against servers that never end; beyond them the answer is malformed.
    static constexpr std::size_t most_calls = 1024;
    static constexpr std::size_t most_bytes = std::size_t{64} << 20; ///< of waiting arguments

    /// Adds one fragment; appends to `out` what may be shown at once: `call` and `arguments` of the first
    /// call. False: `complaint` says why the answer cannot be understood.
    [[nodiscard]] bool take(const chunk_call& piece, std::vector<delta>& out, std::string& complaint);

    /// Whether the first call is open on the stream.
    [[nodiscard]] bool is_live() const noexcept { return !entries_.empty() && entries_.front().live; }

    [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }

    /// The stream is complete, so every call is final: appends the rest of the first call and its `end`.
    void finish_live(std::vector<delta>& out);
    /// Then all that waited, in order of appearance. False as for take().
    [[nodiscard]] bool finish_waiting(std::vector<delta>& out, std::string& complaint);

private:
    struct entry {
        std::optional<std::int64_t> index;
        std::string id;
        std::string name;
        std::string arguments; // not yet shown
        wire::string_joiner joiner;
        object_watch watch;
        bool live = false;
    };

    [[nodiscard]] entry* find(const chunk_call& piece, std::string_view id);
    [[nodiscard]] bool begins_new(const entry& current, std::string_view id, std::string_view name,
                                  std::string_view arguments, bool& undecided) const;
    [[nodiscard]] bool add_arguments(entry& to, const chunk_call& piece, std::vector<delta>& out);
    void show(entry& first, std::vector<delta>& out);

    std::vector<entry> entries_;
    std::size_t waiting_bytes_ = 0;
    std::string scratch_;
    std::string id_scratch_;
    std::string name_scratch_;
};

} // namespace thalweg::providers::detail

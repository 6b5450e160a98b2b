// SPDX-License-Identifier: BSL-1.0

#pragma once

// For protocols whose answers are numbered blocks, several of which may be open at once: makes deltas of
// them, where one block stands after the other (D-01). The oldest block that is not yet closed goes out while
// it streams; what belongs to younger ones waits until their turn comes, so nothing is torn apart and the
// order is that in which they were opened.
//
// What may go wrong: a piece for a block that was never opened, or more waiting text than any answer has.
// Both give a sentence; the answer is malformed then. No allocation for a short piece of the oldest block. No
// thread rule.

#include <thalweg/protocol/delta.hpp>
#include <thalweg/wire/json_string.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::wire {

class block_assembly {
public:
    static constexpr std::size_t most_blocks = 4096;                   ///< open at the same time
    static constexpr std::size_t most_waiting = std::size_t{64} << 20; ///< bytes of all that waits

    using key = std::int64_t; ///< the protocol's own number of a block

    /// Opens a block. One of that key that is still open is closed first. Text and thinking show up with
    /// their first piece; a call at once.
    void open_text(key which, std::vector<delta>& out);
    void open_thinking(key which, std::vector<delta>& out);
    void open_call(key which, std::string_view id, std::string_view name, std::vector<delta>& out);

    [[nodiscard]] bool is_open(key which) const noexcept;

    /// A piece of the block's text, or of the call's arguments, as it stands in the payload.
    void append(key which, const raw_string& piece, std::vector<delta>& out);
    /// The same for what is text already.
    void append_text(key which, std::string_view piece, std::vector<delta>& out);
    /// What belongs to the block and has to come back unchanged: a JSON object. A block that has nothing else
    /// shows up empty.
    void fidelity(key which, std::string_view json, std::vector<delta>& out);

    void close(key which, std::vector<delta>& out); ///< of one that is not open: nothing
    void close_all(std::vector<delta>& out);

    [[nodiscard]] bool empty() const noexcept { return blocks_.empty(); } ///< nothing is open
    /// Why the pieces cannot be put together; empty as long as they can.
    [[nodiscard]] const std::string& complaint() const noexcept { return complaint_; }

private:
    enum class kind : std::uint8_t { text, thinking, call };
    struct block {
        key number;
        kind what;
        bool begun = false; // has shown up
        bool closed = false;
        string_joiner joiner;
        std::string id;
        std::string name;
        std::string waiting; // not yet shown; of the oldest: nothing
        std::vector<std::string> fidelities;
    };

    block& open(key which, kind what, std::vector<delta>& out);
    [[nodiscard]] block* find(key which);
    void say(block& of, std::string_view piece, std::vector<delta>& out);
    void show(block& oldest, std::vector<delta>& out);
    void show_fidelity(block& oldest, std::string_view json, std::vector<delta>& out);
    void flush(block& of, std::vector<delta>& out);
    void retire(std::vector<delta>& out);
    void complain(std::string_view why);

    std::vector<block> blocks_; // in the order of their opening; the first one is live
    std::size_t waiting_bytes_ = 0;
    std::string scratch_;
    std::string complaint_;
};

} // namespace thalweg::wire

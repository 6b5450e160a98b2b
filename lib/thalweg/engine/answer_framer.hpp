// SPDX-License-Identifier: BSL-1.0

#pragma once

// Makes segments of a model's deltas (D-01): start → delta* → stop → complete message, ids that are unique in
// the session, arguments judged by a strict parser (D-09). One object serves one model request; it does no
// I/O and knows no coroutine, so it is tested with data.
//
//     while (framer.step(delta)) take what pending() holds, decide about finished_call()
//
// A delta that closes one block and opens the next needs two steps, because the decision about a finished
// call comes before anything that follows it (R-ENG-21).
//
// `end` completes a call at once, because it is to be decided about. Text and thinking wait for what the
// model says in the same breath, since an outcome that follows may tell that a limit cut them (R-PRO-51).
// settle() ends that wait.

#include <thalweg/engine/id_registry.hpp>
#include <thalweg/protocol/delta.hpp>
#include <thalweg/protocol/provider.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg {

class answer_framer {
public:
    explicit answer_framer(id_registry& ids) noexcept : ids_(ids) {}

    /// Consumes `d`. False: `d` closed the open block first; handle pending() and finished_call(), then step
    /// again with the same delta. The delta is moved from on true.
    [[nodiscard]] bool step(delta& d);

    /// The model has nothing more to say for now: a block that has ended is complete.
    void settle() {
        if (ended_ && open_ != block::call) close_as(stop_reason::completed);
    }

    /// What the outcome says about the whole answer; closes what is open. Two things can differ from what the
    /// provider claims: an answer whose finished calls end early is malformed (D-09).
    struct verdict {
        stop_reason status = stop_reason::completed;
        std::string why; ///< detail of a status other than completed; may be empty
    };
    [[nodiscard]] verdict finish(const model_outcome& outcome);

    /// Closes what is open, for an answer that is given up.
    void close_as(stop_reason status);

    /// Messages for the stream, in order, not yet stamped; the caller takes them out and clears.
    [[nodiscard]] std::vector<message>& pending() noexcept { return pending_; }

    /// The call that the last step or finish completed, if it is to be decided about; asked once.
    [[nodiscard]] std::optional<message> finished_call() noexcept {
        return std::exchange(finished_call_, std::nullopt);
    }

    /// The complete messages of this answer so far, in order, closed ones of any stop reason included.
    [[nodiscard]] const std::vector<message>& segments() const noexcept { return segments_; }
    /// What the provider reported about this request; zeros if nothing.
    [[nodiscard]] const token_counts& usage() const noexcept { return usage_; }

private:
    enum class block : std::uint8_t { none, text, thinking, call };

    [[nodiscard]] bool continues(const delta& d) const noexcept;
    void open(block kind, const delta& d);
    void append(text piece);
    void close(stop_reason status);
    void close_by_provider();
    void close_cut();
    void add_fidelity(std::string_view json_object);
    void pass(message whole);
    void complete(message m);

    id_registry& ids_;
    block open_ = block::none;
    bool ended_ = false;       // end() came; what it means for the open block depends on what follows
    bool ended_early_ = false; // some call of this answer was closed for that reason
    std::string early_call_;   // its name
    std::string buffer_;       // content of the open block
    text name_;
    text id_;
    text provider_id_;
    std::string fidelity_;
    token_counts usage_;
    std::vector<message> pending_;
    std::vector<message> segments_;
    std::optional<message> finished_call_;
};

} // namespace thalweg

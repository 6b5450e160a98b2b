// SPDX-License-Identifier: BSL-1.0

#pragma once

// A tool call, as approvers and environments get it.

#include <thalweg/protocol/result.hpp>
#include <thalweg/protocol/text.hpp>

#include <utility>
#include <vector>

namespace thalweg {

/// One call the model made. Owns its texts; free to outlive everything else.
class tool_call {
public:
    tool_call(text name, text arguments, text id) noexcept
        : name_(std::move(name)), arguments_(std::move(arguments)), id_(std::move(id)) {}

    [[nodiscard]] const text& name() const noexcept { return name_; }
    [[nodiscard]] const text& arguments() const noexcept { return arguments_; } ///< JSON text of an object
    [[nodiscard]] const text& id() const noexcept { return id_; }               ///< unique in the session
    [[nodiscard]] const std::vector<text>& origin() const noexcept {
        return origin_;
    } ///< empty = main session
    tool_call with_origin(std::vector<text> hops) && {
        origin_ = std::move(hops);
        return std::move(*this);
    }

    /// The arguments as a described struct; the error is a sentence with a member path. Needs describe.hpp.
    template <class T>
    [[nodiscard]] result<T> decode() const;

private:
    text name_;
    text arguments_;
    text id_;
    std::vector<text> origin_;
};

} // namespace thalweg

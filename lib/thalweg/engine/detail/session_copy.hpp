// SPDX-License-Identifier: BSL-1.0

#pragma once

// Files that a fork or an import makes: all of them stay, or none. For the sources of this room.

#include <thalweg/protocol/message.hpp>
#include <thalweg/trace/session_files.hpp>

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::detail {

/// Removes what it made, in reverse, unless keep() was called.
class session_copy {
public:
    session_copy() = default;
    session_copy(const session_copy&) = delete;
    session_copy& operator=(const session_copy&) = delete;
    ~session_copy();

    /// A file that does not exist yet, with one record a line; its folder is made. Errors: what the system
    /// says.
    [[nodiscard]] result<void> add(const trace::session_file& where, std::span<const message> records);
    /// A folder that does not exist yet, as a copy.
    [[nodiscard]] result<void> add_folder(const std::string& from, const std::string& to);
    void keep() noexcept { made_.clear(); }

private:
    [[nodiscard]] result<void> make_folder(const std::filesystem::path& folder);

    std::vector<std::string> made_;
};

/// `m` with other members in its payload, everything else byte for byte: `change` gets the name of a member
/// and its JSON text, and changes the text, or clears it to leave the member out (R-PRO-04).
[[nodiscard]] message with_changed_payload(const message& m,
                                           const std::function<void(std::string_view, std::string&)>& change);

/// `json_string` is the JSON text of a string; `what` inside of it becomes `with`.
void replace_in_string(std::string& json_string, std::string_view what, std::string_view with);

} // namespace thalweg::detail

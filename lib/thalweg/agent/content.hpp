// SPDX-License-Identifier: BSL-1.0

#pragma once

// What an agent message holds: a list of blocks. Both are values that are copied for a few reference counts,
// because every event carries a snapshot of its message (R-EVT-11): a copy shares all finished blocks and all
// text with the original, and nothing that happens to the one is seen by the other.
//
// Thread rule: different objects may be used from different threads, whatever they share.

#include <thalweg/protocol/text.hpp>

#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

namespace thalweg {

/// One block. Immutable but for assignment.
class content_block {
public:
    enum class type : std::uint8_t {
        text,
        thinking,
        tool_call,
        image,
        other, ///< a model message that no other type can show, kept in its wire form
    };

    content_block() noexcept = default; ///< an empty text

    static content_block text(thalweg::text body) { return content_block(type::text, std::move(body)); }
    static content_block thinking(thalweg::text body) {
        return content_block(type::thinking, std::move(body));
    }
    /// `arguments`: JSON text as the model wrote it; of a block that still streams, as far as it got.
    static content_block tool_call(thalweg::text id, thalweg::text name, thalweg::text arguments) {
        content_block made(type::tool_call, std::move(arguments));
        made.id_ = std::move(id);
        made.name_ = std::move(name);
        return made;
    }
    static content_block image(thalweg::text base64, thalweg::text mime_type) {
        content_block made(type::image, std::move(base64));
        made.name_ = std::move(mime_type);
        return made;
    }
    /// A web URL is kept; a data URL in base64 becomes the same as image().
    static content_block image_url(thalweg::text url);
    static content_block other(thalweg::text wire_json) {
        return content_block(type::other, std::move(wire_json));
    }

    /// What the provider wants to see again unchanged: a raw JSON object (R-PRO-71).
    content_block&& with_fidelity(thalweg::text json_object) && noexcept {
        fidelity_ = std::move(json_object);
        return std::move(*this);
    }

    [[nodiscard]] type kind() const noexcept { return type_; }
    /// The text, the thinking, the arguments, the data in base64 or the URL, the wire form; by kind.
    [[nodiscard]] const thalweg::text& content() const noexcept { return content_; }
    [[nodiscard]] const thalweg::text& id() const noexcept { return id_; } ///< of a call
    [[nodiscard]] const thalweg::text& name() const noexcept {             ///< of a call: the tool's name
        return type_ == type::tool_call ? name_ : none;
    }
    /// Of an image; empty if its content is a URL.
    [[nodiscard]] const thalweg::text& mime_type() const noexcept {
        return type_ == type::image ? name_ : none;
    }
    [[nodiscard]] const thalweg::text& fidelity() const noexcept { return fidelity_; }

    friend bool operator==(const content_block&, const content_block&) = default;

private:
    friend class content_list;
    static const thalweg::text none;

    content_block(type t, thalweg::text content) noexcept : content_(std::move(content)), type_(t) {}

    thalweg::text content_;
    thalweg::text id_;
    thalweg::text name_;
    thalweg::text fidelity_;
    type type_ = type::text;
};

namespace detail {
class answer_builder;
}

/// The blocks of one message. The last one lies in the list itself; those before it are shared with copies.
class content_list {
public:
    using value_type = content_block;

    class iterator {
    public:
        using value_type = content_block;
        using difference_type = std::ptrdiff_t;

        iterator() noexcept = default;
        [[nodiscard]] const content_block& operator*() const noexcept { return (*list_)[at_]; }
        [[nodiscard]] const content_block* operator->() const noexcept { return &(*list_)[at_]; }
        iterator& operator++() noexcept {
            ++at_;
            return *this;
        }
        iterator operator++(int) noexcept {
            iterator old = *this;
            ++at_;
            return old;
        }
        friend bool operator==(const iterator&, const iterator&) = default;

    private:
        friend class content_list;
        iterator(const content_list& list, std::size_t at) noexcept : list_(&list), at_(at) {}
        const content_list* list_ = nullptr;
        std::size_t at_ = 0;
    };

    content_list() noexcept = default;
    content_list(content_block only) noexcept : last_(std::move(only)), size_(1) {}
    content_list(std::initializer_list<content_block> blocks);

    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// `at` is less than size().
    [[nodiscard]] const content_block& operator[](std::size_t at) const noexcept {
        return at + 1 == size_ ? last_ : (*before_)[at];
    }
    [[nodiscard]] const content_block& back() const noexcept { return last_; } ///< not of an empty list
    [[nodiscard]] iterator begin() const noexcept { return iterator(*this, 0); }
    [[nodiscard]] iterator end() const noexcept { return iterator(*this, size_); }

    /// Copies the blocks in front if another list shares them.
    void push_back(content_block next);

    /// The text blocks one behind the other.
    [[nodiscard]] std::string joined_text() const;

    friend bool operator==(const content_list& a, const content_list& b) noexcept;

private:
    friend class detail::answer_builder;

    // For the one list that an answer is built in: writes behind what copies of it can see.
    void grow(content_block next);
    void replace_back(content_block next) noexcept { last_ = std::move(next); }
    [[nodiscard]] thalweg::text& back_content() noexcept { return last_.content_; }

    std::shared_ptr<std::vector<content_block>> before_; // at least size_ - 1 of them
    content_block last_;
    std::size_t size_ = 0;
};

} // namespace thalweg

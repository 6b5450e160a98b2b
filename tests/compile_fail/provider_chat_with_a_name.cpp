// SPDX-License-Identifier: BSL-1.0
// error: thalweg: openai_chat takes openai_chat_options

#include <thalweg/providers/openai_chat.hpp>

using namespace thalweg;

#ifndef FIXED
providers::openai_chat model("gpt-4o");
#else
providers::openai_chat model({.model = "gpt-4o"});
#endif

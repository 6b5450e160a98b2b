// SPDX-License-Identifier: BSL-1.0

#include <asio/impl/src.hpp>

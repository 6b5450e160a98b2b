# SPDX-License-Identifier: BSL-1.0
# What has to be installed, and why. Sourced by dev; runs on a bare Debian.

# package  group  reason
packages() {
    cat <<'TABLE'
g++                      build   the compiler
meson                    build   the build system; brings ninja and python3, which the scripts use
ninja-build              build   runs the build
pkg-config               build   lets meson find libraries
ca-certificates          build   https to a model provider
libasio-dev              build   sockets, timers, signals
libsimdjson-dev          build   reads JSON
libcurl4-openssl-dev     build   speaks HTTP
libboost1.81-dev         build   Describe and Outcome; JSON as the tree for schema validation
libvalijson-dev          build   validates tool arguments against raw schemas
libcli11-dev             build   command line of the program
catch2                   build   unit tests
clang-19                 check   second compiler, sanitizers, fuzzing
libclang-rt-19-dev       check   run-time libraries of clang's sanitizers
llvm-19                  check   names functions in sanitizer reports
valgrind                 check   counts instructions for the gate of the merge
clang-format-19          format  formatting
clang-tidy-19            check   static checks
clang-tools-19           lint    clang-query, which finds coroutine code that g++ 12 miscompiles
TABLE
}

# Prints "package reason" for what is missing of the groups.
missing_packages() {
    local package group reason
    packages | while read -r package group reason; do
        case " $* " in *" $group "*) ;; *) continue ;; esac
        is_installed "$package" || echo "$package $reason"
    done
}

is_installed() {
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

is_debian_12() {
    command -v apt-get >/dev/null && command -v dpkg-query >/dev/null &&
        (. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ])
}

# Groups that a set of groups stands for: check needs everything.
expand_groups() {
    case " $* " in
    *" check "*) echo build format lint check ;;
    *) echo "$*" ;;
    esac
}

# ./dev setup [check]
install_packages() {
    case "$*" in "" | check) ;; *) fail_usage "setup takes nothing or 'check'" ;; esac
    asked_for_setup=yes
    install_groups build "$@"
    echo "setup: everything is there"
}

install_groups() {
    local groups missing
    groups=$(expand_groups "$@")
    if ! is_debian_12; then
        print_instead "$groups"
        return
    fi
    missing=$(missing_packages $groups)
    [ -n "$missing" ] || return 0
    echo "setup: installing with apt-get:" >&2
    echo "$missing" | while read -r package reason; do printf '  %-24s %s\n' "$package" "$reason" >&2; done
    local as_root=()
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            echo "setup: run this as root, or install sudo:" >&2
            echo "  apt-get install --no-install-recommends" $(echo "$missing" | cut -d' ' -f1) >&2
            exit 1
        fi
        as_root=(sudo)
    fi
    # The lists of a fresh container are empty, those of an old machine are stale.
    "${as_root[@]}" apt-get -qq update </dev/null >&2
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends \
        $(echo "$missing" | cut -d' ' -f1) </dev/null >&2
}

# Elsewhere we install nothing, but go on when the tools are there: meson names a library that is missing.
print_instead() {
    local tool absent=""
    for tool in meson ninja pkg-config python3; do command -v "$tool" >/dev/null || absent="$absent $tool"; done
    command -v "${CXX:-c++}" >/dev/null || absent="$absent ${CXX:-c++}"
    case " $1 " in *" lint "*) command -v clang-query-19 >/dev/null || absent="$absent clang-query-19" ;; esac
    case " $1 " in *" format "*) command -v clang-format-19 >/dev/null || absent="$absent clang-format-19" ;; esac
    [ -n "$absent" ] || [ "${asked_for_setup:-}" = yes ] || return 0
    {
        echo "setup: this is not Debian 12, so nothing is installed.${absent:+ Not found:$absent.}"
        echo "setup: install what your system calls these Debian packages, then come back:"
        packages | while read -r package group reason; do
            case " $1 " in *" $group "*) printf '  %-24s %s\n' "$package" "$reason" ;; esac
        done
        echo "setup: libraries that are still missing are built from subprojects/ (see CONTRIBUTING.md)"
    } >&2
    exit 1
}

# Makes sure that the groups are installed; silent when they are.
need() {
    install_groups "$@"
}

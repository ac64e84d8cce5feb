#!/usr/bin/env bash
# Sourced by tools/demo and tools/test: makes .venv with the tested versions and installs the kit into it.
# Done once; again only when pyproject.toml or constraints.txt changes. Exits with 3 and says what is missing if it cannot.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
venv=$root/.venv

missing() {
    printf 'missing: %s\n   = help: %s\n' "$1" "$2" >&2
    exit 3
}

find_python() {
    local name
    for name in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.10; do
        if "$name" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null; then
            command -v "$name"
            return
        fi
    done
    return 1
}

find_compiler() {
    local name
    for name in ${CXX:-g++ clang++ c++}; do
        command -v "$name" && return
    done
    return 1
}

find_compiler >/dev/null || missing 'a C++17 compiler (looked for '"${CXX:-g++, clang++, c++}"')' \
    'Debian, Ubuntu: apt-get install g++; openEuler: dnf install gcc-c++; or set CXX to one'
python=$(find_python) || missing 'Python 3.10 to 3.13' 'install one, or set PYTHON to its path'

if [ ! -x "$venv/bin/python" ]; then
    "$python" -c 'import ensurepip, venv' 2>/dev/null || missing "Python's venv module ($python)" \
        'Debian, Ubuntu: apt-get install python3-venv; or set PYTHON to another Python'
    echo "set-up: creating .venv with $("$python" --version)" >&2
    "$python" -m venv "$venv"
fi

stamp=$(cat "$root/pyproject.toml" "$root/constraints.txt" | cksum)
if [ "$(cat "$venv/.ascendops-setup" 2>/dev/null)" != "$stamp" ]; then
    echo 'set-up: installing the versions in constraints.txt (the first time this downloads torch)' >&2
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check -c "$root/constraints.txt" -e "$root[gpu,dev]" >&2 ||
        missing 'the Python packages' 'pip could not install them (its message is above); a mirror is set with PIP_INDEX_URL'
    echo "$stamp" >"$venv/.ascendops-setup"
fi
PATH=$venv/bin:$PATH

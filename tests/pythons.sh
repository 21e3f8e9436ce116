#!/bin/sh
# Unit, contract and functional tests on each supported Python but that of .venv. One that is missing is a failure where
# CI=true, and elsewhere a loud skip.
set -eu
cd "$(dirname "$0")/.."

find_python() {
    for candidate in "python$1" "$(command -v pyenv >/dev/null 2>&1 && pyenv prefix "$(pyenv latest "$1" 2>/dev/null)" 2>/dev/null)/bin/python"; do
        if found=$("$candidate" -c 'import sys; print(sys.executable, "%d.%d" % sys.version_info[:2])' 2>/dev/null); then
            case $found in *" $1") echo "${found% *}"; return 0 ;; esac
        fi
    done
    return 1
}

# What .venv has runs everything in make test-all anyway.
main=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null || true)
failed='' missing=''
for version in 3.11 3.12 3.13; do
    [ "$version" != "$main" ] || continue
    if ! python=$(find_python "$version"); then
        missing="$missing $version"
        continue
    fi
    venv=build/venv-$version
    echo "== Python $version ($python)"
    if ! cmp -s locks/dev.txt "$venv/.lock"; then
        rm -rf "$venv"
        "$python" -m venv "$venv"
        "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps -r locks/dev.txt
        cp locks/dev.txt "$venv/.lock"
    fi
    "$venv/bin/python" -m pytest -q -p no:cacheprovider \
        -m 'not docker and not browser and not node and not torch and not slow' \
        tests/unit tests/contract tests/functional || failed="$failed $version"
done

if [ -n "$missing" ]; then
    echo "!! NOT TESTED, no such Python here:$missing" >&2
    [ "${CI:-}" != true ] || failed="$failed$missing"
fi
if [ -n "$failed" ]; then
    echo "!! FAILED:$failed" >&2
    exit 1
fi

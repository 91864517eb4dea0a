#!/usr/bin/env bash
# Loads a report in Chromium, light and dark: the console stays silent and the pictures of the page are not blank.
# Usage: report_in_chromium.sh index.html FOLDER
set -euo pipefail
page=$(realpath "$1")
folder=$2
mkdir -p "$folder"
for scheme in light dark; do
  profile=$(mktemp -d)
  dark=()
  [ "$scheme" = dark ] && dark=(--force-dark-mode --blink-settings=preferredColorScheme=0)
  timeout 50 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking \
    --disable-component-update --disable-sync --user-data-dir="$profile" --hide-scrollbars "${dark[@]}" \
    --enable-logging=stderr --v=0 --window-size=1400,"${HEIGHT:-3000}" --screenshot="$folder/$scheme.png" "file://$page" \
    2>"$folder/$scheme.log" >/dev/null
  rm -rf "$profile"
  if grep ':CONSOLE' "$folder/$scheme.log"; then
    echo "the console of the page is not silent ($scheme)" >&2
    exit 1
  fi
  # A page of one colour packs into a few kilobytes.
  size=$(stat -c %s "$folder/$scheme.png")
  [ "$size" -gt 100000 ] || { echo "$folder/$scheme.png is blank: $size bytes" >&2; exit 1; }
done
cmp -s "$folder/light.png" "$folder/dark.png" && { echo "light and dark look the same" >&2; exit 1; }
echo "the report is drawn, light and dark, and its console is silent"

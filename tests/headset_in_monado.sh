#!/usr/bin/env bash
# The headset against a real OpenXR runtime: Monado with its remote driver, on the software renderer of Mesa.
#
#   tests/headset_in_monado.sh             run `cargo test --test headset` against it
#   tests/headset_in_monado.sh PROGRAM …   run a program in the same place
#
# Monado comes from the packages of Debian 13. They are installed in a folder, so that nothing else on the machine changes and
# older releases work too: FINGERPAD_XR_ROOT, by default target/monado (about 700 MB, three minutes the first time). Installing
# and running need root. Programs run in namespaces of their own: they see only the loopback interface.
set -euo pipefail
cd "$(dirname "$0")/.."
root=${FINGERPAD_XR_ROOT:-$PWD/target/monado}
release=trixie

install() {
  [ -x "$root/usr/bin/monado-service" ] && return
  [ "$(id -u)" = 0 ] || { echo "installing an OpenXR runtime needs root" >&2; exit 1; }
  log=$root.log
  mkdir -p "$(dirname "$root")"
  command -v debootstrap >/dev/null || { apt-get update -qq && apt-get install -y -qq debootstrap >/dev/null; }
  site=$(apt-get indextargets --format '$(SITE)' | grep -m1 '/debian/*$' || true)
  [ -n "$site" ] || { echo "apt has no Debian archive in its list" >&2; exit 1; }
  [ -x "$root/usr/bin/apt-get" ] || debootstrap --variant=minbase "$release" "$root" "$site" >"$log" 2>&1
  cp /etc/resolv.conf "$root/etc/" 2>/dev/null || true
  cp /etc/apt/apt.conf.d/* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
  unshare --mount sh -c 'mount --bind /proc "$1/proc"; mount --rbind /dev "$1/dev"; exec chroot "$1" sh -c "
    export DEBIAN_FRONTEND=noninteractive; apt-get update -qq && apt-get install -y -qq --no-install-recommends \
      iproute2 libopenxr1-monado monado-service libopenxr-loader1 openxr-layer-apidump openxr-layer-corevalidation \
      mesa-vulkan-drivers vulkan-validationlayers xvfb libx11-6 libx11-xcb1 libxcursor1 libxi6 libxkbcommon-x11-0"' sh "$root" >>"$log" 2>&1
  [ -x "$root/usr/bin/monado-service" ] || { echo "the runtime could not be installed, see $log" >&2; exit 1; }
}

# Runs a program in the folder, with this machine's own folders and the current one visible.
inside() {
  exec unshare --mount --net sh -c '
root=$1; here=$2; shift 2
mount --bind /proc "$root/proc"; mount --rbind /dev "$root/dev"
for folder in /*/ /var/tmp/; do
  folder=${folder%/}
  case $folder in /bin|/boot|/dev|/etc|/lib*|/media|/mnt|/opt|/proc|/run|/sbin|/srv|/sys|/usr|/var|/lost+found) continue ;; esac
  mkdir -p "$root$folder"; mount --rbind "$folder" "$root$folder"
done
ip link set lo up 2>/dev/null || chroot "$root" ip link set lo up
exec chroot "$root" /usr/bin/env -C "$here" XR_RUNTIME_JSON=/usr/share/openxr/1/openxr_monado.json \
  VK_DRIVER_FILES=/usr/share/vulkan/icd.d/lvp_icd.json "$@"' sh "$root" "$PWD" "$@"
}

install
if [ $# -gt 0 ]; then
  inside "$@"
fi
host=$(rustc -vV | sed -n 's/^host: //p' | tr 'a-z-' 'A-Z_')
export "CARGO_TARGET_${host}_RUNNER=$PWD/tests/headset_in_monado.sh" FINGERPAD_XR_ROOT="$root" FINGERPAD_EXPECT_HEADSET=1
exec cargo test --test headset -- --nocapture

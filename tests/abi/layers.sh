#!/bin/sh
# layers.sh SOURCE_ROOT: #include lines point only where the design allows.
#
#   cli, samples -> public headers         io -> core
#   engine -> filters, core, backend.h     kernels/*.cu -> kernels
#   filters -> backend.h, core, kernels    core -> libc, kernels
#   backend -> backend.h, core             CUDA headers: backend/cuda alone
set -eu
cd "$1"
failed=0

# allow FOLDER REGEX: every quoted include of the folder's files matches.
allow() {
    folder=$1 regex=$2
    test -d "$folder" || return 0
    if find "$folder" -type f \( -name '*.c' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' \) -exec \
        grep -HnE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' {} + | grep -vE "\"($regex)\""; then
        echo "^ $folder may include only: $regex"
        failed=1
    fi
}

# A file of the same folder; public headers are included with <>.
own='[A-Za-z0-9_-]+\.h'
allow src/cli "$own"
allow samples "$own"
allow src/engine 'engine/.*|filters/.*|core/.*|backend/backend\.h|registry\.inc'
allow src/filters 'filters/.*|core/.*|backend/backend\.h|kernels/.*\.h'
allow src/backend 'backend/.*|core/.*|kernels/.*\.h'
allow src/io 'io/.*|core/.*|config\.h'
allow src/core 'core/.*|kernels/.*\.h'
allow kernels 'kernels/.*'
allow include "$own"

if grep -rnE '#[[:space:]]*include[[:space:]]*[<"](cuda|cufft|nvrtc|cublas|driver_types)' \
    --include='*.[ch]' src include samples | grep -v '^src/backend/cuda/'; then
    echo '^ only src/backend/cuda may include CUDA headers'
    failed=1
fi
if grep -rn 'stb_image' --include='*.[ch]' src | grep '#[[:space:]]*include' | grep -v '^src/io/stb\.c:'; then
    echo '^ only src/io/stb.c may include stb'
    failed=1
fi
if grep -rnE '"(core|engine|filters|backend|io)/' --include='*.[ch]' src/cli samples; then
    echo '^ cli and samples use the public headers alone'
    failed=1
fi
test $failed = 0 && echo "includes follow the layers"
exit $failed

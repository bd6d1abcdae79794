# Written by docs/gen/gendocs.c (ninja docs); changes here are lost.

_gpufilter()
{
    local cur=$2 prev=$3 command= words= common= i
    local names="run list help info devices compare bench tune abs box clamp convolve correlate dog emboss gamma gaussian gradient invert laplacian log normalize prewitt scale scharr sobel threshold unsharp"
    for ((i = 1; i < COMP_CWORD; i++)); do
        case " $names " in *" ${COMP_WORDS[i]} "*) command=${COMP_WORDS[i]}; break ;; esac
    done
    COMPREPLY=()
    if [ -z "$command" ] && [ "${cur#-}" = "$cur" ]; then
        COMPREPLY=($(compgen -W "$names" -- "$cur"))
        return
    fi
    case "$command:$prev" in
        *:--backend) words="auto cpu cuda" ;;
        *:--depth) words="u8 u16 f32" ;;
        *:--pixel) words="u8 u16 f32" ;;
        abs:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        box:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        clamp:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        convolve:--mode) words="same valid full" ;;
        convolve:--method) words="auto direct separable fft" ;;
        convolve:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        correlate:--mode) words="same valid full" ;;
        correlate:--method) words="auto direct separable fft" ;;
        correlate:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        dog:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        emboss:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        gamma:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        gaussian:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        gradient:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        invert:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        laplacian:--neighbours) words="4 8" ;;
        laplacian:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        log:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        normalize:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        prewitt:--direction) words="x y magnitude" ;;
        prewitt:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        scale:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        scharr:--direction) words="x y magnitude" ;;
        scharr:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        sobel:--size) words="3 5 7" ;;
        sobel:--direction) words="x y magnitude" ;;
        sobel:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        threshold:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        unsharp:--border) words="constant replicate reflect mirror wrap nearest symmetric reflect101" ;;
        *:--chain|*:--device|*:--impl|*:--threads|*:--format|*:--quality|*:--white|*:--max-pixels|*:--tolerance|*:--size|*:--batch|abs:--border-value|box:--size|box:--size-x|box:--size-y|box:--border-value|clamp:--low|clamp:--high|clamp:--white|clamp:--border-value|convolve:--kernel|convolve:--scale|convolve:--offset|convolve:--anchor|convolve:--anchor-x|convolve:--anchor-y|convolve:--border-value|correlate:--kernel|correlate:--scale|correlate:--offset|correlate:--anchor|correlate:--anchor-x|correlate:--anchor-y|correlate:--border-value|dog:--sigma1|dog:--sigma2|dog:--truncate|dog:--border-value|emboss:--angle|emboss:--strength|emboss:--border-value|gamma:--gamma|gamma:--white|gamma:--border-value|gaussian:--sigma|gaussian:--sigma-x|gaussian:--sigma-y|gaussian:--order-x|gaussian:--order-y|gaussian:--truncate|gaussian:--radius|gaussian:--border-value|gradient:--sigma|gradient:--truncate|gradient:--border-value|invert:--white|invert:--border-value|laplacian:--border-value|log:--sigma|log:--truncate|log:--border-value|normalize:--low-percent|normalize:--high-percent|normalize:--out-low|normalize:--out-high|normalize:--white|normalize:--border-value|prewitt:--border-value|scale:--factor|scale:--offset|scale:--border-value|scharr:--border-value|sobel:--border-value|threshold:--value|threshold:--low|threshold:--high|threshold:--white|threshold:--border-value|unsharp:--sigma|unsharp:--amount|unsharp:--threshold|unsharp:--truncate|unsharp:--border-value) return ;;
        help:*) words=$names ;;
    esac
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$cur"))
        return
    fi
    [ "${cur#-}" = "$cur" ] && return # a file: bash's own completion
    common="--output --backend --device --impl --threads --depth --format --quality --white --max-pixels --no-clobber --verify --tolerance --dry-run --timings --explain --json --quiet --verbose --help "
    case "$command" in
        run) words="--chain --output --backend --device --impl --threads --depth --format --quality --white --max-pixels --no-clobber --verify --tolerance --dry-run --timings --explain --json --quiet --verbose --help " ;;
        list) words="--json --quiet --verbose --help " ;;
        help) words="--json --quiet --verbose --help " ;;
        info) words="--max-pixels --json --quiet --verbose --help " ;;
        devices) words="--json --quiet --verbose --help " ;;
        compare) words="--depth --format --quality --max-pixels --no-clobber --tolerance --diff --json --quiet --verbose --help " ;;
        bench) words="--backend --device --impl --threads --size --batch --pixel --json --quiet --verbose --help " ;;
        tune) words="--output --backend --device --threads --json --quiet --verbose --help " ;;
        abs) words="$common --border --border-value" ;;
        box) words="$common --size --size-x --size-y --border --border-value" ;;
        clamp) words="$common --low --high --white --border --border-value" ;;
        convolve) words="$common --kernel --scale --offset --anchor --anchor-x --anchor-y --mode --method --border --border-value" ;;
        correlate) words="$common --kernel --scale --offset --anchor --anchor-x --anchor-y --mode --method --border --border-value" ;;
        dog) words="$common --sigma1 --sigma2 --truncate --border --border-value" ;;
        emboss) words="$common --angle --strength --border --border-value" ;;
        gamma) words="$common --gamma --white --border --border-value" ;;
        gaussian) words="$common --sigma --sigma-x --sigma-y --order-x --order-y --truncate --radius --border --border-value" ;;
        gradient) words="$common --sigma --truncate --border --border-value" ;;
        invert) words="$common --white --border --border-value" ;;
        laplacian) words="$common --neighbours --border --border-value" ;;
        log) words="$common --sigma --truncate --border --border-value" ;;
        normalize) words="$common --low-percent --high-percent --out-low --out-high --white --border --border-value" ;;
        prewitt) words="$common --direction --border --border-value" ;;
        scale) words="$common --factor --offset --border --border-value" ;;
        scharr) words="$common --direction --border --border-value" ;;
        sobel) words="$common --size --direction --border --border-value" ;;
        threshold) words="$common --value --low --high --white --border --border-value" ;;
        unsharp) words="$common --sigma --amount --threshold --truncate --border --border-value" ;;
        '') words="--version --verbose --help --json" ;;
    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o bashdefault -o default -F _gpufilter gpufilter

#!/usr/bin/env python3
"""What every CUDA kernel takes of a device, from the assembler's own report, as a Markdown table.

usage: cuda_resources.py BUILD [--all]

Reads the files *.ptxas that a build with nvcc leaves beside its objects. A row is a tuned kernel,
with --all also a generic one: its threads and bytes of shared memory, and for every compute
capability the registers of a thread and the occupancy, the part of a multiprocessor's threads that
can be resident; then the bytes of registers that spill to memory, if any do. Ends with status 1 if
a tuned kernel spills or cannot be resident, and with 2 if there is no report.
"""

import pathlib
import re
import subprocess
import sys

# Of a multiprocessor: threads, blocks, bytes of shared memory; bytes of it that the system takes
# from each block. From the table of compute capabilities in NVIDIA's programming guide.
PROCESSORS = {
    75: (1024, 16, 64 << 10, 0),
    80: (2048, 32, 164 << 10, 1024),
    86: (1536, 16, 100 << 10, 1024),
    89: (1536, 24, 100 << 10, 1024),
    90: (2048, 32, 228 << 10, 1024),
}
REGISTERS = 64 << 10  # of a multiprocessor; a warp takes them in portions
PORTION = 256
WARP = 32
GENERIC_THREADS = 256

ENTRY = re.compile(r"Compiling entry function '(\w+)' for 'sm_(\d+)'")
SPILLS = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers(?:.*?, (\d+) bytes smem)?")


def read_report(text: str):
    """Yields (kernel, capability, registers, shared, spilled) of an assembler's report."""
    kernel, spilled = None, 0
    for line in text.splitlines():
        if match := ENTRY.search(line):
            kernel, spilled = (match[1], int(match[2])), 0
        elif match := SPILLS.search(line):
            spilled = max(int(match[2]), int(match[3]))
        elif kernel and (match := USED.search(line)):
            yield *kernel, int(match[1]), int(match[2] or 0), spilled
            kernel = None


def occupancy(capability: int, threads: int, registers: int, shared: int) -> float:
    """The part of a multiprocessor's threads that can be resident."""
    most, blocks, memory, reserved = PROCESSORS[capability]
    warps = -(-threads // WARP)
    portion = -(-registers * WARP // PORTION) * PORTION
    limits = [blocks, most // (warps * WARP), REGISTERS // (portion * warps)]
    if shared:
        limits.append(memory // (shared + reserved))
    return min(limits) * warps * WARP / most


def named(mangled):
    """Readable names of kernels and their threads, by mangled name."""
    plain = subprocess.run(["c++filt", *mangled], capture_output=True, text=True,
                           check=True).stdout.splitlines()
    names = {}
    for key, text in zip(mangled, plain):
        tuned = re.search(r"tuned_kernel<(.+), (?:\(int\))?(\d+)>\(", text)
        generic = re.search(r"generic_kernel<(.+)>\(", text)
        if not tuned and not generic:
            sys.exit(f"cuda_resources: neither a tuned nor a generic kernel: {text}")
        name = re.sub(r"lockstep::(cuda::)?|\(int\)", "", (tuned or generic)[1])
        names[key] = (name, int(tuned[2])) if tuned else (f"generic {name}", GENERIC_THREADS)
    return names


def main() -> int:
    build, with_generic = pathlib.Path(sys.argv[1]), "--all" in sys.argv[2:]
    rows = {row[:2]: row for path in sorted(build.glob("**/*.ptxas"))
            for row in read_report(path.read_text(encoding="utf-8"))}
    if not rows:
        print(f"cuda_resources: no report of kernels below {build}; build lockstep_backend_cuda",
              file=sys.stderr)
        return 2
    names = named(sorted({kernel for kernel, _ in rows}))
    capabilities, wrong = sorted({capability for _, capability in rows}), []
    print("| kernel | threads | shared |" + "".join(f" sm_{c} |" for c in capabilities))
    print("|---|--:|--:|" + "--:|" * len(capabilities))
    for kernel in sorted(names, key=names.get):
        name, threads = names[kernel]
        is_tuned = not name.startswith("generic ")
        cells, most_shared = [], 0
        for capability in capabilities:
            *_, registers, shared, spilled = rows[kernel, capability]
            part = occupancy(capability, threads, registers, shared)
            cells.append(f"{registers}, {part:.0%}" + (f", {spilled} spilled" if spilled else ""))
            most_shared = max(most_shared, shared)
            if is_tuned and (spilled or not part):
                wrong.append(f"{name} on sm_{capability}: {spilled} bytes spill, {part:.0%} fits")
        if is_tuned or with_generic:
            print(f"| {name} | {threads} | {most_shared} | {' | '.join(cells)} |")
    for line in wrong:
        print(f"cuda_resources: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

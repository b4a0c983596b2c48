#!/usr/bin/env python3
"""Times networks in PyTorch on a CUDA device: what its user has without this project.

usage: torch_networks.py FILE.json

PyTorch computes in half precision with random weights, so this is neither the arithmetic nor the
output of the networks of lockstep_bench: only their layers and shapes are the same. Channels are
last, and one CUDA graph holds a whole inference. Of its runs, the medians are printed as a table
in Markdown: by the device's events, and from the call to its end by the host's clock, as
lockstep_bench counts. Needs torch and torchvision.
"""

import json
import pathlib
import statistics
import sys
import time

import torch
import torchvision

NETWORKS = {"resnet18": "resnet18", "resnet50": "resnet50", "mobilenetv2": "mobilenet_v2",
            "vgg16": "vgg16"}  # fmt: skip
BATCHES = (1, 16)
RUNS = 30


def captured(model, images):
    """A CUDA graph of one inference."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            model(images)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(images)
    return graph


def medians_us(graph):
    """The device's time of a run and the host's."""
    device, host = [], []
    for _ in range(RUNS):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        device.append(1e3 * begin.elapsed_time(end))
        start = time.perf_counter()
        graph.replay()
        torch.cuda.synchronize()
        host.append(1e6 * (time.perf_counter() - start))
    return statistics.median(device), statistics.median(host)


def rows():
    """The times of each network with each batch."""
    for name, function in NETWORKS.items():
        model = getattr(torchvision.models, function)(weights=None).eval().cuda().half()
        model = model.to(memory_format=torch.channels_last)
        for batch in BATCHES:
            images = torch.randn(batch, 3, 224, 224, device="cuda", dtype=torch.half)
            graph = captured(model, images.to(memory_format=torch.channels_last))
            device, host = medians_us(graph)
            yield {"network": name, "batch": batch, "device_us": round(device, 1),
                   "host_us": round(host, 1)}  # fmt: skip


def main():
    """Prints the table and writes the file."""
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    torch.backends.cudnn.benchmark = True
    title = f"PyTorch {torch.__version__}, half precision, channels last, CUDA graphs"
    print(f"{title}\n\n| network | batch | by events | by the host's clock |\n|---|---|---|---|")
    with torch.inference_mode():
        timed = []
        for row in rows():
            timed.append(row)
            print(f"| {row['network']} | {row['batch']} | {row['device_us']} us "
                  f"| {row['host_us']} us |", flush=True)
    result = json.dumps({"library": title, "rows": timed}, indent=1)
    pathlib.Path(sys.argv[1]).write_text(result + "\n", encoding="ascii")


if __name__ == "__main__":
    main()

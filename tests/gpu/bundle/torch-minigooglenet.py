#!/usr/bin/env python3
"""Images a second of a training step of MiniGoogLeNet in PyTorch on one GPU, a line for each way to run it."""
import argparse
import time

import torch
from torch import nn


def convolution(inputs, outputs, size, stride=1, padding=0):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, padding), nn.BatchNorm2d(outputs), nn.ReLU())


class Inception(nn.Module):
    def __init__(self, inputs, of_1x1, of_3x3):
        super().__init__()
        self.small = convolution(inputs, of_1x1, 1)
        self.large = convolution(inputs, of_3x3, 3, padding=1)

    def forward(self, x):
        return torch.cat([self.small(x), self.large(x)], 1)


class Downsample(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.convolution = convolution(inputs, outputs, 3, 2)
        self.pool = nn.MaxPool2d(3, 2)

    def forward(self, x):
        return torch.cat([self.convolution(x), self.pool(x)], 1)


def minigooglenet():
    return nn.Sequential(
        convolution(3, 96, 3, padding=1),
        Inception(96, 32, 32), Inception(64, 32, 48), Downsample(80, 80),
        Inception(160, 112, 48), Inception(160, 96, 64), Inception(160, 80, 80), Inception(160, 48, 96),
        Downsample(144, 96), Inception(240, 176, 160), Inception(336, 176, 160),
        nn.AvgPool2d(7), nn.Dropout(0.5), nn.Flatten(), nn.Linear(336, 10))


def images_per_second(batch, device, steps, channels_last=False, bf16=False, tf32=False, compiled=False):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    layout = torch.channels_last if channels_last else torch.contiguous_format
    network = minigooglenet().to(device, memory_format=layout)
    images = torch.randn(batch, 3, 32, 32, device=device).contiguous(memory_format=layout)
    labels = torch.randint(0, 10, (batch,), device=device)
    optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
    forward = torch.compile(network) if compiled else network

    def step():
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=bf16):
            loss = nn.functional.cross_entropy(forward(images), labels)
        loss.backward()
        optimizer.step()
        return loss

    def run(count):
        for _ in range(count):
            loss = step()
        return loss.item()  # waits for the device

    run(max(2, steps // 5))
    start = time.perf_counter()
    run(steps)
    return batch * steps / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    last = dict(channels_last=True)
    variants = {
        "PyTorch eager float32": {},
        "PyTorch channels_last float32": last,
        "PyTorch channels_last TF32": dict(last, tf32=True),
        "PyTorch channels_last bf16 autocast": dict(last, bf16=True),
        "PyTorch torch.compile channels_last float32": dict(last, compiled=True),
        "PyTorch torch.compile channels_last bf16 autocast": dict(last, bf16=True, compiled=True),
    }
    for title, options in variants.items():
        try:
            speed = f"{images_per_second(arguments.batch, arguments.device, arguments.steps, **options):.0f} images/s"
        except Exception as error:  # torch.compile needs a compiler, which a machine may lack
            speed = f"failed ({type(error).__name__})"
        print(title, speed, flush=True)


if __name__ == "__main__":
    main()

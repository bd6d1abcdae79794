"""PyTorch: conv2d as cuDNN chooses to do it, and torchvision's gaussian_blur."""
import torch
import torchvision
from torch.nn.functional import conv2d
from torchvision.transforms.functional import gaussian_blur

from gpu_cases import BUFFERS

torch.backends.cudnn.allow_tf32 = False  # full float32, as the others
SPIN_CYCLES = 20_000_000
LARGEST_2D = 41  # larger windows in two dimensions take a tenth of a second and more


def correlate(taps):
    r = taps.shape[0] // 2
    return lambda x: conv2d(x[None, None], taps[None, None], padding=r)[0, 0]


def separable(row):
    r = row.shape[0] // 2
    along_row, along_column = row.reshape(1, 1, 1, -1), row.reshape(1, 1, -1, 1)

    def run(x):
        rows = conv2d(x[None, None], along_row, padding=(0, r))
        return conv2d(rows, along_column, padding=(r, 0))[0, 0]
    return run


def blur(n_taps, sigma):
    return lambda x: gaussian_blur(x[None], [n_taps, n_taps], [float(sigma), float(sigma)])[0]


class Peer:
    name, title, buffers = "torch", "PyTorch", BUFFERS
    version = f"{torch.__version__}, torchvision {torchvision.__version__}"

    @staticmethod
    def upload(x):
        return torch.from_numpy(x).cuda()

    @staticmethod
    def download(x):
        return x.cpu().numpy()

    @staticmethod
    def copy(x):
        return x.clone()

    @staticmethod
    def times(run, images):
        events = [torch.cuda.Event(enable_timing=True) for _ in range(len(images) + 1)]
        torch.cuda._sleep(SPIN_CYCLES)  # meanwhile Python queues the runs
        events[0].record()
        for i, x in enumerate(images):
            run(x)
            events[i + 1].record()
        events[-1].synchronize()
        return [a.elapsed_time(b) for a, b in zip(events, events[1:])]

    @staticmethod
    def methods(case):
        taps = torch.from_numpy(case.taps()).cuda()
        if case.op == "correlate" and case.pixel == "f32" and case.value <= LARGEST_2D:
            yield "conv2d", "zeros outside", correlate(taps)
        if case.op == "gaussian" and case.pixel == "f32":
            yield "two conv2d", "zeros outside", separable(taps)
        if case.op == "gaussian" and case.pixel != "u16" and len(taps) <= LARGEST_2D:
            yield "torchvision gaussian_blur", "", blur(len(taps), case.value)

"""PyTorch: conv2d with cuDNN's fastest algorithm, and torchvision's gaussian_blur."""
import torch
import torchvision
from torch.nn.functional import conv2d, pad

# Full float32, as the others; cuDNN tries its algorithms during the run that is not timed.
torch.backends.cudnn.allow_tf32 = False
torch.backends.cudnn.benchmark = True
SPIN_CYCLES = 20_000_000
LARGEST_2D = 41  # larger windows in two dimensions take a tenth of a second and more


def correlate(taps):
    r = taps.shape[0] // 2
    return lambda x: conv2d(pad(x[None, None], (r, r, r, r), mode="replicate"), taps[None, None])[0, 0]


def separable(row):
    r = row.shape[0] // 2

    def run(x):
        y = pad(x[None, None], (r, r, r, r), mode="replicate")
        return conv2d(conv2d(y, row.reshape(1, 1, 1, -1)), row.reshape(1, 1, -1, 1))[0, 0]
    return run


def blur(n_taps, sigma):
    def run(x):
        return torchvision.transforms.v2.functional.gaussian_blur(x[None], [n_taps] * 2,
                                                                  [float(sigma)] * 2)[0]
    return run


class Peer:
    name, title, buffers = "torch", "PyTorch", 8
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
            yield "conv2d", "", correlate(taps)
        if case.op == "gaussian" and case.pixel == "f32":
            yield "two conv2d", "", separable(taps)
        if case.op == "gaussian" and case.pixel != "u16" and len(taps) <= LARGEST_2D:
            yield "torchvision gaussian_blur", "", blur(len(taps), case.value)

"""CV-CUDA: gaussian and averageblur, on CuPy's buffers and clock."""
import cupy
import cvcuda

import gpu_cupy

LARGEST = 41  # taps; its filters work in two dimensions


def through(function, *args):
    def run(x):
        image = cvcuda.as_tensor(x[..., None], "HWC")
        return cupy.asarray(function(image, *args, border=cvcuda.Border.REPLICATE).cuda())[..., 0]
    return run


class Peer(gpu_cupy.Peer):
    name, title, version = "cvcuda", "CV-CUDA", cvcuda.__version__

    @staticmethod
    def methods(case):
        n = len(case.taps()) or int(case.value)
        if case.pixel == "u16" or n > LARGEST:
            return
        if case.op == "gaussian":
            yield "gaussian", "", through(cvcuda.gaussian, (n, n), (case.value, case.value))
        elif case.op == "box":
            yield "averageblur", "", through(cvcuda.averageblur, (n, n), (-1, -1))

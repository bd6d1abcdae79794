"""OpenCV on this machine's CPU, all its threads."""
import time

import cv2
import numpy as np

BORDER = cv2.BORDER_REPLICATE
LARGEST_DIRECT = 7  # larger ones take seconds


def magnitude(x):
    return cv2.magnitude(cv2.Sobel(x, cv2.CV_32F, 1, 0, borderType=BORDER),
                         cv2.Sobel(x, cv2.CV_32F, 0, 1, borderType=BORDER))


def unsharp(n_taps, sigma):
    def run(x):
        blurred = cv2.GaussianBlur(x, (n_taps, n_taps), sigma, borderType=BORDER)
        return cv2.addWeighted(x, 2, blurred, -1, 0)
    return run


def chain(n_taps):
    def run(x):
        y = magnitude(cv2.GaussianBlur(x, (n_taps, n_taps), 2, borderType=BORDER))
        return cv2.threshold(y, 40, 255, cv2.THRESH_BINARY)[1]
    return run


class Peer:
    name, title, buffers = "opencv", "OpenCV (CPU)", 2
    version = f"{cv2.__version__}, {cv2.getNumThreads()} threads"

    @staticmethod
    def upload(x):
        return x

    download = upload
    copy = staticmethod(np.copy)

    @staticmethod
    def times(run, images):
        out = []
        for x in images:
            begin = time.perf_counter()
            run(x)
            out.append((time.perf_counter() - begin) * 1e3)
        return out

    @staticmethod
    def methods(case):
        taps, n = case.taps(), int(case.value)
        if case.op == "correlate" and n <= LARGEST_DIRECT:
            yield "filter2D", "", lambda x: cv2.filter2D(x, -1, taps, borderType=BORDER)
        elif case.op == "gaussian" and case.value <= 10:
            size = (len(taps), len(taps))
            yield "GaussianBlur", "", lambda x: cv2.GaussianBlur(x, size, case.value, borderType=BORDER)
        elif case.op == "box":
            yield "boxFilter", "", lambda x: cv2.boxFilter(x, -1, (n, n), borderType=BORDER)
        elif case.op == "sobel":
            yield "two Sobel, magnitude", "f32 result", magnitude
        elif case.op == "sobel-x":
            yield "Sobel", "", lambda x: cv2.Sobel(x, cv2.CV_8U, 1, 0, borderType=BORDER)
        elif case.op == "unsharp":
            yield "GaussianBlur, addWeighted", "u8 between", unsharp(len(taps), case.value)
        elif case.op == "chain":
            yield "GaussianBlur, Sobel, threshold", "u8 between", chain(len(taps))

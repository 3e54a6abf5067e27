"""How near `pipelines.profile_pipeline` comes to a planted R: found / planted, at every insertion point."""

from __future__ import annotations

import time

import torch

from pipelines import profile_pipeline, throttle

BATCH, UPDATE_S = 8, 0.02
IMAGES, LABELS = torch.rand(256, 3, 4, 4), torch.arange(256)


def main() -> None:
    print("planted R, burst: found / planted by insertion point")
    for planted in (2, 4, 8):
        for burst in (1, 16):
            source = throttle((IMAGES, LABELS), R=planted, update_s=UPDATE_S, batch_size=BATCH, burst=burst)
            profile = profile_pipeline(source, lambda *_: time.sleep(UPDATE_S), batch_size=BATCH, seconds=1.6)
            found = ", ".join(f"{point} {ratio.estimate / planted:.3f}" for point, ratio in profile.R.items())
            print(f"{planted}, {burst:>2}: {found}")


if __name__ == "__main__":
    main()

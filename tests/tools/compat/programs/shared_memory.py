"""JAX and PyTorch use the mask and the features of a batch without a copy."""

import warnings

import jax
import numpy as np
import torch

from chatiere.envs import TableEnv

warnings.simplefilter("error")
for form in ("float32", "float16", "packed"):
    with TableEnv("discat", 2, num_envs=63, features=form, mask="bits" if form == "packed" else True) as env:
        batch = env.reset(seed=7)
        for _ in range(10):
            batch = env.step(batch.random_actions())
            for array in (batch.features, batch.mask):
                address = array.ctypes.data
                of_jax, of_torch = jax.dlpack.from_dlpack(array), torch.from_numpy(array)
                assert of_jax.unsafe_buffer_pointer() == of_torch.data_ptr() == address
                assert torch.from_dlpack(array).data_ptr() == address
                assert np.array_equal(of_jax, array)
                assert np.array_equal(of_torch, array)

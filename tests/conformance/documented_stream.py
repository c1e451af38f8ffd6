"""An implementation of the documented random stream with NumPy and Python's integers."""

import numpy as np


class DocumentedStream:
    """Philox4x64-10 with the key (seed, game number) and NumPy's order of words. `drawn` counts the words drawn."""

    def __init__(self, seed: int, game_number: int, drawn: int = 0) -> None:
        """Start at word number `drawn`."""
        # NumPy's counter counts blocks of four words.
        key = np.array([seed, game_number], dtype=np.uint64)
        self._generator = np.random.Philox(counter=drawn // 4, key=key)
        for _ in range(drawn % 4):
            self._generator.random_raw()
        self.drawn = drawn

    def word(self) -> int:
        """Draw the next word."""
        self.drawn += 1
        return int(self._generator.random_raw())

    def number_below(self, n: int) -> int:
        """Draw a number by Lemire's method: the high half of word x n, redrawn if the low half is below 2**64 mod n."""
        while True:
            product = self.word() * n
            if product % 2**64 >= 2**64 % n:
                return product // 2**64

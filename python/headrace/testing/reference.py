"""Plain Python versions of native mechanisms, to hold the fast ones against."""

__all__ = ["ReferencePermutation"]

_MASK32 = 2**32 - 1
_MASK64 = 2**64 - 1


class ReferencePermutation:
    """The order of `headrace.Permutation`, written from its definition.

    A Feistel network of eight rounds on `2**k` values, `k = max(8, ceil(log2(n)))`, walked until the value is below
    `n` (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002). The low half has `ceil(k / 2)` bits. Rounds
    change the high and the low half in turn, by the MurmurHash3 finaliser of the other half and a round key. Round keys
    are the upper halves of the first outputs of SplitMix64 from `key`.
    """

    def __init__(self, n: int, key: int) -> None:
        self.n = n
        bits = max(8, (n - 1).bit_length() if n else 0)
        self._low_bits = bits - bits // 2
        self._low_mask = (1 << self._low_bits) - 1
        self._high_mask = (1 << bits // 2) - 1
        self._keys = [_split_mix(key, draw) >> 32 for draw in range(1, 9)]

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, index: int) -> int:
        if not 0 <= index < self.n:
            raise IndexError(index)
        value = self._encrypt(index)
        while value >= self.n:
            value = self._encrypt(value)
        return value

    def _encrypt(self, value: int) -> int:
        high, low = value >> self._low_bits, value & self._low_mask
        for even, odd in zip(self._keys[::2], self._keys[1::2], strict=True):
            high ^= _mix(low ^ even) & self._high_mask
            low ^= _mix(high ^ odd) & self._low_mask
        return high << self._low_bits | low


def _mix(h: int) -> int:
    h = (h ^ h >> 16) * 0x85EBCA6B & _MASK32
    h = (h ^ h >> 13) * 0xC2B2AE35 & _MASK32
    return h ^ h >> 16


def _split_mix(key: int, draw: int) -> int:
    z = key + draw * 0x9E3779B97F4A7C15 & _MASK64
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK64
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK64
    return z ^ z >> 31

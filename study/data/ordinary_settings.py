"""Which ordinary tables are drawn: sizes, numbers of factors and correlations."""

from itertools import product

from .setting import Setting

SIZES = (100, 200, 400, 1000)
DIMENSIONS = (5, 10, 30)
CORRELATIONS = (0.0, 0.5, 0.8)
LINES, CURVES = (
    tuple(Setting(source, n, p, rho) for n, p, rho in product(SIZES, DIMENSIONS, CORRELATIONS))
    for source in ("linear", "curved")
)

MANY_CORRELATED = Setting("many-correlated", 200, 30, 0.8)
NESTED = Setting("nested", 500, 10)
NEAR_COPIES = tuple(Setting("near-copies", n, 8) for n in (300, 500))
SUPPRESSORS = Setting("suppressors", 200, 8, 0.75)
LOOK_ALIKES = (MANY_CORRELATED, NESTED, *NEAR_COPIES, SUPPRESSORS)

CLASSES = tuple(
    Setting(source, n, 10, 0.5) for source in ("class-10", "class-30", "class-50") for n in (200, 500, 1000)
)
COUNTS, ORDINAL = (tuple(Setting(source, n, 10, 0.5) for n in (200, 500, 1000)) for source in ("poisson", "ordinal"))
RESPONSES = (*CLASSES, *COUNTS, *ORDINAL)

PRODUCT = Setting("weak-product", 200, 8)
PRODUCT_OF_THREE = Setting("weak-product-of-three", 200, 8)
XOR = Setting("weak-xor", 500, 8)
TOGETHER = (PRODUCT, PRODUCT_OF_THREE, XOR)

FIVE_LINES, FIVE_OF_2000, FIVE_OF_20000 = (
    Setting("five-lines", n, p) for n, p in ((100, 300), (200, 2000), (200, 20_000))
)
TWENTY_LINES, TWENTY_NOISY_LINES = (Setting(source, 200, 300) for source in ("twenty-lines", "twenty-noisy-lines"))
MANY_COLUMNS = (FIVE_LINES, TWENTY_LINES, TWENTY_NOISY_LINES, FIVE_OF_2000, FIVE_OF_20000)

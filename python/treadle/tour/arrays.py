"""Step 2. Arrays and explicit transfer."""

import numpy as np

import treadle as td

from .report import Mismatch

EXPECTED_PRODUCT = [[14, 38, 62], [38, 126, 214], [62, 214, 366]]


def matrix_times_its_transpose(run):
    x = td.arange(12, dtype=td.float32).reshape(3, 4)
    product = x @ x.T
    host = np.arange(12, dtype=np.float32).reshape(3, 4)
    run.expect(product, EXPECTED_PRODUCT, rtol=1e-5, atol=1e-6)
    error = run.expect(product, host @ host.T, rtol=1e-5, atol=1e-6)
    return {"largest difference": error, "rtol": 1e-5, "atol": 1e-6}


def table_column():
    """The quantities as somebody would have them: a column of a pandas table, when pandas is there."""
    quantities, prices = [2, 5, 3], [10, 8, 15]
    try:
        import pandas
    except ImportError:
        return np.array(quantities), np.array(prices), "NumPy (pandas is not installed)"
    table = pandas.DataFrame({"quantity": quantities, "price": prices})
    return table["quantity"], table["price"], f"pandas {pandas.__version__}"


def quantities_times_prices(run):
    quantities, prices, source = table_column()
    total = (td.asarray(quantities) * td.asarray(prices)).sum()
    run.expect(total, 105)
    return {"sum": int(total), "columns from": source}


def transfers(run):
    host = np.linspace(-1, 1, 100_003).astype(np.float32)
    there = td.asarray(host, blocking=True)
    back = np.full_like(host, np.nan)
    returned = td.asnumpy(there, out=back)
    if returned is not back:
        raise Mismatch("asnumpy(out=) did not return its out array")
    run.expect(back, host)
    strided = np.zeros((100_003, 2), np.float32)
    td.asnumpy(there, out=strided[:, 1])
    run.expect(strided[:, 1], host)
    run.expect(td.asarray(host[::-3]), host[::-3])
    return {"bytes each way": host.nbytes}


def no_copy_on_the_device(run):
    x = td.asarray(np.arange(5, dtype=np.float32))
    again = td.asarray(x)
    if again.data.ptr != x.data.ptr:
        raise Mismatch("asarray of an array that is on the device copied it")
    x[0] = 7
    run.expect(again, [7, 1, 2, 3, 4])
    return {"address": hex(x.data.ptr)}


STEPS = (
    ("arrays: matrix times its transpose", matrix_times_its_transpose),
    ("arrays: quantities times prices", quantities_times_prices),
    ("arrays: host to device and back", transfers),
    ("arrays: asarray on the device copies nothing", no_copy_on_the_device),
)

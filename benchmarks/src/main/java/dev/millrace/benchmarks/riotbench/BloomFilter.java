package dev.millrace.benchmarks.riotbench;

import dev.millrace.udf.AggregateFunction;

/**
 * {@code bloom_filter(text) RETURNS BYTEA}: 4096 bits, three of them set per text. Which: the first three quarters of the text's
 * MD5, each modulo 4096.
 */
public final class BloomFilter implements AggregateFunction<byte[]> {
    @Override
    public byte[] create() {
        return new byte[BloomCheck.BITS / Byte.SIZE];
    }

    @Override
    public byte[] accumulate(byte[] filter, Object[] arguments) {
        if (arguments[0] != null) {
            for (int bit : BloomCheck.bits((String) arguments[0])) {
                filter[bit / Byte.SIZE] |= (byte) (1 << bit % Byte.SIZE);
            }
        }
        return filter;
    }

    @Override
    public Object result(byte[] filter) {
        return filter;
    }
}

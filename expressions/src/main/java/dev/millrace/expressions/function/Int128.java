package dev.millrace.expressions.function;

/** The result of a 128-bit function, two's complement. Each call in generated code has one. */
public final class Int128 {
    public long high;
    public long low;

    public void set(long newHigh, long newLow) {
        high = newHigh;
        low = newLow;
    }
}

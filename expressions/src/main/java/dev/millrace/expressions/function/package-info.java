/**
 * The run-time library of generated code: scalar functions over unboxed values, with PostgreSQL's semantics.
 *
 * <p>Entry: the methods that {@code dev.millrace.expressions.code} writes calls of. A text or bytea argument is an address and
 * a length in bytes; a NUMERIC one is its unscaled value, as a {@code long} or as the high and low half of 128 bits; an
 * interval is months, days and microseconds. Results that do not fit a Java primitive go to a result object that is the
 * last parameter ({@link dev.millrace.expressions.function.Text}, {@link dev.millrace.expressions.function.Int128},
 * {@link dev.millrace.expressions.function.time.Interval}); a {@code boolean} result of such a method says whether the value is not
 * NULL. Objects belong to one thread. What is common allocates nothing per row. The package knows
 * no expressions.
 */
package dev.millrace.expressions.function;

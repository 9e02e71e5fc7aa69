/**
 * Numbers without a limit that anybody meets: PostgreSQL's NUMERIC without digits declared, of up to 131,072 digits before
 * the point and 16,383 after it, with NaN, Infinity and -Infinity, and the number of digits after the point that is shown.
 *
 * <p>Entry: {@link dev.millrace.number.BignumBytes} has them as bytes, in columns and in state, and computes nothing but what fits
 * a {@code long}; {@link dev.millrace.number.Bignum} is one as an object, for all else. {@link dev.millrace.number.ResultScale} is how
 * many digits a result has, {@link dev.millrace.number.BignumFunctions} the functions that have endlessly many. All of it is
 * stateless or immutable, safe on any thread. It knows neither text nor columns.
 */
package dev.millrace.number;

/**
 * Writes expressions as Java: entry is {@link dev.millrace.expressions.code.CalcProgram}, for filters and projections. What the
 * sources become is in {@code dev.millrace.expressions.kernel}.
 */
package dev.millrace.expressions.code;

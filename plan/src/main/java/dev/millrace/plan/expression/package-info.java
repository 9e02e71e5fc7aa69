/**
 * Scalar expressions and aggregate calls: immutable, typed, resolved to columns of the input by index.
 *
 * <p>Entry: {@link dev.millrace.plan.expression.Expression}. Only the types of {@code contracts} are known here; no SQL
 * text, no evaluation.
 */
package dev.millrace.plan.expression;

/**
 * Joins of two changing inputs.
 *
 * <p>Entry: {@link dev.millrace.engine.join.JoinOperator}.
 */
package dev.millrace.engine.join;

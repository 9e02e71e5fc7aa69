/**
 * Joins of two changing inputs.
 *
 * <p>Entry: {@link dev.millrace.engine.join.JoinOperator}, which does them all;
 * {@link dev.millrace.engine.join.AppendedJoinOperator} and {@link dev.millrace.engine.join.ExistenceJoinOperator} do with less
 * what they can.
 */
package dev.millrace.engine.join;

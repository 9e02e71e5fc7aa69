/**
 * Joins of changing inputs.
 *
 * <p>Entry: {@link dev.millrace.engine.join.JoinOperator}, which does all that are of two inputs;
 * {@link dev.millrace.engine.join.AppendedJoinOperator} and {@link dev.millrace.engine.join.ExistenceJoinOperator} do with less
 * what they can. {@link dev.millrace.engine.join.MultiJoinOperator} joins more than two on one key; {@link
 * dev.millrace.engine.join.SharedJoinOperator} reads tables and views where they are kept. Rows of keys that have many
 * are found by the ranges of the condition ({@code HotKeys}).
 */
package dev.millrace.engine.join;

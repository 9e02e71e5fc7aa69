/**
 * Rewrites that make several joins one.
 *
 * <p>Entry: {@link dev.millrace.planner.join.MergeJoins}. Runs when all else but exchanges is settled.
 */
package dev.millrace.planner.join;

/**
 * Queries that only want to know which rows there are and how many of each have them read as such, where readers know.
 *
 * <p>Entry: {@link dev.millrace.planner.condense.CondenseScans}. One thread per plan. It says to scans what is wanted; what readers make of that is
 * theirs.
 */
package dev.millrace.planner.condense;

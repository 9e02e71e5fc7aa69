/**
 * Row pattern recognition (SQL:2016, MATCH_RECOGNIZE) in a plan: the pattern, what its variables require, and the values
 * that conditions and measures take from a match.
 *
 * <p>Entry: {@link dev.millrace.plan.match.MatchSpec}. Immutable records; what they mean row by row is said on each.
 */
package dev.millrace.plan.match;

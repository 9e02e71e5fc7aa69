/**
 * MATCH_RECOGNIZE: patterns, the names of their rows, and expressions over a match.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.match.MatchBinder}.
 */
package dev.millrace.sql.bind.match;

/**
 * Statements that change rows, the rules that rows must keep, and queries over rows at hand (RETURNING, CHECK).
 *
 * <p>Entry: {@link dev.millrace.sql.bind.change.ChangeBinder}, {@link dev.millrace.sql.bind.change.RuleBinder}.
 */
package dev.millrace.sql.bind.change;

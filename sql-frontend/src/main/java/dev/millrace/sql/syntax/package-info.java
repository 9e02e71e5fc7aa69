/**
 * Syntax trees: statements whose names and types are not resolved yet. Queries and expressions in them are Calcite's
 * {@code SqlNode}s, whose position's column is the place in the whole text, in characters from 1.
 *
 * <p>Entry: {@link dev.millrace.sql.syntax.Syntax}.
 */
package dev.millrace.sql.syntax;

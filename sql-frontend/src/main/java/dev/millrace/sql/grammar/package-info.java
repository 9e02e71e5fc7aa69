/**
 * The one grammar of queries, expressions and types, by recursive descent, from lexemes to Calcite's syntax trees.
 *
 * <p>Entry: {@link dev.millrace.sql.grammar.Grammar}, which says which class reads what, over
 * {@link dev.millrace.sql.grammar.Tokens}, a place in a text. A form of the dialect is read where it stands: DuckDB's and
 * PostgreSQL's own are made there into what the binder knows, by calls whose names no user's function can have
 * ({@link dev.millrace.sql.syntax.FromClauses}). Hardly a word is reserved: {@code QueryWords} says which are names where, by the
 * tokens right behind them. Nothing is read twice, but for what is written once and stands for several things, which is bounded.
 * One thread, one text; statements other than queries are {@code parser}'s.
 */
package dev.millrace.sql.grammar;

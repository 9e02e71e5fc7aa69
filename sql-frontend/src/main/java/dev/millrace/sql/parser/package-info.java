/**
 * SQL text to statements' syntax.
 *
 * <p>Entry: {@link dev.millrace.sql.parser.StatementParser}. Each kind of statement has its class, all over the same
 * {@code Words}, a place in the text, which also reads queries and expressions by {@link dev.millrace.sql.grammar.Grammar}.
 */
package dev.millrace.sql.parser;

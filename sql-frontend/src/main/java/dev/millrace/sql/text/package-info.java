/**
 * SQL as characters: PostgreSQL's lexical rules, splitting a text into statements, quoting names, words for completion,
 * and the caret line under an error.
 *
 * <p>Entry: {@link dev.millrace.sql.text.SqlText} for shells, {@link dev.millrace.sql.text.Lexer} for the parser.
 * Stateless; nothing here knows the grammar.
 */
package dev.millrace.sql.text;

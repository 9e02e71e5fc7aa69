/**
 * SQL text to syntax trees.
 *
 * <p>Entry: {@link dev.millrace.sql.parser.StatementParser}, which reads statements by recursive descent and gives their
 * queries and expressions to the generated grammar: {@code form} puts other dialects' forms into ours before, {@code feed} is what
 * makes that grammar PostgreSQL's.
 */
package dev.millrace.sql.parser;

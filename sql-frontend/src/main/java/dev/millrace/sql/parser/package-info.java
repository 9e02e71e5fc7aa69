/**
 * SQL text to syntax trees.
 *
 * <p>Entry: {@link dev.millrace.sql.parser.StatementParser}, which reads statements by recursive descent and gives their
 * queries and expressions to the generated grammar. {@code TokenFeed} is what makes that grammar PostgreSQL's: it decides
 * from its neighbours whether a word is a keyword, so that hardly any is reserved, and has {@code PostgresForms} put what the
 * grammar cannot read ({@code INTERVAL '5 minutes'}, {@code substring(x from 2)}, {@code string_agg(x ORDER BY y)}) into a
 * form that it can. Tokens keep the position of the text they came from.
 */
package dev.millrace.sql.parser;

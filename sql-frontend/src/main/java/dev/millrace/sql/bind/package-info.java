/**
 * Names, types and PostgreSQL's typing rules: syntax trees to statements and algebra.
 *
 * <p>Entry: {@link dev.millrace.sql.bind.StatementBinder}. One binder serves one statement on one thread. Calcite's
 * validator is not used: its types, coercions and messages are not PostgreSQL's, and it costs most of the time of a first
 * query. Instead, each package knowing only those below it,
 *
 * <pre>
 * bind         one statement
 * change       INSERT, UPDATE, DELETE, MERGE, RETURNING, rules of rows
 * query        WITH, set operations, SELECT, FROM, GROUP BY
 * match        MATCH_RECOGNIZE
 * file         files in FROM
 * expression   operators, comparisons, casts, calls, aggregates, OVER
 * scope        which names mean which columns
 * subquery     sub-queries to joins
 * relation     algebra nodes
 * function     overloads, by FunctionCatalog
 * type         casts, common types, parameters
 * </pre>
 */
package dev.millrace.sql.bind;

/**
 * PostgreSQL's system catalog over ours: what psql's backslash commands, drivers and BI tools ask for.
 *
 * <p>Entry: {@link dev.millrace.server.pgcatalog.PgCatalog}, which gives the relations of {@code pg_catalog} and
 * {@code information_schema}; their columns are listed in {@code relations.txt} beside it. A stream and a table are both
 * {@code relkind} r, a continuous query is v, a materialized view m. Rows are computed when they are asked for. Any thread.
 */
package dev.millrace.server.pgcatalog;

/**
 * PostgreSQL's own regression files, by PostgreSQL's own psql, against a server: what share of their statements is answered as PostgreSQL
 * answers them. The files are nobody's part of the repository: {@code ./check --postgres-suite DIR} is given their folder.
 */
package dev.millrace.server.regression;

/**
 * Forms of DuckDB and PostgreSQL that the grammar does not read, put into ones that it reads, before it sees the text.
 *
 * <p>Entry: {@link dev.millrace.sql.parser.form.DuckDbForms}. Each class looks at the lexemes of a whole statement and edits
 * them with {@link dev.millrace.sql.parser.form.LexemeEditor}; what is put in stands at a place of the text. Forms are decided by
 * neighbouring lexemes, so a new one may meet any other: a grammar of our own would read them all.
 */
package dev.millrace.sql.parser.form;

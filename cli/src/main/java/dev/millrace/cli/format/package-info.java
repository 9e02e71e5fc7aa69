/**
 * Results as text for people and programs: psql's aligned table, its expanded form, CSV and JSON lines.
 *
 * <p>Entry: {@link dev.millrace.cli.format.ResultFormat}. A writer belongs to one result and one thread. Values have
 * PostgreSQL's text; what the format adds (padding, quotes, names) is here.
 */
package dev.millrace.cli.format;

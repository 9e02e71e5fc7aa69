/**
 * What the front end must know of the relations that a text names.
 *
 * <p>Entry: {@link dev.millrace.sql.catalog.Catalog}, implemented by the server; {@link
 * dev.millrace.sql.catalog.Relation} is an immutable value.
 */
package dev.millrace.sql.catalog;

/**
 * What the system says of itself: relations of the schema {@code millrace}, SHOW and DESCRIBE.
 *
 * <p>Entry: {@link dev.millrace.server.system.SystemRelations}, {@link dev.millrace.server.system.Inspection}. PostgreSQL's
 * catalog is {@code server.pgcatalog}.
 */
package dev.millrace.server.system;

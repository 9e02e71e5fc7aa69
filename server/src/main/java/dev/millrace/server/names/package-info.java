/**
 * What names mean to one session: the catalog as it sees it, and what it has prepared and opened.
 *
 * <p>Entry: {@link dev.millrace.server.names.SessionCatalog}, {@link dev.millrace.server.names.SessionObjects}. Belongs to
 * the session's thread.
 */
package dev.millrace.server.names;

/**
 * What the sessions of one open database share.
 *
 * <p>Entry: {@link dev.millrace.server.instance.Instance}, safe on any thread. It knows no session; {@link
 * dev.millrace.server.instance.CatalogStore} is what of it is kept on disk.
 */
package dev.millrace.server.instance;

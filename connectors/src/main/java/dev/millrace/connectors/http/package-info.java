/**
 * A sink that POSTs rows.
 *
 * <p>Entry: {@link dev.millrace.connectors.http.HttpSinkFactory}. Called by one thread, which waits for answers and tries again.
 */
package dev.millrace.connectors.http;

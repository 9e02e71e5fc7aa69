/**
 * The second port: metrics, health, and SQL over HTTP for programs that have no PostgreSQL client. Described for users by
 * {@code openapi.yaml} beside this package's classes, and in docs/http.md.
 *
 * <p>Entry: {@link dev.millrace.server.http.HttpServer}. Each connection has an {@code HttpConnection} on its event loop, which
 * never waits; each request is answered by an endpoint on a thread of its own, which may wait for rows, or for the client to
 * read. Roles, privileges and passwords are those of the PostgreSQL port.
 */
package dev.millrace.server.http;

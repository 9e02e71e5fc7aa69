/**
 * The JDBC driver: {@code jdbc:millrace://host:port/database} for a server, {@code jdbc:millrace:} for a database inside this
 * program.
 *
 * <p>Entry: {@link dev.millrace.jdbc.MillraceDriver}, which {@link java.sql.DriverManager} finds by itself. It stands on
 * pgjdbc, PostgreSQL's driver, whose connections, statements and results it hands out with a few calls answered differently:
 *
 * <ul>
 *   <li>{@code SUBSCRIBE} gives a result that waits for its next row ({@code SubscribingCalls}, {@code ChangesResult});
 *   <li>a batch of a plain {@code INSERT ... VALUES (?, ...)} travels as one COPY ({@code InsertAsCopy});
 *   <li>the meta data names Millrace ({@code MillraceMetaData}).
 * </ul>
 *
 * <p>In-process connections talk the same protocol over a pipe in memory ({@code InProcess}); only they need the server's
 * classes. Threads are as in pgjdbc: a connection may be shared, and serves one statement at a time; a subscription has a
 * connection of its own, so that its reader waits without keeping others waiting.
 */
package dev.millrace.jdbc;

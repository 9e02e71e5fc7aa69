/**
 * What is done with a data directory from outside a database: reading every byte of it.
 *
 * <p>Entry: {@link dev.millrace.server.operation.DirectoryVerification}. For one thread at a time each. What the files are is said by the
 * packages that write them ({@code server.storage}, {@code server.journal}, {@code storage.log}, {@code storage.manifest}); each has a way to
 * verify its own, and this package calls them.
 */
package dev.millrace.server.operation;

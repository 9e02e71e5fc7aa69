/**
 * What connectors are lent, for their tests.
 *
 * <p>Entry: {@link dev.millrace.testing.connector.TestSinkContext}.
 */
package dev.millrace.testing.connector;

/** Tests through JDBC, whichever driver the connection is from. Entry: {@link dev.millrace.testing.jdbc.Statements}. */
package dev.millrace.testing.jdbc;

/**
 * The clients that people use, each installed from its registry into {@code target/clients} and run against a server. A test is
 * skipped, and says why, only where the language is not there or its registry cannot be reached.
 */
package dev.millrace.server.clients;

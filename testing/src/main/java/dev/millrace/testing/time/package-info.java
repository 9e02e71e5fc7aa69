/**
 * Time that a test owns, and waiting that depends on no machine's speed. Entries: {@link dev.millrace.testing.time.TestClock}
 * and {@link dev.millrace.testing.time.Eventually}.
 */
package dev.millrace.testing.time;

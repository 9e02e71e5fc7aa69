/** Time that a test owns. Entry: {@link dev.millrace.testing.time.TestClock}. */
package dev.millrace.testing.time;

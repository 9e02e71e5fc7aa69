/** Time as an interface, so that a test can own it. Entry: {@link dev.millrace.time.Clock}. */
package dev.millrace.time;

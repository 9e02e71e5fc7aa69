/** Statements that want too much, by many clients at once: nothing outlives its timeout, and nobody else is held up. */
package dev.millrace.cli.hostile;

/**
 * Drives an operator through a script of rows, watermarks and epochs in many variations that must not matter.
 *
 * <p>Entry: {@link dev.millrace.testing.harness.OperatorHarness}. Single-threaded, as operators are.
 */
package dev.millrace.testing.harness;

/**
 * Measures Millrace. Entry: {@link dev.millrace.benchmarks.Main}, {@code ./millrace bench}. Nothing imports this module.
 */
package dev.millrace.benchmarks;

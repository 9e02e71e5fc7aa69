/**
 * What generated code is when it runs: kernels over rows in raw memory, their constants, and the classes they are compiled to.
 *
 * <p>Entry: {@link dev.millrace.expressions.kernel.ClassCompiler} for any generated class, {@link
 * dev.millrace.expressions.kernel.CalcKernel} for filters and projections. A source holds no literal values (those are passed
 * to the constructor), so its text is its fingerprint and queries that differ in literals share one class and what the JIT
 * made of it. Sources are written by {@code dev.millrace.expressions.code}.
 */
package dev.millrace.expressions.kernel;

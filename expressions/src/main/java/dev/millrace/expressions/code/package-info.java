/**
 * Generated code: compiles Java sources to classes at run time, and expressions to such sources.
 *
 * <p>Entry: {@link dev.millrace.expressions.code.ClassCompiler} for any generated class,
 * {@link dev.millrace.expressions.code.CalcProgram} for filters and projections. A source holds no literal values (those
 * are passed to the constructor), so its text is its fingerprint and queries that differ in literals share one class and
 * what the JIT made of it.
 */
package dev.millrace.expressions.code;

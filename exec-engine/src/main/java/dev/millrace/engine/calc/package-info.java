/**
 * The operator that filters rows and computes expressions.
 *
 * <p>Entry: {@link dev.millrace.engine.calc.CalcOperator}, or {@link dev.millrace.engine.calc.DirectCalc} for a batch on the
 * thread that asks. The per-row work is generated code ({@link dev.millrace.expressions.code.CalcProgram}); here is what is
 * done once per batch: choosing the variant, passing columns on without copying them where all rows pass, gathering them
 * where not.
 */
package dev.millrace.engine.calc;

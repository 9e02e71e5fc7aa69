/**
 * Between Calcite's algebra and ours.
 *
 * <ul>
 *   <li>{@link dev.millrace.sql.algebra.TypeMapper}: {@code RelDataType} to and from {@code DataType}.
 *   <li>{@link dev.millrace.sql.algebra.ExpressionTranslator}: {@code RexNode} to {@code Expression}.
 *   <li>{@link dev.millrace.sql.algebra.AggregateTranslator}: Calcite's {@code AggregateCall} to ours.
 *   <li>{@link dev.millrace.sql.algebra.WindowScan}: reads a window function out of a {@code LogicalTableFunctionScan}.
 *   <li>{@link dev.millrace.sql.algebra.RelationTable}: the table of a {@code LogicalTableScan}; {@code
 *       unwrap(Relation.class)} gives the relation.
 *   <li>{@link dev.millrace.sql.algebra.Rex}: the operators that expressions are made of.
 * </ul>
 *
 * <p><b>Expressions.</b> Logic, comparison, arithmetic, CASE and CAST are Calcite's standard operators, so that its rules
 * and {@code RexSimplify} understand them; every other function is a {@code SqlFunction} whose name is the canonical name
 * in {@code dev.millrace.plan.function.FunctionCatalog}. Types are decided when an expression is bound and are carried by
 * each call; all casts are explicit.
 *
 * <p><b>Windows.</b> {@code TUMBLE}, {@code HOP}, {@code CUMULATE} and {@code SESSION} are {@code
 * LogicalTableFunctionScan}s with one input, whose call is {@code TUMBLE(DESCRIPTOR($t), size)}, {@code
 * HOP(DESCRIPTOR($t), slide, size)}, {@code CUMULATE(DESCRIPTOR($t), step, size)} or {@code SESSION(DESCRIPTOR($t),
 * DESCRIPTOR($k, ...), gap)}; columns are references to the input, durations BIGINT literals in microseconds, with an offset behind
 * those of all but sessions. Windows of the calendar have numbers of its units instead, and behind them the unit, how many microseconds
 * later these begin, and the time zone. The row
 * type is the input's followed by {@code window_start} and {@code window_end} of the time column's type, not NULL.
 *
 * <p><b>Sub-queries</b> in expressions, and what reads rows outside it, were rewritten to joins and aggregates.
 *
 * <p>All classes are stateless or immutable. No class here starts Calcite's metadata (whose handlers are compiled on
 * first use) or a planner.
 */
package dev.millrace.sql.algebra;

/**
 * Grouping and aggregate functions, over whole streams and, for {@code dev.millrace.engine.window}, per slice.
 *
 * <p>Entry: {@link dev.millrace.engine.aggregate.AggregateOperator}. An {@link dev.millrace.engine.aggregate.AggregateLayout}
 * says where in an entry the states of the calls lie; {@link dev.millrace.engine.aggregate.KernelWriter} writes the code
 * that finds a row's group and updates them; {@link dev.millrace.engine.aggregate.GroupState} holds the groups of a stream
 * or slice. {@code Wide}, {@code Doubles} and {@code Extremes} are what generated code calls.
 */
package dev.millrace.engine.aggregate;

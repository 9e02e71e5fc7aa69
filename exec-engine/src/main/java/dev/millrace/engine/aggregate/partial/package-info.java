/**
 * The first phase of an aggregation in two: each task makes of its rows what they add to the groups' states, so that less has
 * to go to the groups' owners. Entry: {@link dev.millrace.engine.aggregate.partial.PartialAggregateOperator}; {@link
 * dev.millrace.engine.aggregate.partial.PartialGain} and {@link dev.millrace.engine.aggregate.partial.PartialLimit} decide when
 * that is worth its while.
 */
package dev.millrace.engine.aggregate.partial;

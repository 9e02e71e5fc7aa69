/**
 * The time as it goes on, {@code now()}, in standing queries: conditions by which rows come and leave as time passes.
 *
 * <p>Entry: {@link dev.millrace.planner.clock.RecognizeTimeFilter}, then {@link dev.millrace.planner.clock.ClockCheck} for
 * what would be wrong a moment later. A pull query has one moment, and needs neither.
 */
package dev.millrace.planner.clock;

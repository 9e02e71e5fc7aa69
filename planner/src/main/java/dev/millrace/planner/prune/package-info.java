/**
 * Reads as little as possible: columns nobody uses are not computed and not read, each stream is read once, and readers
 * learn which rows nobody wants.
 *
 * <p>Entry: {@link dev.millrace.planner.prune.PruneColumns}, then {@link dev.millrace.planner.prune.ShareScans}, and
 * {@link dev.millrace.planner.prune.PushPredicatesIntoScan} when watermarks are placed.
 */
package dev.millrace.planner.prune;

/**
 * The planner: validated relational algebra to physical plans.
 *
 * <p>Entry: {@link dev.millrace.planner.Planner}, for EXPLAIN too; {@link
 * dev.millrace.planner.explain.LogicalText} shows a query before it is planned.
 *
 * <pre>
 * tree      building and rewriting plan nodes and expressions
 * fact      what is known of rows: append-only, event times, windows, keys
 * algebra   Calcite's nodes to plan nodes, one by one
 * estimate  how many rows nodes give
 * order     the order of joins, by what is known of sizes
 * simplify  local rewrites that are always right
 * window    windows that emit at their close, watermarks, lateness
 * prune     unused columns, second reads, predicates for readers
 * parallel  exchanges and two-phase aggregation
 * explain   plans as text, and fingerprints
 * </pre>
 *
 * Pure functions, no threads, no I/O. Nothing here runs a plan or knows how one is run.
 */
package dev.millrace.planner;

/**
 * Local rewrites that are always right: constants folded, neighbours merged, filters moved down to where they cost
 * least.
 *
 * <p>Entry: {@link dev.millrace.planner.simplify.Simplification}. One rewrite per file, each with a sketch of what it
 * does. None moves a filter below a {@code Watermark}: rows that a query does not want still tell the time.
 */
package dev.millrace.planner.simplify;

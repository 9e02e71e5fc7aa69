/**
 * Queries that differ in literals alone, found by their plans.
 *
 * <p>Entry: {@link dev.millrace.planner.group.GroupForm}: a pure function of a plan. What becomes of such queries is the engine's.
 */
package dev.millrace.planner.group;

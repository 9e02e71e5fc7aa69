/**
 * Plans for people and for look-up.
 *
 * <p>Entry: {@link dev.millrace.planner.explain.PlanText} writes a plan as a tree of lines, {@link
 * dev.millrace.planner.explain.Fingerprint} reduces it to what it has in common with plans that differ in literals only.
 * Both are pure functions; neither form is read back.
 */
package dev.millrace.planner.explain;

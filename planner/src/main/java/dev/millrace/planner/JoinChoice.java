package dev.millrace.planner;

import dev.millrace.planner.estimate.StandingWork;

/**
 * What was expected of a standing query in the order in which its joins are written, and of the one it got.
 *
 * @param written of the order written
 * @param chosen of the plan that is run; the same where the order written stays
 */
public record JoinChoice(StandingWork written, StandingWork chosen) {}

package dev.millrace.planner.user;

/**
 * What can be done with the states of a user's aggregate.
 *
 * @param retracts whether rows can be taken back
 * @param merges whether states can be put together
 */
public record UserStates(boolean retracts, boolean merges) {}

/**
 * Where groups of queries run (Pluto, dissertation sections 3.3.2 and 3.3.4): a group has one place, given when it is made, and is moved, split and
 * merged again as loads change.
 *
 * <p>Entry: {@link dev.millrace.scheduler.assignment.GroupHomes}, which has the places; what becomes of them is said by pure functions of loads,
 * {@link dev.millrace.scheduler.assignment.Placement} and {@link dev.millrace.scheduler.assignment.Rebalancing}. Loads are those of M/M/1 queues
 * ({@link dev.millrace.scheduler.assignment.LoadMeter}). Nothing here knows threads or queues: one thread at a time, and time is passed in.
 *
 * <p>The parts of a group are the leaves of a binary tree over the hashes of its members, so that a member is in exactly one whatever is split, moved
 * or merged, and no list of members is kept or copied.
 */
package dev.millrace.scheduler.assignment;

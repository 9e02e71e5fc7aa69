package dev.millrace.scheduler.simulation;

/**
 * Queries in groups, as in Pluto's section 3.5.4: many of few codes.
 *
 * @param groups how many codes there are
 * @param members how many queries
 * @param groupExponent the k-th group has members in proportion to k to the power of minus this; 0 for each alike
 * @param memberExponent the k-th member has events likewise
 * @param load the share of all workers that they need in the mean
 * @param eventNanos what an event of the mean group takes; groups differ, by up to four times
 */
public record GroupSpec(
        int groups, int members, double groupExponent, double memberExponent, double load, long eventNanos) {
    public GroupSpec {
        if (groups < 1 || members < groups || groupExponent < 0 || memberExponent < 0 || load <= 0 || eventNanos < 1) {
            throw new IllegalArgumentException("each group has a member, and each event takes time");
        }
    }
}

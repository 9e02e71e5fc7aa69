package dev.millrace.operator;

/**
 * A range of the 256 key groups, the unit of partitioning, snapshot, migration and merging. A key's group is the top
 * {@value #BITS} bits of its 64-bit hash. Tables index by the bits below: an instance owns a range of groups, so among its
 * keys the top bits hardly differ.
 *
 * @param first first group, inclusive
 * @param last last group, inclusive
 */
public record KeyGroups(int first, int last) {
    /** The bits of a hash that name its group, from the top. */
    public static final int BITS = 8;

    /** How many groups there are. */
    public static final int COUNT = 1 << BITS;

    public static final KeyGroups ALL = new KeyGroups(0, COUNT - 1);

    public KeyGroups {
        if (first < 0 || last >= COUNT || first > last) {
            throw new IllegalArgumentException("key groups " + first + ".." + last);
        }
    }

    /** The group of a key by its hash. */
    public static int of(long hash) {
        return (int) (hash >>> Long.SIZE - BITS);
    }

    /** Which of {@code parallelism} instances owns a group. */
    public static int owner(int group, int parallelism) {
        return group * parallelism / COUNT;
    }

    /** The groups that instance {@code index} of {@code parallelism} owns. */
    public static KeyGroups ownedBy(int index, int parallelism) {
        int from = (index * COUNT + parallelism - 1) / parallelism;
        int to = ((index + 1) * COUNT + parallelism - 1) / parallelism - 1;
        return new KeyGroups(from, to);
    }

    public boolean contains(int group) {
        return group >= first && group <= last;
    }
}

package dev.millrace.scheduler.assignment;

/**
 * A group of queries of one code, or a part of it: the members whose hash begins with some bits.
 *
 * @param group its number
 * @param depth how many bits; 0 for the whole group
 * @param prefix those bits, the last of them the lowest
 */
public record GroupPart(long group, int depth, int prefix) {
    /** So often a group can be split: into a million parts. */
    public static final int MOST_DEPTH = 20;

    public GroupPart {
        if (depth < 0 || depth > MOST_DEPTH || prefix < 0 || prefix >= 1 << depth) {
            throw new IllegalArgumentException("no part: " + prefix + " of " + depth + " bits");
        }
    }

    /** All members. */
    public static GroupPart whole(long group) {
        return new GroupPart(group, 0, 0);
    }

    /** The hash of a member by its number (the finaliser of MurmurHash3, Appleby): each bit halves a group about evenly. */
    public static int hash(long member) {
        long mixed = (member ^ member >>> 33) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ mixed >>> 33) * 0xc4ceb9fe1a85ec53L;
        return (int) (mixed ^ mixed >>> 33);
    }

    /** Whether a member with this hash is in it. */
    public boolean contains(int hash) {
        return depth == 0 || hash >>> Integer.SIZE - depth == prefix;
    }

    public boolean isWhole() {
        return depth == 0;
    }

    /** Whether it may be split again. */
    public boolean canSplit() {
        return depth < MOST_DEPTH;
    }

    /** One half: the members whose next bit is this. */
    public GroupPart half(int bit) {
        return new GroupPart(group, depth + 1, 2 * prefix + bit);
    }

    /** In which half a member with this hash is, which is in this part. */
    int bitOf(int hash) {
        return hash >>> Integer.SIZE - depth - 1 & 1;
    }

    /** What it is a half of; not of a whole. */
    public GroupPart parent() {
        return new GroupPart(group, depth - 1, prefix >> 1);
    }

    /** The other half of its parent; not of a whole. */
    public GroupPart sibling() {
        return new GroupPart(group, depth, prefix ^ 1);
    }
}

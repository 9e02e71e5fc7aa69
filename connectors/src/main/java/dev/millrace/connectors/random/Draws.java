package dev.millrace.connectors.random;

/**
 * Random draws by position in a stream: a Weyl sequence through two multiply-xorshift rounds. Each column has a salt of its own;
 * draw {@code n} of it is {@code mix(salt + n * STEP)}, which a loop over events computes by adding.
 *
 * @param seed of the whole stream
 */
public record Draws(long seed) {
    /** What to add per event. */
    public static final long STEP = 0x9E3779B97F4A7C15L;

    private static final long MULTIPLIER = 0xD6E8FEB86659FD93L;

    /** The salt of a column, by a number that is its own. */
    public long salt(int column) {
        return mix(mix(seed) + column * STEP);
    }

    public static long draw(long salt, long event) {
        return mix(salt + event * STEP);
    }

    public static long mix(long state) {
        long z = (state ^ state >>> 32) * MULTIPLIER;
        z = (z ^ z >>> 32) * MULTIPLIER;
        return z ^ z >>> 32;
    }

    /** A number from 0 to {@code bound - 1}, from the low half of a draw; the high half stays for decisions. */
    public static long below(long draw, long bound) {
        return (draw & 0xFFFF_FFFFL) * bound >>> 32;
    }
}

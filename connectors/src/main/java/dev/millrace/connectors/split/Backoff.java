package dev.millrace.connectors.split;

/**
 * How long to wait before a peer that failed is asked again: twice as long each time, up to a most, and up to a quarter less, by chance,
 * so that those who lost the same peer do not come back at one moment. Owned by one thread.
 */
public final class Backoff {
    private static final long MULTIPLIER = 0x9e3779b97f4a7c15L; // the golden ratio, of splitmix64

    private final long firstMillis;
    private final long mostMillis;
    private long seed;
    private int failures;

    /** @param seed of the chance: another one for each that waits */
    public Backoff(long firstMillis, long mostMillis, long seed) {
        this.firstMillis = firstMillis;
        this.mostMillis = mostMillis;
        this.seed = seed;
    }

    /** It failed once more; how long to wait now. */
    public long nextMillis() {
        long wait = mostMillis;
        if (failures < 32) {
            wait = Math.min(mostMillis, firstMillis << Math.min(failures, 20));
        }
        failures++;
        seed += MULTIPLIER;
        long mixed = (seed ^ seed >>> 30) * 0xbf58476d1ce4e5b9L;
        return wait - Math.floorMod(mixed ^ mixed >>> 27, wait / 4 + 1);
    }

    /** It worked. */
    public void succeeded() {
        failures = 0;
    }

    /** Failures since it worked. */
    public int failures() {
        return failures;
    }
}

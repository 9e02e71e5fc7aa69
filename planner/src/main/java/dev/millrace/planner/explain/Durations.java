package dev.millrace.planner.explain;

/** Durations as people write them. */
final class Durations {
    private static final long[] UNITS = {86_400_000_000L, 3_600_000_000L, 60_000_000L, 1_000_000L, 1_000L, 1L};
    private static final String[] NAMES = {"d", "h", "min", "s", "ms", "us"};

    private Durations() {}

    /** Such as {@code 10 s}, {@code 1 min 30 s}; microseconds. */
    static String text(long micros) {
        if (micros == 0) {
            return "0 s";
        }
        StringBuilder text = new StringBuilder();
        long rest = micros;
        for (int unit = 0; unit < UNITS.length; unit++) {
            long count = rest / UNITS[unit];
            rest %= UNITS[unit];
            if (count != 0) {
                text.append(text.isEmpty() ? "" : " ").append(count).append(' ').append(NAMES[unit]);
            }
        }
        return text.toString();
    }
}

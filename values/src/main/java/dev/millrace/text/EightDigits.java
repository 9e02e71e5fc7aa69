package dev.millrace.text;

/**
 * Up to eight decimal digits in the bytes of a word, first digit lowest, handled at once (after D. Lemire, "Number
 * parsing at a gigabyte per second", 2021, section 3). A word is given XORed with {@link #ZEROS}, so that its digits are
 * 0 to 9.
 */
final class EightDigits {
    static final long ZEROS = 0x3030303030303030L;

    private static final long SIXES = 0x0606060606060606L;
    private static final long HIGH_NIBBLES = 0xf0f0f0f0f0f0f0f0L;
    private static final long PAIRS = 0x000000ff000000ffL;

    private EightDigits() {}

    /** How many digits the word begins with, 0 to 8. A carry out of what is no digit only reaches bytes behind it. */
    static int run(long word) {
        return Long.numberOfTrailingZeros((word | word + SIXES) & HIGH_NIBBLES) >>> 3;
    }

    /** The value of the first {@code count} digits, 1 to 8. */
    static long value(long word, int count) {
        long padded = word << 64 - 8 * count; // zeros before
        long pairs = padded * 10 + (padded >>> 8);
        return (pairs & PAIRS) * (100 + (1_000_000L << 32)) + (pairs >>> 16 & PAIRS) * (1 + (10_000L << 32)) >>> 32;
    }
}

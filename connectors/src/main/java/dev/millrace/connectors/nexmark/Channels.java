package dev.millrace.connectors.nexmark;

import dev.millrace.connectors.random.Draws;
import dev.millrace.memory.Memory;

/**
 * The channels that bids come through: half of the bids through one of four hot ones, the rest through one of 10,000
 * called {@code channel-N}. Each has one url, {@code https://www.nexmark.com/aaaaa/bbbbb/ccccc/item.htm?...}, of 60 to 70
 * bytes; nine in ten of those of the others name the channel in {@code &channel_id=N}.
 */
final class Channels {
    /** The longest name, rounded up to what is written at once. */
    static final int NAME_BYTES = 16;

    /** The longest url, rounded up to what is written at once. */
    static final int URL_BYTES = 80;

    private static final String[] HOT = {"Google", "Facebook", "Baidu", "Apple"};
    private static final int OTHERS = 10_000;
    private static final String PREFIX = "channel-"; // eight bytes, so the digits are the second word of a name
    private static final long[] NAME_FIRST = new long[OTHERS + HOT.length];
    private static final long[] NAME_SECOND = new long[OTHERS + HOT.length];
    private static final byte[] NAME_LENGTH = new byte[OTHERS + HOT.length];

    private static final long SALT = 0x6E65786D61726BL;
    private static final long SITE_0 = LetterPool.packed("https://");
    private static final long SITE_1 = LetterPool.packed("www.nexm");
    private static final long SITE_2 = LetterPool.packed("ark.com/");
    private static final int SITE_BYTES = 24;
    private static final long FIVE_LETTERS = 0xFF_FFFF_FFFFL;
    private static final long SLASH_AFTER_FIVE = (long) '/' << 40;
    private static final int PART_BYTES = 6;

    /** The two ends of a url, three words each: without the channel, and with its digits to follow. */
    private static final long[] END = {
        LetterPool.packed("item.htm"), LetterPool.packed("?query=1"), LetterPool.packed("23"),
        LetterPool.packed("item.htm"), LetterPool.packed("?q=1&cha"), LetterPool.packed("nnel_id="),
    };

    private static final int END_BYTES_WITHOUT = 18;
    private static final int END_BYTES_WITH = 24;

    static {
        for (int i = 0; i < OTHERS + HOT.length; i++) {
            String name = i < OTHERS ? PREFIX + i : HOT[i - OTHERS];
            NAME_FIRST[i] = LetterPool.packed(name.substring(0, Math.min(8, name.length())));
            NAME_SECOND[i] = LetterPool.packed(name.substring(Math.min(8, name.length())));
            NAME_LENGTH[i] = (byte) name.length();
        }
    }

    private Channels() {}

    /** The channel a draw stands for. */
    static int choose(long draw) {
        int other = (int) Draws.below(draw, OTHERS);
        int hot = OTHERS + (int) (draw >>> 60 & 3);
        int oneInTwo = (int) (draw >> 63);
        return other ^ (other ^ hot) & oneInTwo;
    }

    /** Writes a channel's name, 16 bytes at most; returns its length. */
    static int writeName(int channel, long to) {
        Memory.putLong(to, NAME_FIRST[channel]);
        Memory.putLong(to + 8, NAME_SECOND[channel]);
        return NAME_LENGTH[channel];
    }

    /** Writes a channel's url, 74 bytes at most; returns its length. */
    static int writeUrl(int channel, long to) {
        long draw = Draws.draw(SALT, channel);
        Memory.putLong(to, SITE_0);
        Memory.putLong(to + 8, SITE_1);
        Memory.putLong(to + 16, SITE_2);
        long part = to + SITE_BYTES;
        Memory.putLong(part, LetterPool.eight(LetterPool.place(draw, 0)) & FIVE_LETTERS | SLASH_AFTER_FIVE);
        Memory.putLong(
                part + PART_BYTES, LetterPool.eight(LetterPool.place(draw, 13)) & FIVE_LETTERS | SLASH_AFTER_FIVE);
        Memory.putLong(
                part + 2 * PART_BYTES, LetterPool.eight(LetterPool.place(draw, 26)) & FIVE_LETTERS | SLASH_AFTER_FIVE);
        // All without branches: is it one of the others, and not the one in ten that keeps its channel to itself?
        int isOther = channel - OTHERS >>> 31;
        int names = isOther & (int) ((draw >>> 40) * 10 - (1L << 24) >>> 63 ^ 1);
        long end = part + 3 * PART_BYTES;
        Memory.putLong(end, END[3 * names]);
        Memory.putLong(end + 8, END[3 * names + 1]);
        Memory.putLong(end + 16, END[3 * names + 2]);
        Memory.putLong(end + 24, NAME_SECOND[channel]);
        int digits = NAME_LENGTH[channel] - PREFIX.length();
        return SITE_BYTES + 3 * PART_BYTES + END_BYTES_WITHOUT + names * (END_BYTES_WITH - END_BYTES_WITHOUT + digits);
    }
}

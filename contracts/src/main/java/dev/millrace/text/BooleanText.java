package dev.millrace.text;

import dev.millrace.batch.Memory;

/** Boolean words: any unique prefix of true, false, yes, no, on, off; 1 and 0; upper or lower case. */
final class BooleanText {
    private BooleanText() {}

    static int parse(long address, long limit, ValueParser out) {
        long at = Blanks.skip(address, limit);
        long end = Blanks.trimEnd(at, limit);
        int length = (int) Math.min(8, end - at);
        if (length == 0) {
            return ValueParser.SYNTAX;
        }
        byte first = (byte) (Memory.getByte(at) | 0x20);
        if (length == 1 && (first == '1' || first == '0')) {
            return is(first == '1', out);
        }
        return switch (first) {
            case 't' -> prefix(at, length, "true", 1) ? is(true, out) : ValueParser.SYNTAX;
            case 'f' -> prefix(at, length, "false", 1) ? is(false, out) : ValueParser.SYNTAX;
            case 'y' -> prefix(at, length, "yes", 1) ? is(true, out) : ValueParser.SYNTAX;
            case 'n' -> prefix(at, length, "no", 1) ? is(false, out) : ValueParser.SYNTAX;
            case 'o' -> {
                if (prefix(at, length, "on", 2)) {
                    yield is(true, out);
                }
                yield prefix(at, length, "off", 2) ? is(false, out) : ValueParser.SYNTAX;
            }
            default -> ValueParser.SYNTAX;
        };
    }

    private static int is(boolean value, ValueParser out) {
        out.low = value ? 1 : 0;
        return ValueParser.OK;
    }

    private static boolean prefix(long at, int length, String word, int atLeast) {
        if (length < atLeast || length > word.length()) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if ((Memory.getByte(at + i) | 0x20) != word.charAt(i)) {
                return false;
            }
        }
        return true;
    }
}

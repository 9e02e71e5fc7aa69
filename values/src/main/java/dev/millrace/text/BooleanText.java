package dev.millrace.text;

import dev.millrace.memory.Memory;

/** Boolean words: any unique prefix of true, false, yes, no, on, off; 1 and 0; upper or lower case. */
final class BooleanText {
    private BooleanText() {}

    static int parse(long address, long limit, ValueParser out) {
        long at = Blanks.skip(address, limit);
        long end = Blanks.trimEnd(at, limit);
        if (at == end) {
            return ValueParser.SYNTAX;
        }
        byte first = Memory.getByte(at);
        boolean digit = end - at == 1 && (first == '1' || first == '0');
        if (digit) {
            return is(first == '1', out);
        }
        if (WordBytes.prefixOf(at, end, "true", 1)
                || WordBytes.prefixOf(at, end, "yes", 1)
                || WordBytes.prefixOf(at, end, "on", 2)) {
            return is(true, out);
        }
        if (WordBytes.prefixOf(at, end, "false", 1)
                || WordBytes.prefixOf(at, end, "no", 1)
                || WordBytes.prefixOf(at, end, "off", 2)) {
            return is(false, out);
        }
        return ValueParser.SYNTAX;
    }

    private static int is(boolean value, ValueParser out) {
        out.low = value ? 1 : 0;
        return ValueParser.OK;
    }
}

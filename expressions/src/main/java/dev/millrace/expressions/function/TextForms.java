package dev.millrace.expressions.function;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Locale;
import java.util.regex.Pattern;

/** Texts in forms that people and the web read, and parts of texts by places that may be counted from the end. */
public final class TextForms {
    private static final Pattern ACCENTS = Pattern.compile("\\p{Mn}+");
    private static final String UNRESERVED = "-_.~";
    private static final char[] BLOCKS = {' ', '\u258f', '\u258e', '\u258d', '\u258c', '\u258b', '\u258a', '\u2589'};
    private static final int PARTS_OF_BLOCK = 8;
    private static final int WIDEST_BAR = 1000;

    private TextForms() {}

    public static void withoutAccents(long address, int length, Text out) {
        String decomposed = Normalizer.normalize(Text.read(address, length), Normalizer.Form.NFD);
        out.write(Normalizer.normalize(ACCENTS.matcher(decomposed).replaceAll(""), Normalizer.Form.NFC));
    }

    /** With {@code %XX} for all but letters, digits and {@code -_.~}. */
    public static void urlEncode(long address, int length, Text out) {
        TextBuffer buffer = out.begin();
        for (int i = 0; i < length; i++) {
            int c = Memory.getByte(address + i) & 0xff;
            boolean kept = c < 128 && (Character.isLetterOrDigit(c) || UNRESERVED.indexOf(c) >= 0);
            if (kept) {
                buffer.append((byte) c);
            } else {
                buffer.appendAscii(String.format(Locale.ROOT, "%%%02X", c));
            }
        }
        out.written();
    }

    /** What is no such escape stays. */
    public static void urlDecode(long address, int length, Text out) {
        byte[] decoded = new byte[length];
        int count = 0;
        for (int i = 0; i < length; i++) {
            byte c = Memory.getByte(address + i);
            int high = i + 2 < length ? Character.digit(Memory.getByte(address + i + 1), 16) : -1;
            int low = i + 2 < length ? Character.digit(Memory.getByte(address + i + 2), 16) : -1;
            if (c == '%' && high >= 0 && low >= 0) {
                decoded[count++] = (byte) (high << 4 | low);
                i += 2;
            } else {
                decoded[count++] = c;
            }
        }
        out.write(new String(decoded, 0, count, StandardCharsets.UTF_8));
    }

    /** A number in digits of a base from 2 to 36. */
    public static void toBase(long value, int base, Text out) {
        if (base < Character.MIN_RADIX || base > Character.MAX_RADIX) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "the base of a number must be from 2 to 36, not " + base);
        }
        if (value < 0) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "a number in another base must not be negative");
        }
        out.write(Long.toString(value, base).toUpperCase(Locale.ROOT));
    }

    /** A number of bytes in units of 1024. */
    public static void binarySize(long bytes, Text out) {
        out.write(size(bytes, 1024, new String[] {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}));
    }

    /** A number of bytes in units of 1000. */
    public static void decimalSize(long bytes, Text out) {
        out.write(size(bytes, 1000, new String[] {"kB", "MB", "GB", "TB", "PB", "EB"}));
    }

    private static String size(long bytes, int unit, String[] names) {
        long whole = Math.abs(Math.max(bytes, -Long.MAX_VALUE));
        String sign = bytes < 0 ? "-" : "";
        if (whole < unit) {
            return sign + whole + (whole == 1 ? " byte" : " bytes");
        }
        long scale = unit;
        int name = 0;
        while (whole / scale >= unit) {
            scale *= unit;
            name++;
        }
        long tenths = whole % scale / (scale / 10 == 0 ? 1 : scale / 10);
        return sign + whole / scale + "." + Math.min(9, tenths) + " " + names[name];
    }

    /** A bar of 80 blocks at the most. */
    public static void bar(double value, double least, double most, Text out) {
        bar(value, least, most, 80, out);
    }

    /** A bar that is so wide where the value is the most. */
    public static void bar(double value, double least, double most, double width, Text out) {
        if (!(width >= 1 && width <= WIDEST_BAR) || !(least < most)) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE,
                    "a bar has a least value, a greater most value, and a width from 1 to " + WIDEST_BAR);
        }
        double share = Double.isNaN(value) ? 0 : Math.min(1, Math.max(0, (value - least) / (most - least)));
        long parts = (long) (share * width * PARTS_OF_BLOCK);
        StringBuilder bar = new StringBuilder();
        for (long i = 0; i < parts / PARTS_OF_BLOCK; i++) {
            bar.append('\u2588');
        }
        if (parts % PARTS_OF_BLOCK > 0) {
            bar.append(BLOCKS[(int) (parts % PARTS_OF_BLOCK)]);
        }
        while (bar.length() < (int) width) {
            bar.append(' ');
        }
        out.write(bar.toString());
    }

    /** A pattern of {@code *}, {@code ?} and {@code [a-z]} as a regular expression. */
    public static void globPattern(long address, int length, Text out) {
        String glob = Text.read(address, length);
        StringBuilder pattern = new StringBuilder("^");
        boolean inSet = false;
        for (int i = 0; i < glob.length(); i++) {
            char c = glob.charAt(i);
            if (inSet) {
                pattern.append(c == '\\' ? "\\\\" : String.valueOf(c));
                inSet = c != ']';
            } else if (c == '*') {
                pattern.append("(.|\\n)*");
            } else if (c == '?') {
                pattern.append("(.|\\n)");
            } else if (c == '[' && glob.indexOf(']', i) > 0) {
                boolean not = i + 1 < glob.length() && glob.charAt(i + 1) == '!';
                pattern.append(not ? "[^" : "[");
                i += not ? 1 : 0;
                inSet = true;
            } else {
                pattern.append(Character.isLetterOrDigit(c) || c > 127 ? "" : "\\")
                        .append(c);
            }
        }
        out.write(pattern.append('$').toString());
    }

    /**
     * Characters from one place to another, both included. Places are counted from 1, negative ones from the end, where -1
     * is the last character.
     */
    public static void slice(long address, int length, int from, int to, Text out) {
        long characters = Utf8.characters(address, length);
        long first = Math.max(1, from < 0 && from > Integer.MIN_VALUE ? characters + 1 + from : from);
        long last = Math.min(characters, to < 0 ? characters + 1 + to : to);
        if (last < first) {
            out.empty();
            return;
        }
        int start = Texts.offsetOf(address, length, first - 1);
        int end = Texts.offsetOf(address, length, last);
        out.slice(address + start, end - start);
    }
}

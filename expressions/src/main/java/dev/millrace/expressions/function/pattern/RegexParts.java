package dev.millrace.expressions.function.pattern;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.expressions.function.Texts;
import dev.millrace.expressions.function.regex.Regex;
import dev.millrace.expressions.function.regex.RegexFlags;
import dev.millrace.expressions.function.regex.RegexMatcher;
import dev.millrace.text.TextBuffer;
import dev.millrace.text.Utf8;

/** The regexp functions that begin at a character or ask for the n-th match; a start counts characters from 1. */
public final class RegexParts {
    private final Pattern pattern = new Pattern();
    private final Pattern flags = new Pattern();
    private RegexFlags options = RegexFlags.NONE;

    @SuppressWarnings("NullAway.Init") // by prepare, which generated code calls first
    private RegexMatcher matcher;

    public void prepare(long patternAddress, int patternLength, long flagsAddress, int flagsLength) {
        if (pattern.changed(patternAddress, patternLength) | flags.changed(flagsAddress, flagsLength)) {
            pattern.forget();
            options = RegexFlags.NONE.with(flags.text());
            matcher = new RegexMatcher(Regex.compile(pattern.text(), options));
            pattern.remember();
        }
    }

    private static void atLeast(String name, int value, int least) {
        if (value < least) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "invalid value for parameter \"" + name + "\": " + value);
        }
    }

    /** Whether the n-th match from a character on is there; the matcher is at it. */
    private boolean find(long address, int length, int start, int n) {
        atLeast("start", start, 1);
        atLeast("n", n, 1);
        matcher.reset(address, length);
        int from = offset(address, length, start);
        for (int i = 0; i < n; i++) {
            if (from > length || !matcher.find(from)) {
                return false;
            }
            from = behind(address, length);
        }
        return true;
    }

    private static int offset(long address, int length, int start) {
        int characters = Utf8.characters(address, length);
        return start - 1 > characters ? length + 1 : Texts.offsetOf(address, length, start - 1L);
    }

    private int behind(long address, int length) {
        return matcher.end() > matcher.start() ? matcher.end() : RegexFunction.after(address, length, matcher.end());
    }

    /** {@code regexp_substr}: a group of the n-th match, 0 is all of it; NULL when it is not there. */
    public boolean part(long address, int length, int start, int n, int group, Text out) {
        options.requireNotGlobal("regexp_substr");
        atLeast("subexpr", group, 0);
        if (!find(address, length, start, n) || group > matcher.groups() || matcher.start(group) < 0) {
            return false;
        }
        out.slice(address + matcher.start(group), matcher.end(group) - matcher.start(group));
        return true;
    }

    /** {@code regexp_instr}: the character where a group of the n-th match begins, or the one behind it; else 0. */
    public int place(long address, int length, int start, int n, int end, int group) {
        options.requireNotGlobal("regexp_instr");
        if (end != 0 && end != 1) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "invalid value for parameter \"endoption\": " + end);
        }
        atLeast("subexpr", group, 0);
        if (!find(address, length, start, n) || group > matcher.groups() || matcher.start(group) < 0) {
            return 0;
        }
        return Utf8.characters(address, end == 1 ? matcher.end(group) : matcher.start(group)) + 1;
    }

    public int count(long address, int length, int start) {
        options.requireNotGlobal("regexp_count");
        atLeast("start", start, 1);
        matcher.reset(address, length);
        int count = 0;
        int from = offset(address, length, start);
        while (from <= length && matcher.find(from)) {
            count++;
            from = behind(address, length);
        }
        return count;
    }

    /** Replaces the n-th match from a character on; 0 is all. */
    public void replace(long address, int length, long with, int withLength, int start, int n, Text out) {
        atLeast("start", start, 1);
        atLeast("n", n, 0);
        matcher.reset(address, length);
        TextBuffer buffer = out.begin();
        int done = 0;
        int number = 0;
        int from = offset(address, length, start);
        while (from <= length && matcher.find(from)) {
            number++;
            if (n == 0 || number == n) {
                buffer.append(address + done, matcher.start() - done);
                RegexReplacement.append(matcher, address, with, withLength, buffer);
                done = matcher.end();
            }
            if (number == n) {
                break;
            }
            from = behind(address, length);
        }
        buffer.append(address + done, length - done);
        Texts.checkLength(buffer.length());
        out.written();
    }
}

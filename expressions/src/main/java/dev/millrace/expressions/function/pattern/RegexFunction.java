package dev.millrace.expressions.function.pattern;

import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.expressions.function.Texts;
import dev.millrace.expressions.function.regex.Regex;
import dev.millrace.expressions.function.regex.RegexFlags;
import dev.millrace.expressions.function.regex.RegexMatcher;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.nested.ImageWriter;
import dev.millrace.text.TextBuffer;

/** Functions of a text and a regular expression, which is compiled when it changes: once, if it is a literal. */
public final class RegexFunction {
    private final Pattern pattern = new Pattern();
    private final Pattern flags = new Pattern();
    private RegexFlags options = RegexFlags.NONE;

    @SuppressWarnings("NullAway.Init") // by prepare, which generated code calls first
    private RegexMatcher matcher;

    public void prepare(long patternAddress, int patternLength) {
        if (pattern.changed(patternAddress, patternLength)) {
            compile(RegexFlags.NONE);
        }
    }

    public void prepare(long patternAddress, int patternLength, long flagsAddress, int flagsLength) {
        if (pattern.changed(patternAddress, patternLength) | flags.changed(flagsAddress, flagsLength)) {
            compile(RegexFlags.NONE.with(flags.text()));
        }
    }

    private void compile(RegexFlags given) {
        pattern.forget();
        options = given;
        matcher = new RegexMatcher(Regex.compile(pattern.text(), given));
        pattern.remember();
    }

    private boolean find(long address, int length) {
        matcher.reset(address, length);
        return matcher.find(0);
    }

    public boolean matches(long address, int length) {
        options.requireNotGlobal("regexp_like");
        matcher.reset(address, length);
        return matcher.matches();
    }

    /** How many matches there are, each beginning where the last one ended. */
    public int count(long address, int length) {
        matcher.reset(address, length);
        int count = 0;
        int from = 0;
        while (from <= length && matcher.find(from)) {
            Interrupt.checkSometimes(++count);
            from = matcher.end() > matcher.start() ? matcher.end() : after(address, length, matcher.end());
        }
        return count;
    }

    /** The place behind the character at a place. */
    static int after(long address, int length, int at) {
        return at >= length ? length + 1 : at + Texts.characterBytes(Memory.getByte(address + at));
    }

    /** The first match; NULL when there is none. */
    public boolean first(long address, int length, Text out) {
        return find(address, length) && take(0, address, out);
    }

    /** The first match. */
    public boolean group(long address, int length, Text out) {
        return first(address, length, out);
    }

    /** A group of the first match; NULL when there is no match, no such group, or it took no part. */
    public boolean group(long address, int length, int group, Text out) {
        return group >= 0 && group <= matcher.groups() && find(address, length) && take(group, address, out);
    }

    /** What the first group matched, or all when there is no group; NULL when nothing matches. */
    public boolean substring(long address, int length, Text out) {
        return find(address, length) && take(Math.min(1, matcher.groups()), address, out);
    }

    private boolean take(int group, long address, Text out) {
        int start = matcher.start(group);
        if (start < 0) {
            return false;
        }
        out.slice(address + start, matcher.end(group) - start);
        return true;
    }

    /** {@code regexp_match}: the groups of the first match as an array, or all of it when there is no group. */
    public boolean groups(long address, int length, Text out) {
        options.requireNotGlobal("regexp_match");
        if (!find(address, length)) {
            return false;
        }
        TextBuffer buffer = out.begin();
        writeGroups(buffer, address);
        out.written();
        return true;
    }

    private void writeGroups(TextBuffer buffer, long address) {
        int first = Math.min(1, matcher.groups());
        ImageWriter.int32(buffer, Math.max(1, matcher.groups()));
        for (int group = first; group <= matcher.groups(); group++) {
            if (matcher.start(group) < 0) {
                ImageWriter.nothing(buffer);
            } else {
                ImageWriter.some(buffer);
                ImageWriter.bytes(buffer, address + matcher.start(group), matcher.end(group) - matcher.start(group));
            }
        }
    }

    /**
     * {@code regexp_matches} unless the flag g is a constant: as {@link #groups}, in an array that is empty without a match; or
     * all, where the flag is among the row's.
     */
    public void firstGroups(long address, int length, Text out) {
        if (options.global()) {
            allGroups(address, length, out);
            return;
        }
        TextBuffer buffer = out.begin();
        boolean found = find(address, length);
        ImageWriter.int32(buffer, found ? 1 : 0);
        if (found) {
            ImageWriter.some(buffer);
            writeGroups(buffer, address);
        }
        out.written();
    }

    /** {@code regexp_matches} with the flag g: the groups of every match, each as {@link #groups} gives them. */
    public void allGroups(long address, int length, Text out) {
        matcher.reset(address, length);
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, 0);
        int count = 0;
        int from = 0;
        while (from <= length && matcher.find(from)) {
            Interrupt.checkSometimes(++count);
            ImageWriter.some(buffer);
            writeGroups(buffer, address);
            from = matcher.end() > matcher.start() ? matcher.end() : after(address, length, matcher.end());
        }
        ImageWriter.patchInt32(buffer, 0, count);
        out.written();
    }

    /** {@code regexp_split_to_array}: what lies between matches; an empty match at the start or end does not split. */
    public void split(long address, int length, Text out) {
        options.requireNotGlobal("regexp_split_to_array");
        matcher.reset(address, length);
        TextBuffer buffer = out.begin();
        ImageWriter.int32(buffer, 0);
        int count = 0;
        int from = 0;
        int pieceStart = 0;
        while (from <= length && matcher.find(from)) {
            boolean empty = matcher.end() == matcher.start();
            if (!empty || matcher.start() > pieceStart && matcher.start() < length) {
                ImageWriter.some(buffer);
                ImageWriter.bytes(buffer, address + pieceStart, matcher.start() - pieceStart);
                Interrupt.checkSometimes(++count);
                pieceStart = matcher.end();
            }
            from = empty ? after(address, length, matcher.end()) : matcher.end();
        }
        ImageWriter.some(buffer);
        ImageWriter.bytes(buffer, address + pieceStart, length - pieceStart);
        ImageWriter.patchInt32(buffer, 0, count + 1);
        out.written();
    }
}

package dev.millrace.expressions.function.pattern;

import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.Text;
import dev.millrace.expressions.function.Texts;
import dev.millrace.expressions.function.regex.Regex;
import dev.millrace.expressions.function.regex.RegexFlags;
import dev.millrace.expressions.function.regex.RegexMatcher;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.text.TextBuffer;

/** REGEXP_REPLACE: {@code \1} to {@code \9} in the replacement are groups, {@code \&} is all of the match. */
public final class RegexReplacement {
    private final Pattern pattern = new Pattern();
    private final Pattern flags = new Pattern();

    @SuppressWarnings("NullAway.Init") // by prepare, which generated code calls first
    private RegexMatcher matcher;

    private boolean all;

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

    private void compile(RegexFlags options) {
        pattern.forget();
        matcher = new RegexMatcher(Regex.compile(pattern.text(), options));
        all = options.global();
        pattern.remember();
    }

    public void replace(long address, int length, long replacement, int replacementLength, Text out) {
        matcher.reset(address, length);
        if (!matcher.find(0)) {
            out.slice(address, length);
            return;
        }
        TextBuffer buffer = out.begin();
        int done = 0;
        int from;
        int found = 0;
        do {
            if ((++found & 1023) == 0) {
                Interrupt.checkCurrent();
                Texts.checkLength(buffer.length());
            }
            buffer.append(address + done, matcher.start() - done);
            append(matcher, address, replacement, replacementLength, buffer);
            done = matcher.end();
            from = done > matcher.start() ? done : RegexFunction.after(address, length, done);
        } while (all && from <= length && matcher.find(from));
        buffer.append(address + done, length - done);
        Texts.checkLength(buffer.length());
        out.written();
    }

    /** Writes a replacement for what a matcher found. */
    static void append(RegexMatcher matcher, long address, long replacement, int length, TextBuffer buffer) {
        for (int at = 0; at < length; at++) {
            byte c = Memory.getByte(replacement + at);
            if (c != '\\' || at + 1 == length) {
                buffer.append(c);
                continue;
            }
            byte next = Memory.getByte(replacement + ++at);
            int group = next == '&' ? 0 : next >= '1' && next <= '9' ? next - '0' : -1;
            if (group < 0) {
                if (next != '\\') {
                    buffer.append(c);
                }
                buffer.append(next);
            } else if (group <= matcher.groups() && matcher.start(group) >= 0) {
                buffer.append(address + matcher.start(group), matcher.end(group) - matcher.start(group));
            }
        }
    }
}

package dev.millrace.expressions.function.pattern;

import dev.millrace.expressions.function.Pattern;
import dev.millrace.expressions.function.regex.Regex;
import dev.millrace.expressions.function.regex.RegexFlags;
import dev.millrace.expressions.function.regex.RegexMatcher;

/** The operator {@code ~*}: a regular expression without regard to case. */
public final class CaselessRegexFunction {
    private final Pattern pattern = new Pattern();

    @SuppressWarnings("NullAway.Init") // by prepare, which generated code calls first
    private RegexMatcher matcher;

    public void prepare(long patternAddress, int patternLength) {
        if (pattern.changed(patternAddress, patternLength)) {
            pattern.forget();
            matcher = new RegexMatcher(Regex.compile(pattern.text(), RegexFlags.IGNORE_CASE));
            pattern.remember();
        }
    }

    public boolean matches(long address, int length) {
        matcher.reset(address, length);
        return matcher.matches();
    }
}

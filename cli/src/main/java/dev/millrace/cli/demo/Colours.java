package dev.millrace.cli.demo;

import org.jline.utils.AttributedStyle;

/**
 * The colours of a series: good below {@code warn}, then yellow, from {@code alarm} on red.
 *
 * @param warn in the unit of the series
 * @param alarm in the unit of the series
 */
record Colours(double warn, double alarm) {
    static final AttributedStyle PLAIN = AttributedStyle.DEFAULT;
    static final AttributedStyle FAINT =
            AttributedStyle.DEFAULT.foreground(AttributedStyle.BRIGHT | AttributedStyle.BLACK);
    static final AttributedStyle TITLE = AttributedStyle.BOLD.foreground(AttributedStyle.CYAN);
    static final AttributedStyle KEYWORD = AttributedStyle.DEFAULT.foreground(AttributedStyle.BLUE);
    static final AttributedStyle GOOD = AttributedStyle.DEFAULT.foreground(AttributedStyle.GREEN);
    static final AttributedStyle WARN = AttributedStyle.DEFAULT.foreground(AttributedStyle.YELLOW);
    static final AttributedStyle ALARM = AttributedStyle.BOLD.foreground(AttributedStyle.RED);

    /** For percentages of something that may be busy. */
    static final Colours LOAD = new Colours(60, 85);

    /** For what has no bad values. */
    static final Colours CALM = new Colours(Double.MAX_VALUE, Double.MAX_VALUE);

    AttributedStyle of(double value) {
        if (value >= alarm) {
            return ALARM;
        }
        return value >= warn ? WARN : GOOD;
    }
}

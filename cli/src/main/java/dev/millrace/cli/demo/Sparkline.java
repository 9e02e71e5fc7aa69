package dev.millrace.cli.demo;

import java.util.ArrayList;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** The last values of a series as bars, a cell wide and one or more high. */
final class Sparkline {
    private static final String BARS = "▁▂▃▄▅▆▇█";

    private Sparkline() {}

    /**
     * Draws the newest values at the right end.
     *
     * @param full the value of the tallest bar
     * @param cells width; cells before the first value stay empty
     * @param rows height; the first line is the top
     */
    static List<AttributedString> draw(double[] values, double full, int cells, int rows, Colours colours) {
        int from = Math.max(0, values.length - cells);
        int levels = rows * BARS.length();
        List<AttributedString> lines = new ArrayList<>(rows);
        for (int row = rows - 1; row >= 0; row--) {
            AttributedStringBuilder line = new AttributedStringBuilder(cells);
            line.append(" ".repeat(Math.max(0, cells - values.length)));
            for (int at = from; at < values.length; at++) {
                double share = full <= 0 ? 0 : Math.max(0, Math.min(1, values[at] / full));
                // The lowest eighth is always there, so that one sees where values begin.
                int level = Math.max(1, (int) Math.round(share * levels)) - row * BARS.length();
                char bar = level <= 0 ? ' ' : BARS.charAt(Math.min(level, BARS.length()) - 1);
                line.append(String.valueOf(bar), colours.of(values[at]));
            }
            lines.add(line.toAttributedString());
        }
        return lines;
    }

    /** The same in one line. */
    static AttributedString draw(double[] values, double full, int cells, Colours colours) {
        return draw(values, full, cells, 1, colours).get(0);
    }

    /** A bar that is full to a share, in eighths of a cell. */
    static AttributedString gauge(double share, int cells, AttributedStyle style) {
        int eighths = (int) Math.round(Math.max(0, Math.min(1, share)) * cells * 8);
        StringBuilder bar = new StringBuilder("█".repeat(eighths / 8));
        if (eighths % 8 > 0) {
            bar.append(" ▏▎▍▌▋▊▉".charAt(eighths % 8));
        }
        AttributedStringBuilder line = new AttributedStringBuilder();
        line.append(bar, style);
        line.append("·".repeat(cells - bar.length()), Colours.FAINT);
        return line.toAttributedString();
    }
}

package dev.millrace.cli.plot;

import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Locale;
import java.util.stream.DoubleStream;

/**
 * Lines over a number or a time, as SVG; where a line has bounds, what lies between them is shaded. Values that are not finite are gaps. One
 * picture, one thread.
 */
final class SvgPlot {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 360;
    private static final int LEFT = 60;
    private static final int RIGHT = 150;
    private static final int TOP = 20;
    private static final int BOTTOM = 40;
    private static final int TICKS = 6;
    private static final List<String> COLOURS =
            List.of("#1b6ca8", "#c8442f", "#3d8b4f", "#8a5ba6", "#b8860b", "#4d4d4d");
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final DateTimeFormatter DATE =
            DateTimeFormatter.ofPattern("MM-dd HH:mm", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final double DAY_SECONDS = 86_400;

    private final double[] x;
    private final boolean isTime;
    private final List<Line> lines;
    private final double xLow;
    private final double xHigh;
    private final double yLow;
    private final double yHigh;
    private final StringBuilder svg = new StringBuilder();

    /**
     * A line, one value for each place.
     *
     * @param low the lower bounds of the values; empty for a line that has none
     * @param high the upper ones
     */
    record Line(String name, double[] y, double[] low, double[] high) {
        /** One without bounds. */
        Line(String name, double[] y) {
            this(name, y, new double[0], new double[0]);
        }

        boolean isBounded() {
            return low.length > 0;
        }
    }

    private SvgPlot(double[] x, boolean isTime, List<Line> lines) {
        this.x = x;
        this.isTime = isTime;
        this.lines = lines;
        double[] finite = DoubleStream.of(x).filter(Double::isFinite).toArray();
        this.xLow = DoubleStream.of(finite).min().orElse(0);
        this.xHigh = DoubleStream.of(finite).max().orElse(1);
        double[] shown = lines.stream()
                .flatMapToDouble(line -> DoubleStream.concat(
                        DoubleStream.of(line.y()),
                        DoubleStream.concat(DoubleStream.of(line.low()), DoubleStream.of(line.high()))))
                .filter(Double::isFinite)
                .toArray();
        this.yLow = DoubleStream.of(shown).min().orElse(0);
        this.yHigh = DoubleStream.of(shown).max().orElse(1);
    }

    /**
     * The picture.
     *
     * @param x places from left to right, rising; seconds since 1970 if it is a time
     */
    static String of(String xName, double[] x, boolean isTime, List<Line> lines) {
        return new SvgPlot(x, isTime, lines).draw(xName);
    }

    private String draw(String xName) {
        append(
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">%n",
                WIDTH, HEIGHT);
        append("<rect width=\"%d\" height=\"%d\" fill=\"#ffffff\"/>%n", WIDTH, HEIGHT);
        drawAxes(xName);
        for (int i = 0; i < lines.size(); i++) {
            Line line = lines.get(i);
            String colour = COLOURS.get(i % COLOURS.size());
            if (line.isBounded()) {
                drawBounds(line, colour);
            }
            drawLine(line.y(), colour);
            int at = TOP + 12 + 18 * i;
            append(
                    "<text x=\"%d\" y=\"%d\" fill=\"%s\">%s</text>%n",
                    WIDTH - RIGHT + 10, at, colour, escaped(line.name()));
        }
        return svg.append("</svg>\n").toString();
    }

    private void drawAxes(String xName) {
        for (double tick : ticks(yLow, yHigh)) {
            double at = py(tick);
            append(
                    "<path d=\"M%d %.1fH%d\" stroke=\"#dddddd\"/><text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>%n",
                    LEFT, at, WIDTH - RIGHT, LEFT - 6, at + 4, number(tick));
        }
        for (double tick : ticks(xLow, xHigh)) {
            append(
                    "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>%n",
                    px(tick), HEIGHT - BOTTOM + 16, isTime ? time(tick) : number(tick));
        }
        append(
                "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">%s</text>%n",
                (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 6, escaped(xName));
    }

    private void drawLine(double[] y, String colour) {
        StringBuilder path = new StringBuilder();
        boolean isDown = false;
        for (int i = 0; i < x.length; i++) {
            boolean isThere = Double.isFinite(x[i]) && Double.isFinite(y[i]);
            if (isThere) {
                path.append(String.format(Locale.ROOT, "%s%.1f %.1f", isDown ? "L" : "M", px(x[i]), py(y[i])));
            }
            isDown = isThere;
        }
        append("<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"/>%n", path, colour);
    }

    /** Stretches of places where both bounds are known, forth along the upper ones and back along the lower. */
    private void drawBounds(Line line, String colour) {
        int from = 0;
        while (from < x.length) {
            int to = from;
            while (to < x.length
                    && Double.isFinite(x[to])
                    && Double.isFinite(line.low()[to])
                    && Double.isFinite(line.high()[to])) {
                to++;
            }
            if (to > from) {
                StringBuilder points = new StringBuilder();
                for (int i = from; i < to; i++) {
                    points.append(String.format(Locale.ROOT, "%.1f,%.1f ", px(x[i]), py(line.high()[i])));
                }
                for (int i = to - 1; i >= from; i--) {
                    points.append(String.format(Locale.ROOT, "%.1f,%.1f ", px(x[i]), py(line.low()[i])));
                }
                append(
                        "<polygon points=\"%s\" fill=\"%s\" fill-opacity=\"0.2\" stroke=\"none\"/>%n",
                        points.toString().strip(), colour);
            }
            from = to + 1;
        }
    }

    private double px(double value) {
        double share = xHigh > xLow ? (value - xLow) / (xHigh - xLow) : .5;
        return LEFT + share * (WIDTH - LEFT - RIGHT);
    }

    private double py(double value) {
        double share = yHigh > yLow ? (value - yLow) / (yHigh - yLow) : .5;
        return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
    }

    /** Round numbers that divide a range. */
    private static double[] ticks(double low, double high) {
        if (!(high > low)) {
            return new double[] {low};
        }
        double step = Math.pow(10, Math.floor(Math.log10((high - low) / TICKS)));
        for (double times : new double[] {1, 2, 5, 10}) {
            if ((high - low) / (step * times) <= TICKS) {
                step *= times;
                break;
            }
        }
        double width = step;
        double first = Math.ceil(low / width);
        return DoubleStream.iterate(first, at -> at * width <= high, at -> at + 1)
                .limit(2 * TICKS)
                .map(at -> at * width)
                .toArray();
    }

    private static String number(double value) {
        double rounded = Math.round(value * 1e6) / 1e6;
        return rounded == Math.rint(rounded) && Math.abs(rounded) < 1e9
                ? String.valueOf((long) rounded)
                : String.format(Locale.ROOT, "%.4g", value);
    }

    private String time(double seconds) {
        Instant at = Instant.ofEpochSecond((long) Math.floor(seconds));
        return (xHigh - xLow > DAY_SECONDS ? DATE : TIME).format(at);
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
    }

    private void append(String format, Object... values) {
        svg.append(String.format(Locale.ROOT, format, values));
    }
}

package dev.millrace.benchmarks.sketch;

import java.util.List;
import java.util.Locale;

/** Lines in a frame, as SVG. */
final class Chart {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 420;
    private static final int LEFT = 60;
    private static final int RIGHT = 150;
    private static final int TOP = 30;
    private static final int BOTTOM = 90;
    private static final String[] COLOURS = {
        "#069", "#c60", "#393", "#936", "#555", "#c33", "#39c", "#990", "#63c", "#0a8", "#844", "#111"
    };

    private Chart() {}

    /** Points joined by a line. */
    record Line(String name, double[] x, double[] y) {}

    /**
     * Draws.
     *
     * @param labels of x = 0, 1, 2 ...; empty for numbers
     */
    static String of(String title, List<Line> lines, List<String> labels) {
        double[] x = bounds(lines, true);
        double[] y = bounds(lines, false);
        StringBuilder out = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\""
                        + " font-size=\"11\">%n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n"
                        + "<text x=\"%d\" y=\"18\" font-size=\"13\">%s</text>%n",
                WIDTH,
                HEIGHT,
                LEFT,
                title));
        for (int i = 0; i <= 5; i++) {
            double value = y[0] + (y[1] - y[0]) * i / 5;
            double at = vertical(value, y);
            out.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/><text x=\"4\" y=\"%.1f\">%.4g</text>%n",
                    LEFT,
                    WIDTH - RIGHT,
                    at,
                    at,
                    at + 4,
                    value));
        }
        int ticks = labels.isEmpty() ? 6 : labels.size() - 1;
        for (int i = 0; i <= ticks; i++) {
            double value = labels.isEmpty() ? x[0] + (x[1] - x[0]) * i / ticks : i;
            String text = labels.isEmpty() ? String.format(Locale.ROOT, "%.5g", value) : labels.get(i);
            double at = horizontal(value, x);
            out.append(String.format(
                    Locale.ROOT,
                    "<text x=\"%.1f\" y=\"%d\" transform=\"rotate(35 %.1f %d)\">%s</text>%n",
                    at,
                    HEIGHT - BOTTOM + 14,
                    at,
                    HEIGHT - BOTTOM + 14,
                    text));
        }
        for (int l = 0; l < lines.size(); l++) {
            Line line = lines.get(l);
            StringBuilder points = new StringBuilder();
            for (int i = 0; i < line.x().length; i++) {
                points.append(
                        String.format(Locale.ROOT, "%.1f,%.1f ", horizontal(line.x()[i], x), vertical(line.y()[i], y)));
            }
            String colour = COLOURS[l % COLOURS.length];
            out.append(String.format(
                    Locale.ROOT,
                    "<polyline points=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.4\"/><text x=\"%d\" y=\"%d\""
                            + " fill=\"%s\">%s</text>%n",
                    points,
                    colour,
                    WIDTH - RIGHT + 10,
                    TOP + 16 + 16 * l,
                    colour,
                    line.name()));
        }
        return out + "</svg>\n";
    }

    private static double[] bounds(List<Line> lines, boolean x) {
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        for (Line line : lines) {
            for (double value : x ? line.x() : line.y()) {
                low = Math.min(low, value);
                high = Math.max(high, value);
            }
        }
        return low < high ? new double[] {low, high} : new double[] {low - 1, low + 1};
    }

    private static double horizontal(double value, double[] x) {
        return LEFT + (value - x[0]) / (x[1] - x[0]) * (WIDTH - LEFT - RIGHT);
    }

    private static double vertical(double value, double[] y) {
        return HEIGHT - BOTTOM - (value - y[0]) / (y[1] - y[0]) * (HEIGHT - TOP - BOTTOM);
    }
}

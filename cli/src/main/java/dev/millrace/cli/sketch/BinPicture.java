package dev.millrace.cli.sketch;

import dev.millrace.sketch.bins.GridBins;
import dev.millrace.sketch.csv.CsvStream;
import dev.millrace.sketch.density.KernelDensity;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.stream.DensityBins;
import dev.millrace.sketch.stream.StreamEncoder;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The bins of each number against the density of its values, as a picture (dissertation Fig. 6.3). */
final class BinPicture {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 180;
    private static final int MARGIN = 30;
    private static final int POINTS = 300;
    private static final int MOST_LINES = 2000;

    private BinPicture() {}

    static String draw(CsvStream stream, StreamEncoder encoder) {
        StringBuilder body = new StringBuilder();
        int panels = 0;
        for (int f = 0; f < stream.schema().size(); f++) {
            Feature feature = stream.schema().feature(f);
            if (feature.kind() == Feature.Kind.NUMBER || feature.kind() == Feature.Kind.WHOLE) {
                panel(body, feature, stream.values().get(f), encoder.density(f), panels++ * HEIGHT);
            }
        }
        return String.format(
                        Locale.ROOT,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\""
                                + " font-size=\"11\"><rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>%n",
                        WIDTH,
                        Math.max(1, panels) * HEIGHT)
                + body + "</svg>\n";
    }

    private static void panel(
            StringBuilder out,
            Feature feature,
            List<Optional<Object>> values,
            Optional<DensityBins> adaptive,
            int top) {
        KernelDensity density = new KernelDensity(64, 1);
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        int stride = Math.max(1, values.size() / 20_000);
        for (int i = 0; i < values.size(); i += stride) {
            double value = values.get(i).map(v -> ((Number) v).doubleValue()).orElse(Double.NaN);
            if (Double.isFinite(value)) {
                density.add(value);
                low = Math.min(low, value);
                high = Math.max(high, value);
            }
        }
        if (!(low < high)) {
            return;
        }
        double from = low;
        double scale = (WIDTH - 2.0 * MARGIN) / (high - low);
        double most = 0;
        double[] heights = new double[POINTS + 1];
        for (int i = 0; i <= POINTS; i++) {
            heights[i] = density.density(low + (high - low) * i / POINTS);
            most = Math.max(most, heights[i]);
        }
        int bottom = top + HEIGHT - MARGIN;
        for (double edge : edges(feature, adaptive, low, high)) {
            out.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%1$.1f\" x2=\"%1$.1f\" y1=\"%2$d\" y2=\"%3$d\" stroke=\"#c60\" stroke-width=\".4\"/>%n",
                    MARGIN + (edge - from) * scale,
                    top + MARGIN,
                    bottom));
        }
        StringBuilder line = new StringBuilder();
        for (int i = 0; i <= POINTS; i++) {
            double x = MARGIN + (WIDTH - 2.0 * MARGIN) * i / POINTS;
            line.append(
                    String.format(Locale.ROOT, "%.1f,%.1f ", x, bottom - heights[i] / most * (HEIGHT - 2.0 * MARGIN)));
        }
        out.append(String.format(
                Locale.ROOT,
                "<polyline points=\"%s\" fill=\"none\" stroke=\"#069\" stroke-width=\"1.5\"/>%n"
                        + "<text x=\"%d\" y=\"%d\">%s: density and bins, bound %s, %.6g to %.6g</text>%n",
                line,
                MARGIN,
                top + MARGIN - 8,
                feature.name().replace("&", "&amp;").replace("<", "&lt;"),
                feature.bound(),
                low,
                high));
    }

    private static List<Double> edges(Feature feature, Optional<DensityBins> adaptive, double low, double high) {
        List<Double> edges = new ArrayList<>();
        if (adaptive.isPresent() && adaptive.get().size() > 0) {
            edges.addAll(adaptive.get().edges());
            return edges;
        }
        double step = GridBins.step(feature.bound().amount());
        for (double bin = Math.ceil(low / step - .5);
                step > 0 && (bin + .5) * step < high && edges.size() < MOST_LINES;
                bin++) {
            edges.add((bin + .5) * step);
        }
        return edges;
    }
}

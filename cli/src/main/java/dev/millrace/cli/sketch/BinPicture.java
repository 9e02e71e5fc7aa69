package dev.millrace.cli.sketch;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.bins.GridBins;
import dev.millrace.sketch.csv.CsvStream;
import dev.millrace.sketch.density.KernelDensity;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.stream.DensityBins;
import dev.millrace.sketch.stream.StreamEncoder;
import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import javax.imageio.ImageIO;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.XYStyler;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** The bins of each number against the density of its values, as a picture (dissertation Fig. 6.3): a panel each, below each other. */
final class BinPicture {
    static final int WIDTH = 900;
    static final int PANEL_HEIGHT = 220;
    private static final int POINTS = 300;
    private static final int MOST_EDGES = 2000;
    private static final int MOST_VALUES = 20_000; // whose density is drawn

    private BinPicture() {}

    /**
     * Draws a PNG.
     *
     * @throws MillraceException if there is no number to be drawn, or this Java cannot draw
     */
    static byte[] draw(CsvStream stream, StreamEncoder encoder) {
        try {
            List<XYChart> panels = new ArrayList<>();
            for (int f = 0; f < stream.schema().size(); f++) {
                Feature feature = stream.schema().feature(f);
                if (feature.kind() == Feature.Kind.NUMBER || feature.kind() == Feature.Kind.WHOLE) {
                    panel(feature, stream.values().get(f), encoder.density(f)).ifPresent(panels::add);
                }
            }
            if (panels.isEmpty()) {
                throw MillraceException.user(
                        SqlState.INVALID_PARAMETER_VALUE, "there is no number to be drawn that has two values");
            }
            return png(panels);
        } catch (LinkageError | InternalError e) { // of AWT, where a JRE came without its libraries or without a font
            throw MillraceException.external(SqlState.IO_ERROR, "this Java cannot draw pictures: " + e.getMessage(), e);
        }
    }

    private static Optional<XYChart> panel(
            Feature feature, List<Optional<Object>> values, Optional<DensityBins> adaptive) {
        KernelDensity density = new KernelDensity(64, 1);
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        int stride = Math.max(1, values.size() / MOST_VALUES);
        for (int i = 0; i < values.size(); i += stride) {
            double value = values.get(i).map(v -> ((Number) v).doubleValue()).orElse(Double.NaN);
            if (Double.isFinite(value)) {
                density.add(value);
                low = Math.min(low, value);
                high = Math.max(high, value);
            }
        }
        if (!(low < high)) {
            return Optional.empty();
        }
        double[] places = new double[POINTS + 1];
        double[] heights = new double[POINTS + 1];
        double most = 0;
        for (int i = 0; i <= POINTS; i++) {
            places[i] = low + (high - low) * i / POINTS;
            heights[i] = density.density(places[i]);
            most = Math.max(most, heights[i]);
        }
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(PANEL_HEIGHT)
                .title(feature.name() + ": density and bins, bound " + feature.bound())
                .build();
        style(chart.getStyler(), low, high);
        List<Double> edges = edges(feature, adaptive, low, high);
        if (!edges.isEmpty()) {
            addEdges(chart, edges, most);
        }
        chart.addSeries("density", places, heights)
                .setMarker(SeriesMarkers.NONE)
                .setLineStyle(new BasicStroke(1.6f))
                .setLineColor(new Color(0x00, 0x66, 0x99));
        return Optional.of(chart);
    }

    /** A line up and down at each edge: where there is no number the line is interrupted. */
    private static void addEdges(XYChart chart, List<Double> edges, double top) {
        double[] x = new double[3 * edges.size()];
        double[] y = new double[x.length];
        for (int i = 0; i < edges.size(); i++) {
            x[3 * i] = edges.get(i);
            x[3 * i + 1] = edges.get(i);
            x[3 * i + 2] = edges.get(i);
            y[3 * i + 1] = top;
            y[3 * i + 2] = Double.NaN;
        }
        chart.addSeries("bins", x, y)
                .setMarker(SeriesMarkers.NONE)
                .setLineStyle(new BasicStroke(.5f))
                .setLineColor(new Color(0xcc, 0x66, 0x00));
    }

    private static void style(XYStyler styler, double low, double high) {
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
        styler.setPlotGridLinesVisible(false);
        styler.setLegendVisible(false);
        styler.setYAxisTicksVisible(false);
        styler.setXAxisMin(low);
        styler.setXAxisMax(high);
        styler.setChartTitleBoxVisible(false);
        styler.setChartTitleFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
        styler.setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 11));
    }

    private static byte[] png(List<XYChart> panels) {
        BufferedImage picture = new BufferedImage(WIDTH, panels.size() * PANEL_HEIGHT, BufferedImage.TYPE_INT_RGB);
        for (int i = 0; i < panels.size(); i++) {
            Graphics2D part = (Graphics2D) picture.createGraphics().create(0, i * PANEL_HEIGHT, WIDTH, PANEL_HEIGHT);
            panels.get(i).paint(part, WIDTH, PANEL_HEIGHT);
            part.dispose();
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try {
            ImageIO.write(picture, "png", bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e); // never: the picture is written to memory
        }
        return bytes.toByteArray();
    }

    private static List<Double> edges(Feature feature, Optional<DensityBins> adaptive, double low, double high) {
        List<Double> edges = new ArrayList<>();
        if (adaptive.isPresent() && adaptive.get().size() > 0) {
            edges.addAll(adaptive.get().edges());
            return edges;
        }
        double step = GridBins.step(feature.bound().amount());
        for (double bin = Math.ceil(low / step - .5);
                step > 0 && (bin + .5) * step < high && edges.size() < MOST_EDGES;
                bin++) {
            edges.add((bin + .5) * step);
        }
        return edges;
    }
}

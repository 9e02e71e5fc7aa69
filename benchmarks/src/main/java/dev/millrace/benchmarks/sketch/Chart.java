package dev.millrace.benchmarks.sketch;

import java.awt.BasicStroke;
import java.awt.Color;
import java.awt.Font;
import java.io.IOException;
import java.util.List;
import org.knowm.xchart.BitmapEncoder;
import org.knowm.xchart.BitmapEncoder.BitmapFormat;
import org.knowm.xchart.CategoryChart;
import org.knowm.xchart.CategoryChartBuilder;
import org.knowm.xchart.CategorySeries.CategorySeriesRenderStyle;
import org.knowm.xchart.XYChart;
import org.knowm.xchart.XYChartBuilder;
import org.knowm.xchart.style.AxesChartStyler;
import org.knowm.xchart.style.Styler.LegendPosition;
import org.knowm.xchart.style.markers.SeriesMarkers;

/** Charts as PNG: as SVG, in which the library draws each letter, they take ten times as many bytes. Stateless. */
public final class Chart {
    private static final int WIDTH = 900;
    private static final int HEIGHT = 420;

    private Chart() {}

    /** Points joined by a line. */
    record Line(String name, double[] x, double[] y) {}

    /** A value for each category, above 0. */
    public record Dots(String name, List<Double> values) {}

    static byte[] lines(String title, String xTitle, String yTitle, List<Line> lines) {
        XYChart chart = new XYChartBuilder()
                .width(WIDTH)
                .height(HEIGHT)
                .title(title)
                .xAxisTitle(xTitle)
                .yAxisTitle(yTitle)
                .build();
        style(chart.getStyler());
        for (Line line : lines) {
            chart.addSeries(line.name(), line.x(), line.y())
                    .setMarker(SeriesMarkers.NONE)
                    .setLineStyle(new BasicStroke(1.4f));
        }
        return png(chart);
    }

    /** A dot for each value over its category, on a logarithmic axis. */
    public static byte[] dots(String title, String yTitle, List<String> categories, List<Dots> all) {
        CategoryChart chart = new CategoryChartBuilder()
                .width(WIDTH)
                .height(HEIGHT + 60)
                .title(title)
                .yAxisTitle(yTitle)
                .build();
        style(chart.getStyler());
        chart.getStyler().setDefaultSeriesRenderStyle(CategorySeriesRenderStyle.Scatter);
        chart.getStyler().setYAxisLogarithmic(true);
        chart.getStyler().setYAxisLogarithmicDecadeOnly(true);
        chart.getStyler().setYAxisMin(1.0);
        chart.getStyler().setYAxisDecimalPattern("#,##0.##");
        chart.getStyler().setXAxisLabelRotation(45);
        chart.getStyler().setMarkerSize(7);
        for (Dots dots : all) {
            chart.addSeries(dots.name(), categories, dots.values());
        }
        return png(chart);
    }

    private static void style(AxesChartStyler styler) {
        styler.setChartBackgroundColor(Color.WHITE);
        styler.setPlotBorderVisible(false);
        styler.setPlotGridLinesColor(new Color(0xdd, 0xdd, 0xdd));
        styler.setLegendPosition(LegendPosition.OutsideE);
        styler.setLegendBorderColor(Color.WHITE);
        styler.setChartTitleBoxVisible(false);
        styler.setChartTitleFont(new Font(Font.SANS_SERIF, Font.BOLD, 13));
        styler.setAxisTitleFont(new Font(Font.SANS_SERIF, Font.PLAIN, 12));
        styler.setAxisTickLabelsFont(new Font(Font.SANS_SERIF, Font.PLAIN, 11));
        styler.setLegendFont(new Font(Font.SANS_SERIF, Font.PLAIN, 11));
    }

    private static byte[] png(org.knowm.xchart.internal.chartpart.Chart<?, ?> chart) {
        try {
            return BitmapEncoder.getBitmapBytes(chart, BitmapFormat.PNG);
        } catch (IOException e) {
            throw new AssertionError(e); // it is written to memory
        }
    }
}

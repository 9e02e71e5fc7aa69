package dev.millrace.cli.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jline.utils.AttributedString;
import org.jline.utils.AttributedStringBuilder;
import org.jline.utils.AttributedStyle;

/** Draws the demonstration: one frame of exactly so many lines and cells from what the queries answered. */
final class Dashboard {
    private static final int FEWEST_COLUMNS = 60;
    private static final int FEWEST_LINES = 22;
    private static final int SQL_HEIGHT = 7;
    private static final int SQL_SECONDS = 5;
    private static final double GIB = 1 << 30;

    private final Vitals vitals;

    Dashboard(Vitals vitals) {
        this.vitals = vitals;
    }

    /** A frame; a smaller terminal gets the upper left part of one. */
    List<AttributedString> frame(int columns, int lines, double elapsedSeconds) {
        int width = Math.max(FEWEST_COLUMNS, columns);
        int height = Math.max(FEWEST_LINES, lines);
        int left = (width - 1) / 2;
        int right = width - 1 - left;
        // What is left after header, footer and the SQL is shared out, five to six to four.
        int rest = height - 2 - SQL_HEIGHT;
        int first = rest * 5 / 15;
        int second = rest * 6 / 15;
        int third = rest - first - second;

        List<AttributedString> frame = new ArrayList<>();
        frame.add(Panel.fit(header(elapsedSeconds), width));
        frame.addAll(Panel.beside(
                cpu(left - 4, first).draw(left, first), memory(right - 4, first).draw(right, first)));
        frame.addAll(Panel.beside(
                cores(left - 4).draw(left, second), transfer(right - 4, second).draw(right, second)));
        frame.addAll(Panel.beside(alarms(third).draw(left, third), soFar().draw(right, third)));
        frame.addAll(sql(elapsedSeconds).draw(width, SQL_HEIGHT));
        frame.add(Panel.fit(footer(), width));
        return frame.stream().limit(lines).map(line -> Panel.fit(line, columns)).toList();
    }

    private static AttributedString header(double elapsedSeconds) {
        long seconds = (long) elapsedSeconds;
        return line().append(" MILLRACE ", AttributedStyle.INVERSE.bold())
                .append("  this machine, by continuous SQL")
                .append(String.format("   %02d:%02d", seconds / 60, seconds % 60), Colours.FAINT)
                .toAttributedString();
    }

    private AttributedString footer() {
        return line().append(" " + number(vitals.rowsPerSecond, 0), Colours.TITLE)
                .append(" rows/s into 6 queries   ")
                .append(number(vitals.latencyMillis, 1) + " ms", Colours.TITLE)
                .append(" from reading to answer   ")
                .append("Ctrl-C ends", Colours.FAINT)
                .toAttributedString();
    }

    private Panel cpu(int width, int height) {
        List<AttributedString> lines = new ArrayList<>();
        lines.add(line().append("now ", Colours.FAINT)
                .append(percent(vitals.cpu.last()))
                .append("   10 s ", Colours.FAINT)
                .append(vitals.cpuTenSeconds.isEmpty() ? dash() : percent(vitals.cpuTenSeconds.last()))
                .append("   peak ", Colours.FAINT)
                .append(vitals.cpuTenSeconds.isEmpty() ? dash() : percent(vitals.peakTenSeconds))
                .toAttributedString());
        int rows = height - 2 - lines.size();
        int below = rows > 5 ? 2 : 0;
        lines.addAll(Sparkline.draw(percents(vitals.cpu), 100, width, rows - below, Colours.LOAD));
        if (below > 0) {
            lines.add(label("per second"));
            lines.add(Sparkline.draw(percents(vitals.cpuPerSecond), 100, width, Colours.LOAD));
        }
        return new Panel("CPU", lines);
    }

    private Panel memory(int width, int height) {
        double share = vitals.memoryShare.last();
        AttributedStringBuilder load = line().append("load ", Colours.FAINT).append(number(vitals.load, 2));
        if (vitals.temperature > 0) {
            load.append("   temperature ", Colours.FAINT).append(number(vitals.temperature, 0) + " °C");
        }
        List<AttributedString> lines = new ArrayList<>();
        lines.add(line().append(percent(share))
                .append("  " + number(vitals.memoryUsed / GIB, 1) + " of " + number(vitals.memoryTotal / GIB, 1)
                        + " GiB")
                .toAttributedString());
        lines.add(Sparkline.gauge(share, width, Colours.LOAD.of(share * 100)));
        lines.add(load.toAttributedString());
        int rows = Math.max(0, height - 2 - lines.size());
        lines.addAll(Sparkline.draw(percents(vitals.memoryShare), 100, width, rows, Colours.LOAD));
        return new Panel("Memory and load", lines);
    }

    private Panel cores(int width) {
        List<AttributedString> lines = new ArrayList<>();
        int bar = Math.max(3, width - 23);
        lines.add(line().append(" ".repeat(bar + 5) + "  now   avg  peak", Colours.FAINT)
                .toAttributedString());
        for (Vitals.Core core : vitals.cores()) {
            lines.add(line().append(String.format("%3d  ", core.number()), Colours.FAINT)
                    .append(Sparkline.gauge(core.now(), bar, Colours.LOAD.of(core.now() * 100)))
                    .append(" ")
                    .append(percent(core.now()))
                    .append(" ")
                    .append(percent(core.average()))
                    .append(" ")
                    .append(percent(core.peak()))
                    .toAttributedString());
        }
        return new Panel("Cores", lines);
    }

    private Panel transfer(int width, int height) {
        List<AttributedString> lines = new ArrayList<>();
        int rows = (height - 4) / 2;
        lines.add(rate("network", vitals.network));
        lines.addAll(bars(vitals.network, width, rows));
        lines.add(rate("disk", vitals.disk));
        lines.addAll(bars(vitals.disk, width, Math.max(0, height - 4 - rows)));
        return new Panel("Network in, disk out", lines);
    }

    private static List<AttributedString> bars(MeasureSeries series, int width, int rows) {
        return Sparkline.draw(series.values(), series.max(), width, rows, Colours.CALM);
    }

    private static AttributedString rate(String name, MeasureSeries series) {
        return line().append(name + " ", Colours.FAINT)
                .append(bytes(series.last()) + "/s")
                .append("   most ", Colours.FAINT)
                .append(bytes(series.max()) + "/s")
                .toAttributedString();
    }

    private Panel alarms(int height) {
        List<AttributedString> lines = new ArrayList<>();
        if (vitals.alarms.isEmpty()) {
            lines.add(line().append("none: ", Colours.GOOD)
                    .append("less than 80 % over 3 s", Colours.FAINT)
                    .toAttributedString());
        }
        vitals.alarms.stream()
                .limit(height)
                .map(alarm -> line().append(alarm.time() + "  ")
                        .append(percent(alarm.cpu()))
                        .append(" over 3 s", Colours.FAINT)
                        .toAttributedString())
                .forEach(lines::add);
        return new Panel("Alarms", lines);
    }

    private Panel soFar() {
        Vitals.SoFar all = vitals.soFar;
        return new Panel(
                "So far (materialized view)",
                List.of(
                        line().append("cpu ", Colours.FAINT)
                                .append(percent(all.cpu()))
                                .append("  peak ", Colours.FAINT)
                                .append(percent(all.peak()))
                                .append("  " + all.seconds() + " s", Colours.FAINT)
                                .toAttributedString(),
                        line().append("most ", Colours.FAINT)
                                .append(bytes(all.network()) + "/s in, " + bytes(all.disk()) + "/s written")
                                .toAttributedString(),
                        line().append(all.samples() + " samples", Colours.FAINT).toAttributedString()));
    }

    /** One of the statements after the other. */
    private static Panel sql(double elapsedSeconds) {
        List<DemoQueries.Step> steps = DemoQueries.STEPS;
        DemoQueries.Step step = steps.get((int) (elapsedSeconds / SQL_SECONDS) % steps.size());
        return new Panel(
                step.purpose(), step.sql().lines().map(ColouredSql::coloured).toList());
    }

    private static AttributedStringBuilder line() {
        return new AttributedStringBuilder();
    }

    private static AttributedString label(String text) {
        return new AttributedString(text, Colours.FAINT);
    }

    private static AttributedString dash() {
        return new AttributedString("    -", Colours.FAINT);
    }

    private static AttributedString percent(double share) {
        return new AttributedString(String.format(Locale.ROOT, "%3.0f %%", share * 100), Colours.LOAD.of(share * 100));
    }

    private static double[] percents(MeasureSeries series) {
        double[] values = series.values();
        for (int at = 0; at < values.length; at++) {
            values[at] *= 100;
        }
        return values;
    }

    private static String number(double value, int digits) {
        return String.format(Locale.ROOT, "%." + digits + "f", value);
    }

    /** A size of at most four digits and a unit. */
    private static String bytes(double bytes) {
        String[] units = {"B", "KiB", "MiB", "GiB", "TiB"};
        double value = bytes;
        int unit = 0;
        while (value >= 1000 && unit + 1 < units.length) {
            value /= 1024;
            unit++;
        }
        return number(value, unit == 0 || value >= 100 ? 0 : 1) + " " + units[unit];
    }
}

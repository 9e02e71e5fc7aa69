package dev.millrace.cli.demo;

import dev.millrace.cli.demo.DemoFeed.Added;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.ArrayDeque;
import java.util.Collection;
import java.util.Deque;
import java.util.Map;
import java.util.TreeMap;

/** What the demonstration's queries answered so far. The rows given to it have the columns of {@link DemoQueries}. */
final class Vitals {
    private static final int KEPT_VALUES = 400;
    private static final int KEPT_ALARMS = 20;
    private static final DateTimeFormatter TIMESTAMP = new DateTimeFormatterBuilder()
            .appendPattern("yyyy-MM-dd HH:mm:ss")
            .appendFraction(ChronoField.MICRO_OF_SECOND, 0, 6, true)
            .appendPattern("x")
            .toFormatter();

    final MeasureSeries cpu = new MeasureSeries(KEPT_VALUES);
    final MeasureSeries cpuPerSecond = new MeasureSeries(KEPT_VALUES);
    final MeasureSeries cpuTenSeconds = new MeasureSeries(KEPT_VALUES);
    final MeasureSeries memoryShare = new MeasureSeries(KEPT_VALUES);
    final MeasureSeries network = new MeasureSeries(KEPT_VALUES);
    final MeasureSeries disk = new MeasureSeries(KEPT_VALUES);
    final Deque<Alarm> alarms = new ArrayDeque<>();
    private final Map<Integer, Core> coresByNumber = new TreeMap<>();
    double memoryUsed;
    double memoryTotal;
    double load;
    double temperature;
    double peakTenSeconds;
    SoFar soFar = new SoFar(0, 0, 0, 0, 0, 0);
    double rowsPerSecond;
    double latencyMillis;

    /** A moment at which the machine was busy; time of day as text. */
    record Alarm(String time, double cpu) {}

    /** A row of the view of cores. */
    record Core(int number, double now, double average, double peak) {}

    /** The row of the view over the seconds. */
    record SoFar(long seconds, long samples, double cpu, double peak, double network, double disk) {}

    Collection<Core> cores() {
        return coresByNumber.values();
    }

    void sample(Added row) {
        cpu.add(row.number(1));
        memoryUsed = row.number(2);
        memoryTotal = row.number(3);
        memoryShare.add(memoryTotal == 0 ? 0 : memoryUsed / memoryTotal);
        load = row.number(4);
        temperature = row.number(5);
        LocalDateTime read = LocalDateTime.parse(row.text(0), TIMESTAMP);
        long readMicros = read.toEpochSecond(ZoneOffset.UTC) * 1_000_000 + read.getNano() / 1_000;
        double millis = (row.epochMicros() - readMicros) / 1e3;
        latencyMillis = latencyMillis == 0 ? millis : 0.9 * latencyMillis + 0.1 * millis;
    }

    void second(Added row) {
        cpuPerSecond.add(row.number(1));
        network.add(row.number(4));
        disk.add(row.number(5));
    }

    void tenSeconds(Added row) {
        cpuTenSeconds.add(row.number(1));
        peakTenSeconds = row.number(2);
    }

    void alarm(Added row) {
        alarms.addFirst(new Alarm(row.text(0).substring(11, 19), row.number(1)));
        if (alarms.size() > KEPT_ALARMS) {
            alarms.removeLast();
        }
    }

    void core(Added row) {
        int number = (int) row.number(0);
        coresByNumber.put(number, new Core(number, row.number(1), row.number(2), row.number(3)));
    }

    void soFar(Added row) {
        soFar = new SoFar(
                (long) row.number(0), (long) row.number(1), row.number(2), row.number(3), row.number(4), row.number(5));
    }
}

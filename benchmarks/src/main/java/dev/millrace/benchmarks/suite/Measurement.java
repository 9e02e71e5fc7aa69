package dev.millrace.benchmarks.suite;

import java.util.Locale;

/**
 * What a run showed.
 *
 * @param query its name
 * @param events of all kinds that the generator made
 * @param seconds from start to the last row, JIT compilation included
 * @param cpuSeconds of the whole process in that time: workers, collector and compiler
 * @param steadyEvents events after the first quarter
 * @param steadySeconds and how long they took
 * @param steadyCpuSeconds and their CPU time
 * @param gcSeconds collections in the whole run
 * @param peakRssMb the process's greatest resident memory ever, in MB (2^20); 0 where the system does not tell
 * @param rowsOut rows the sink was given, retractions included
 * @param checksum of the answer, see {@link ChecksumSink}
 */
record Measurement(
        String query,
        long events,
        double seconds,
        double cpuSeconds,
        double steadyEvents,
        double steadySeconds,
        double steadyCpuSeconds,
        double gcSeconds,
        long peakRssMb,
        long rowsOut,
        long checksum) {

    /** One line of JSON, with the keys that the suite's users know. */
    String json() {
        return String.format(
                Locale.ROOT,
                "{\"query\":\"%s\",\"events\":%d,\"seconds\":%.3f,\"events_per_second\":%.0f,"
                        + "\"cpu_seconds_per_million_events\":%.4f,\"steady_events_per_second\":%.0f,"
                        + "\"steady_cpu_seconds_per_million_events\":%.4f,\"gc_seconds\":%.3f,\"peak_rss_mb\":%d,"
                        + "\"rows_out\":%d,\"checksum\":\"%016x\"}",
                query,
                events,
                seconds,
                events / seconds,
                cpuSeconds / events * 1e6,
                steadyEvents / steadySeconds,
                steadyCpuPerMillion(),
                gcSeconds,
                peakRssMb,
                rowsOut,
                checksum);
    }

    /** Columns for people, under {@link #header}. */
    String line() {
        return String.format(
                Locale.ROOT,
                "%-5s %12d %8.2f %14.0f %12.4f %14.0f %12.4f %6.2f %8d %12d  %016x",
                query,
                events,
                seconds,
                events / seconds,
                cpuSeconds / events * 1e6,
                steadyEvents / steadySeconds,
                steadyCpuPerMillion(),
                gcSeconds,
                peakRssMb,
                rowsOut,
                checksum);
    }

    static String header() {
        return String.format(
                "%-5s %12s %8s %14s %12s %14s %12s %6s %8s %12s  %s",
                "query",
                "events",
                "seconds",
                "events/s",
                "cpu s/M",
                "steady ev/s",
                "steady cpu/M",
                "gc s",
                "rss MB",
                "rows out",
                "checksum");
    }

    private double steadyCpuPerMillion() {
        return steadyCpuSeconds / steadyEvents * 1e6;
    }
}

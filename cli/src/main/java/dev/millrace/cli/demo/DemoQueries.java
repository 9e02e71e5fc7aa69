package dev.millrace.cli.demo;

import java.util.List;

/** All that the demonstration asks. What is shown is what these answer. */
final class DemoQueries {
    private DemoQueries() {}

    /** A statement and what it is there for, in a few words. */
    record Step(String purpose, String sql) {}

    static final String SAMPLES = "samples";
    static final String PER_SECOND = "per_second";
    static final String SLIDING = "sliding";
    static final String ALARMS = "alarms";
    static final String CORES = "core_load";
    static final String SO_FAR = "so_far";

    /** In the order in which they are executed. */
    static final List<Step> STEPS = List.of(
            new Step("A live stream: this machine", """
                    CREATE STREAM vitals (WATERMARK FOR ts AS ts - INTERVAL '0 seconds')
                      WITH (connector = 'system', period = '50ms');"""),
            new Step("and its processor cores", """
                    CREATE STREAM cores
                      WITH (connector = 'system', table = 'cpu', period = '200ms');"""),
            new Step("A continuous query: columns as they come", """
                    CREATE CONTINUOUS QUERY samples AS
                      SELECT ts, cpu, mem_used, mem_total, load1, temp_c FROM vitals;"""),
            new Step("Each second once, when it is over", """
                    CREATE CONTINUOUS QUERY per_second AS
                      SELECT window_start, avg(cpu) AS cpu, max(cpu) AS peak, count(*) AS n,
                             avg(net_in_bytes) AS net, avg(disk_write_bytes) AS disk
                      FROM TUMBLE(TABLE vitals, DESCRIPTOR(ts), INTERVAL '1 second')
                      GROUP BY window_start, window_end;"""),
            new Step("The last ten seconds, every second", """
                    CREATE CONTINUOUS QUERY sliding AS
                      SELECT window_end, avg(cpu) AS cpu, max(cpu) AS peak
                      FROM HOP(TABLE vitals, DESCRIPTOR(ts),
                               INTERVAL '1 second', INTERVAL '10 seconds')
                      GROUP BY window_start, window_end;"""),
            new Step("An alarm: busy for three seconds", """
                    CREATE CONTINUOUS QUERY alarms AS
                      SELECT window_end, avg(cpu) AS cpu
                      FROM HOP(TABLE vitals, DESCRIPTOR(ts),
                               INTERVAL '1 second', INTERVAL '3 seconds')
                      GROUP BY window_start, window_end HAVING avg(cpu) > 0.8;"""),
            new Step("A view of every core, always current", """
                    CREATE MATERIALIZED VIEW core_load AS
                      SELECT core, last_value(usage) AS now, avg(usage) AS average,
                             max(usage) AS peak
                      FROM cores GROUP BY core;"""),
            new Step("A view over a continuous query", """
                    CREATE MATERIALIZED VIEW so_far AS
                      SELECT count(*) AS seconds, sum(n) AS samples, avg(cpu) AS cpu,
                             max(peak) AS peak, max(net) AS net, max(disk) AS disk
                      FROM per_second;"""));
}

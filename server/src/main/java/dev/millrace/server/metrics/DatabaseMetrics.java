package dev.millrace.server.metrics;

import dev.millrace.engine.runtime.LatencyHistogram;
import dev.millrace.engine.runtime.OperatorStatistics;
import dev.millrace.engine.runtime.QueryState;
import dev.millrace.engine.runtime.QueryStatistics;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.runtime.WatermarkStatistics;
import dev.millrace.operator.Operator;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.session.Database;
import dev.millrace.sql.statement.Statement.ObjectKind;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;

/** All metrics of one database, as Prometheus reads them. Names and units follow its conventions. */
public final class DatabaseMetrics implements MultiCollector {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double MICROS_PER_SECOND = 1e6;
    private static final double[] BOUNDS = {
        .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10
    };

    private final Database database;
    private final PrometheusRegistry registry = new PrometheusRegistry();
    private final PrometheusTextFormatWriter writer = PrometheusTextFormatWriter.create();

    private final Histogram requests;

    /** From now on the database's statements are measured. */
    public DatabaseMetrics(Database database) {
        this.database = database;
        registry.register(this);
        Histogram statements = Histogram.builder()
                .name("millrace_statement_seconds")
                .help("Time until a statement's result is there; reading rows is not in it.")
                .classicOnly()
                .classicUpperBounds(BOUNDS)
                .register(registry);
        database.onStatement(nanos -> statements.observe(nanos / NANOS_PER_SECOND));
        this.requests = Histogram.builder()
                .name("millrace_http_request_seconds")
                .help("Time until a request is answered whole; subscriptions until they end.")
                .labelNames("endpoint")
                .classicOnly()
                .classicUpperBounds(BOUNDS)
                .register(registry);
        JvmMetrics.builder().register(registry);
    }

    /** A request was answered; on any thread. */
    public void requested(String endpoint, long nanos) {
        requests.labelValues(endpoint).observe(nanos / NANOS_PER_SECOND);
    }

    /** The type of {@link #text}. */
    public String contentType() {
        return writer.getContentType();
    }

    /** All metrics as they are now, in Prometheus' text format. */
    public byte[] text() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try {
            writer.write(out, registry.scrape());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return out.toByteArray();
    }

    @Override
    public MetricSnapshots collect() {
        List<QueryStatistics> queries = database.engine().queries().stream()
                .map(StandingQuery::statistics)
                .toList();
        List<MetricSnapshot> all = new ArrayList<>();
        addQueries(queries, all);
        addOperators(queries, all);
        addWatermarks(queries, all);
        addStreams(all);
        all.add(gauge(
                "millrace_memory_bytes",
                "Batches and state in use, outside of the heap.",
                List.of(point(Labels.EMPTY, database.engine().allocatedBytes()))));
        all.add(gauge(
                "millrace_memory_limit_bytes",
                "What they may use at most.",
                List.of(point(Labels.EMPTY, database.engine().options().memoryLimitBytes()))));
        all.add(gauge(
                "millrace_sessions",
                "Sessions of clients and of the program itself.",
                List.of(point(Labels.EMPTY, database.sessionCount()))));
        all.add(counter(
                "millrace_statements",
                "Statements executed, failed ones included.",
                List.of(count(Labels.EMPTY, database.statementCount()))));
        return new MetricSnapshots(all);
    }

    private static void addQueries(List<QueryStatistics> queries, List<MetricSnapshot> all) {
        all.add(queryCounter("millrace_query_rows_in", "Rows read.", queries, QueryStatistics::rowsIn));
        all.add(queryCounter(
                "millrace_query_rows_out", "Rows sent, retractions too.", queries, QueryStatistics::rowsOut));
        all.add(queryCounter(
                "millrace_query_late_rows", "Rows that came too late.", queries, QueryStatistics::lateRows));
        all.add(queryCounter(
                "millrace_query_cpu_seconds",
                "Time of workers.",
                queries,
                query -> query.cpuNanos() / NANOS_PER_SECOND));
        all.add(queryGauge(
                "millrace_query_memory_bytes", "Batches and state held.", queries, QueryStatistics::memoryBytes));
        all.add(queryGauge("millrace_query_view_rows", "Rows of the answer.", queries, QueryStatistics::viewRows));
        addSubscribers(queries, all);
        all.add(latencies(queries));
        all.add(queryGauge(
                "millrace_query_running",
                "1 if it runs; 0 if it is paused, finished or failed.",
                queries,
                query -> query.state() == QueryState.RUNNING ? 1 : 0));
        all.add(queryGauge(
                "millrace_query_failed",
                "1 if it failed.",
                queries,
                query -> query.state() == QueryState.FAILED ? 1 : 0));
    }

    private static void addSubscribers(List<QueryStatistics> queries, List<MetricSnapshot> all) {
        all.add(queryGauge(
                "millrace_query_subscribers",
                "Who follows it.",
                queries,
                query -> query.subscribers().subscribers()));
        all.add(queryGauge(
                "millrace_query_subscriber_queue_rows",
                "Rows waiting for its subscribers.",
                queries,
                query -> query.subscribers().queuedRows()));
        all.add(queryGauge(
                "millrace_query_subscriber_queue_bytes",
                "Bytes waiting for its subscribers.",
                queries,
                query -> query.subscribers().queuedBytes()));
        all.add(queryGauge(
                "millrace_query_subscriber_queue_max_bytes",
                "Bytes waiting for the slowest.",
                queries,
                query -> query.subscribers().mostQueuedBytes()));
        all.add(queryGauge(
                "millrace_query_subscriber_lag_seconds",
                "How long the oldest of it has waited.",
                queries,
                query -> query.subscribers().lagMicros() / MICROS_PER_SECOND));
    }

    private static HistogramSnapshot latencies(List<QueryStatistics> queries) {
        double[] bounds = DoubleStream.concat(
                        LatencyHistogram.BOUNDS_NANOS.stream().mapToDouble(nanos -> nanos / NANOS_PER_SECOND),
                        DoubleStream.of(Double.POSITIVE_INFINITY))
                .toArray();
        HistogramSnapshot.Builder builder = HistogramSnapshot.builder()
                .name("millrace_query_latency_seconds")
                .help("Time from an epoch's first row to when what it changed is seen.");
        for (QueryStatistics query : queries) {
            LatencyHistogram latencies = query.latencies();
            builder.dataPoint(HistogramSnapshot.HistogramDataPointSnapshot.builder()
                    .labels(Labels.of("query", query.query()))
                    .classicHistogramBuckets(ClassicHistogramBuckets.of(
                            bounds,
                            latencies.counts().stream()
                                    .mapToLong(Long::longValue)
                                    .toArray()))
                    .sum(latencies.sumNanos() / NANOS_PER_SECOND)
                    .build());
        }
        return builder.build();
    }

    private static void addOperators(List<QueryStatistics> queries, List<MetricSnapshot> all) {
        all.add(operatorCounter("millrace_operator_rows_in", "Rows taken.", queries, OperatorStatistics::rowsIn));
        all.add(operatorCounter("millrace_operator_rows_out", "Rows given.", queries, OperatorStatistics::rowsOut));
        all.add(operatorCounter(
                "millrace_operator_late_rows", "Rows that came too late.", queries, OperatorStatistics::lateRows));
        all.add(operatorCounter(
                "millrace_operator_cpu_seconds",
                "Time of workers.",
                queries,
                operator -> operator.cpuNanos() / NANOS_PER_SECOND));
        all.add(operatorGauge(
                "millrace_operator_state_bytes", "Kept for state.", queries, OperatorStatistics::stateBytes));
        all.add(operatorGauge(
                "millrace_operator_queue_bytes", "Waiting before it.", queries, OperatorStatistics::queuedBytes));
    }

    private static void addWatermarks(List<QueryStatistics> queries, List<MetricSnapshot> all) {
        double now = System.currentTimeMillis() / 1e3;
        List<GaugeDataPointSnapshot> lags = new ArrayList<>();
        for (QueryStatistics query : queries) {
            for (WatermarkStatistics mark : query.watermarks()) {
                boolean known = mark.watermarkMicros() != Operator.NO_WATERMARK
                        && mark.watermarkMicros() != Operator.END_OF_INPUT;
                if (known) {
                    lags.add(point(
                            Labels.of(
                                    "query",
                                    query.query(),
                                    "stream",
                                    mark.relation(),
                                    "partition",
                                    "" + mark.partition()),
                            now - mark.watermarkMicros() / MICROS_PER_SECOND));
                }
            }
        }
        all.add(gauge("millrace_watermark_lag_seconds", "How far event time is behind the clock.", lags));
    }

    private void addStreams(List<MetricSnapshot> all) {
        List<CounterDataPointSnapshot> rejected = new ArrayList<>();
        for (CatalogObject stream : database.catalog().objects(ObjectKind.STREAM)) {
            rejected.add(count(
                    Labels.of("stream", stream.name()),
                    database.engine().relations().rejected(stream.name()).count()));
        }
        all.add(counter("millrace_stream_rejected_rows", "Records that could not become rows.", rejected));
    }

    private static MetricSnapshot queryCounter(
            String name, String help, List<QueryStatistics> queries, ToDoubleFunction<QueryStatistics> value) {
        return counter(
                name,
                help,
                queries.stream()
                        .map(query -> count(Labels.of("query", query.query()), value.applyAsDouble(query)))
                        .toList());
    }

    private static MetricSnapshot queryGauge(
            String name, String help, List<QueryStatistics> queries, ToDoubleFunction<QueryStatistics> value) {
        return gauge(
                name,
                help,
                queries.stream()
                        .map(query -> point(Labels.of("query", query.query()), value.applyAsDouble(query)))
                        .toList());
    }

    private static MetricSnapshot operatorCounter(
            String name, String help, List<QueryStatistics> queries, ToDoubleFunction<OperatorStatistics> value) {
        return counter(
                name,
                help,
                queries.stream()
                        .flatMap(query -> query.operators().stream()
                                .map(operator -> count(labels(query, operator), value.applyAsDouble(operator))))
                        .toList());
    }

    private static MetricSnapshot operatorGauge(
            String name, String help, List<QueryStatistics> queries, ToDoubleFunction<OperatorStatistics> value) {
        return gauge(
                name,
                help,
                queries.stream()
                        .flatMap(query -> query.operators().stream()
                                .map(operator -> point(labels(query, operator), value.applyAsDouble(operator))))
                        .toList());
    }

    private static Labels labels(QueryStatistics query, OperatorStatistics operator) {
        return Labels.of("query", query.query(), "operator", "" + operator.operator(), "name", operator.name());
    }

    private static MetricSnapshot counter(String name, String help, List<CounterDataPointSnapshot> points) {
        CounterSnapshot.Builder builder = CounterSnapshot.builder().name(name).help(help);
        points.forEach(builder::dataPoint);
        return builder.build();
    }

    private static MetricSnapshot gauge(String name, String help, List<GaugeDataPointSnapshot> points) {
        GaugeSnapshot.Builder builder = GaugeSnapshot.builder().name(name).help(help);
        points.forEach(builder::dataPoint);
        return builder.build();
    }

    private static CounterDataPointSnapshot count(Labels labels, double value) {
        return CounterDataPointSnapshot.builder()
                .labels(labels)
                .value(Math.max(0, value))
                .build();
    }

    private static GaugeDataPointSnapshot point(Labels labels, double value) {
        return GaugeDataPointSnapshot.builder().labels(labels).value(value).build();
    }
}

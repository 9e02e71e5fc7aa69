package dev.millrace.server.metrics;

import dev.millrace.connector.SinkStatus;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.LatencyHistogram;
import dev.millrace.engine.statistic.OperatorStatistics;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.statistic.SplitStatistics;
import dev.millrace.engine.statistic.WatermarkStatistics;
import dev.millrace.operator.Operator;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.retention.RetainedStreams.QueryBackfill;
import dev.millrace.server.session.Database;
import dev.millrace.sql.statement.Statement.ObjectKind;
import io.prometheus.metrics.core.metrics.Histogram;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.instrumentation.jvm.JvmMetrics;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

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
        addQueries(new Subjects<>(queries, query -> Labels.of("query", query.query()), all));
        all.add(latencies(queries));
        addOperators(queries, all);
        addWatermarks(queries, all);
        addSplits(queries, database.splitsOfNoQuery(), all);
        addSinks(queries, all);
        addBackfills(all);
        addDatabase(all);
        return new MetricSnapshots(all);
    }

    private static void addQueries(Subjects<QueryStatistics> queries) {
        queries.counter("millrace_query_rows_in", "Rows read.", QueryStatistics::rowsIn);
        queries.counter("millrace_query_rows_out", "Rows sent, retractions too.", QueryStatistics::rowsOut);
        queries.counter("millrace_query_late_rows", "Rows that came too late.", QueryStatistics::lateRows);
        queries.counter("millrace_query_cpu_seconds", "Time of workers.", query -> query.cpuNanos() / NANOS_PER_SECOND);
        queries.gauge("millrace_query_memory_bytes", "Batches and state held.", QueryStatistics::memoryBytes);
        queries.gauge("millrace_query_spilled_bytes", "State held on disk.", QueryStatistics::spilledBytes);
        queries.gauge("millrace_query_view_rows", "Rows of the answer.", QueryStatistics::viewRows);
        queries.gauge(
                "millrace_query_running",
                "1 if it runs; 0 if it is paused, finished or failed.",
                query -> query.state() == QueryState.RUNNING ? 1 : 0);
        queries.gauge("millrace_query_failed", "1 if it failed.", query -> query.state() == QueryState.FAILED ? 1 : 0);
        addSubscribers(queries);
    }

    private static void addSubscribers(Subjects<QueryStatistics> queries) {
        queries.gauge(
                "millrace_query_subscribers",
                "Who follows it.",
                query -> query.subscribers().subscribers());
        queries.gauge(
                "millrace_query_subscriber_queue_rows",
                "Rows waiting for its subscribers.",
                query -> query.subscribers().queuedRows());
        queries.gauge(
                "millrace_query_subscriber_queue_bytes",
                "Bytes waiting for its subscribers.",
                query -> query.subscribers().queuedBytes());
        queries.gauge(
                "millrace_query_subscriber_queue_max_bytes",
                "Bytes waiting for the slowest.",
                query -> query.subscribers().mostQueuedBytes());
        queries.gauge(
                "millrace_query_subscriber_lag_seconds",
                "How long the oldest of it has waited.",
                query -> query.subscribers().lagMicros() / MICROS_PER_SECOND);
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

    private record QueryOperator(String query, OperatorStatistics operator) {
        Labels labels() {
            return Labels.of("query", query, "operator", "" + operator.operator(), "name", operator.name());
        }
    }

    private static void addOperators(List<QueryStatistics> queries, List<MetricSnapshot> all) {
        Subjects<QueryOperator> operators = new Subjects<>(
                queries.stream()
                        .flatMap(query ->
                                query.operators().stream().map(operator -> new QueryOperator(query.query(), operator)))
                        .toList(),
                QueryOperator::labels,
                all);
        operators.counter(
                "millrace_operator_rows_in",
                "Rows taken.",
                each -> each.operator().rowsIn());
        operators.counter(
                "millrace_operator_rows_out",
                "Rows given.",
                each -> each.operator().rowsOut());
        operators.counter(
                "millrace_operator_late_rows",
                "Rows that came too late.",
                each -> each.operator().lateRows());
        operators.counter(
                "millrace_operator_cpu_seconds",
                "Time of workers.",
                each -> each.operator().cpuNanos() / NANOS_PER_SECOND);
        operators.gauge(
                "millrace_operator_state_bytes",
                "Kept for state.",
                each -> each.operator().stateBytes());
        operators.gauge(
                "millrace_operator_queue_bytes",
                "Waiting before it.",
                each -> each.operator().queuedBytes());
        operators.gauge(
                "millrace_operator_queue_rows",
                "Waiting before its pipeline.",
                each -> each.operator().turns().queuedRows());
        operators.gauge(
                "millrace_operator_utilisation",
                "Share of time in which its pipeline had something to do.",
                each -> each.operator().turns().utilisation());
        operators.counter(
                "millrace_operator_schedule_seconds",
                "Time for which its pipeline waited for workers.",
                each -> each.operator().turns().waitNanos() / NANOS_PER_SECOND);
        operators.counter(
                "millrace_operator_queue_seconds",
                "Time for which batches waited before its pipeline, each batch's own.",
                each -> each.operator().turns().queueNanos() / NANOS_PER_SECOND);
    }

    private record QueryWatermark(String query, WatermarkStatistics mark) {
        boolean isKnown() {
            return mark.watermarkMicros() != Operator.NO_WATERMARK && mark.watermarkMicros() != Operator.END_OF_INPUT;
        }

        Labels labels() {
            return Labels.of("query", query, "stream", mark.relation(), "partition", "" + mark.partition());
        }
    }

    private void addWatermarks(List<QueryStatistics> queries, List<MetricSnapshot> all) {
        long nowMicros = database.clock().epochMicros();
        Subjects<QueryWatermark> watermarks = new Subjects<>(
                queries.stream()
                        .flatMap(query ->
                                query.watermarks().stream().map(mark -> new QueryWatermark(query.query(), mark)))
                        .filter(QueryWatermark::isKnown)
                        .toList(),
                QueryWatermark::labels,
                all);
        watermarks.gauge(
                "millrace_watermark_lag_seconds",
                "How far event time is behind the clock.",
                each -> (nowMicros - each.mark().watermarkMicros()) / MICROS_PER_SECOND);
        watermarks.counter(
                "millrace_watermark_estimates",
                "How often it was said when a window's last watermark would come, and it has.",
                each -> each.mark().estimates());
        watermarks.counter(
                "millrace_watermark_estimates_right",
                "How often it then came in time.",
                each -> each.mark().hits());
    }

    private record QuerySplit(String query, SplitStatistics split) {
        Labels labels() {
            return Labels.of(
                    "query",
                    query,
                    "operator",
                    "" + split.operator(),
                    "stream",
                    split.relation(),
                    "split",
                    split.split().split());
        }
    }

    private static void addSplits(
            List<QueryStatistics> queries, List<SplitStatistics> others, List<MetricSnapshot> all) {
        List<QuerySplit> splits = Stream.concat(
                        queries.stream()
                                .flatMap(query ->
                                        query.splits().stream().map(split -> new QuerySplit(query.query(), split))),
                        others.stream().map(split -> new QuerySplit("", split)))
                .toList();
        Subjects<QuerySplit> any = new Subjects<>(splits, QuerySplit::labels, all);
        any.counter(
                "millrace_source_records",
                "Records read of a split.",
                each -> each.split().split().records());
        any.gauge(
                "millrace_source_retries",
                "Tries since the last that worked.",
                each -> each.split().split().retries());
        any.counter(
                "millrace_source_shed_records",
                "Records that were thrown away, as more came than could wait.",
                each -> each.split().split().shed());
        any.gauge(
                "millrace_source_waiting",
                "1 if it waits for something outside.",
                each -> each.split().split().waitsFor().isPresent() ? 1 : 0);
        List<QuerySplit> known = splits.stream()
                .filter(each -> each.split().split().lagRecords().isPresent())
                .toList();
        new Subjects<>(known, QuerySplit::labels, all)
                .gauge(
                        "millrace_source_lag_records",
                        "Records that are there and were not read.",
                        each -> each.split().split().lagRecords().orElse(0));
        List<QuerySplit> timed = splits.stream()
                .filter(each -> each.split().split().lagMicros().isPresent())
                .toList();
        new Subjects<>(timed, QuerySplit::labels, all)
                .gauge(
                        "millrace_source_lag_seconds",
                        "How long ago the last record that was read was written, while there are more.",
                        each -> each.split().split().lagMicros().orElse(0) / MICROS_PER_SECOND);
    }

    private record QuerySink(String query, SinkStatus sink) {
        Labels labels() {
            return Labels.of("sink", query, "target", sink.target());
        }
    }

    private static void addSinks(List<QueryStatistics> queries, List<MetricSnapshot> all) {
        Subjects<QuerySink> sinks = new Subjects<>(
                queries.stream()
                        .flatMap(query -> query.sinks().stream().map(sink -> new QuerySink(query.query(), sink)))
                        .toList(),
                QuerySink::labels,
                all);
        sinks.counter(
                "millrace_sink_records",
                "Records that the outside has.",
                each -> each.sink().records());
        sinks.gauge(
                "millrace_sink_waiting_records",
                "Records that it has not acknowledged.",
                each -> each.sink().waiting());
        sinks.gauge(
                "millrace_sink_silent_seconds",
                "How long it has acknowledged none of those.",
                each -> each.sink().silentMicros() / MICROS_PER_SECOND);
        sinks.gauge(
                "millrace_sink_waiting",
                "1 if it waits for something outside.",
                each -> each.sink().waitsFor().isPresent() ? 1 : 0);
    }

    private void addBackfills(List<MetricSnapshot> all) {
        Subjects<QueryBackfill> backfills = new Subjects<>(
                database.backfills(),
                each -> Labels.of("query", each.query(), "stream", each.progress().stream()),
                all);
        backfills.gauge(
                "millrace_backfill_rows",
                "Rows of the past that it has.",
                each -> each.progress().rows());
        backfills.gauge(
                "millrace_backfill_all_rows",
                "Rows of the past that there are.",
                each -> each.progress().allRows());
        backfills.gauge(
                "millrace_backfill_fraction",
                "How much of the past it has, 0 to 1.",
                each -> each.progress().fraction());
        backfills.gauge(
                "millrace_backfill_running",
                "1 while it has not all of the past.",
                each -> each.progress().isOver() ? 0 : 1);
    }

    private void addDatabase(List<MetricSnapshot> all) {
        List<String> ofRecords = Stream.concat(
                        database.catalog().objects(ObjectKind.STREAM).stream().map(CatalogObject::name),
                        database.fedTables().stream())
                .toList();
        Subjects<String> streams = new Subjects<>(ofRecords, name -> Labels.of("stream", name), all);
        streams.counter(
                "millrace_stream_rejected_rows",
                "Records that could not become rows.",
                name -> database.engine().relations().rejected(name).count());
        Subjects<Database> whole = new Subjects<>(List.of(database), any -> Labels.EMPTY, all);
        whole.gauge(
                "millrace_memory_bytes",
                "Batches and state in use, outside of the heap.",
                one -> one.engine().allocatedBytes());
        whole.gauge(
                "millrace_memory_limit_bytes",
                "What they may use at most.",
                one -> one.engine().options().memoryLimitBytes());
        whole.gauge(
                "millrace_spilled_bytes", "State on disk.", one -> one.engine().spilledBytes());
        whole.gauge(
                "millrace_scheduler_ready",
                "Tasks that wait for a worker.",
                one -> one.engine().scheduler().ready());
        whole.counter(
                "millrace_scheduler_decisions",
                "How often a task was chosen.",
                one -> one.engine().scheduler().decisions());
        whole.counter(
                "millrace_scheduler_wait_seconds",
                "Time for which those that were chosen had waited.",
                one -> one.engine().scheduler().waitNanos() / NANOS_PER_SECOND);
        whole.gauge("millrace_sessions", "Sessions of clients and of the program itself.", Database::sessionCount);
        whole.counter("millrace_statements", "Statements executed, failed ones included.", Database::statementCount);
    }
}

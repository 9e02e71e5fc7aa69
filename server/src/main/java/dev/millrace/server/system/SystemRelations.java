package dev.millrace.server.system;

import static dev.millrace.server.catalog.SystemRelation.Column.bigint;
import static dev.millrace.server.catalog.SystemRelation.Column.bool;
import static dev.millrace.server.catalog.SystemRelation.Column.real;
import static dev.millrace.server.catalog.SystemRelation.Column.text;
import static dev.millrace.server.catalog.SystemRelation.Column.timestamp;

import dev.millrace.connector.RejectedRecord;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.RejectedRecords;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.LateRow;
import dev.millrace.engine.statistic.OperatorStatistics;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.QueryStatistics;
import dev.millrace.engine.statistic.TurnStatistics;
import dev.millrace.engine.statistic.WatermarkStatistics;
import dev.millrace.engine.task.FailedRows;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.operator.Operator;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Rewriter;
import dev.millrace.scheduler.SchedulerStatistics;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.SystemRelation;
import dev.millrace.server.catalog.SystemRelation.Column;
import dev.millrace.server.feed.RunningFeed;
import dev.millrace.server.history.Histories;
import dev.millrace.server.history.NamedSubscription;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.instance.Recovery;
import dev.millrace.server.planning.AdHocStatements;
import dev.millrace.server.planning.Plans;
import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.server.role.Roles;
import dev.millrace.server.rows.RowBuilder;
import dev.millrace.server.script.DefinitionScript;
import dev.millrace.server.script.DefinitionScript.Definition;
import dev.millrace.server.script.DefinitionScript.Step;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.sketched.ColumnCost;
import dev.millrace.server.template.TemplateQueries;
import dev.millrace.sql.catalog.UserFunction.Kind;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.storage.retention.KeptSegment;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Consumer;

/**
 * What the system tells about itself as relations of the schema {@code millrace}.
 *
 * <p>Long because it declares each relation and says what its rows are.
 */
public final class SystemRelations {
    private static final double NANOS_PER_SECOND = 1e9;
    private static final double NANOS_PER_MILLI = 1e6;

    private final Instance database;

    public SystemRelations(Instance database) {
        this.database = database;
    }

    public void addAll() {
        new ConnectorRelations(database).all().forEach(this::add);
        add(BackfillRelation.of(database));
        add(
                "late_rows",
                "rows that came after their windows had closed, the newest per query",
                List.of(
                        text("query", "the query that came too late for"),
                        timestamp("seen_at", "when it came"),
                        timestamp("watermark", "where event time stood by then"),
                        text("row", "the row as text")),
                this::lateRows);
        add(
                "rejected_rows",
                "records that could not become rows, the newest per stream (on_error = 'dead_letter'), and rows that RESUME .. SKIP ROW left out of queries",
                List.of(
                        text("stream", "the stream or table that it was for, or the query that left it out"),
                        text(
                                "origin",
                                "the file, topic or client that it came from; query for rows that a query left out"),
                        bigint("line", "its line, offset or number there"),
                        text("column_name", "the column that it could not fill"),
                        text("sqlstate", "the error that it was"),
                        text("reason", "what is wrong with it"),
                        text("record", "the record as it came, or its beginning"),
                        bigint("rows", "how many of this kind")),
                this::rejectedRows);
        add(
                "watermarks",
                "where event time stands, and which partition holds it",
                List.of(
                        text("query", "the query whose event time it is"),
                        text("stream", "the stream that it reads"),
                        bigint("partition", "the reader, from 0"),
                        timestamp(
                                "watermark",
                                "the time before which no row is expected; NULL before the first row and after the last"),
                        timestamp("since", "when it advanced last"),
                        bool("idle", "whether the query does not wait for this reader at present, as nothing comes"),
                        bool(
                                "holds_back",
                                "whether windows stay open for this reader: the lowest of those that are not idle"),
                        bigint("estimates", "how often the end of a window was expected for some time, and came"),
                        bigint("estimates_right", "how often it came in that time")),
                this::watermarks);
        add(
                "query_stats",
                "counters of continuous queries, views and sinks",
                List.of(
                        text("query", "its name"),
                        text("kind", "CONTINUOUS QUERY, MATERIALIZED VIEW, SINK; empty for what a client asks itself"),
                        text("state", "running, paused, failed or finished"),
                        bigint("rows_in", "rows read from relations"),
                        bigint("rows_out", "rows sent to views, sinks and subscribers; a retraction is one, too"),
                        bigint("late_rows", "rows dropped because they came too late"),
                        bigint("view_rows", "rows of its answer; NULL if it keeps none"),
                        real("cpu_seconds", "time of workers spent in it"),
                        bigint("memory_bytes", "batches and state that it holds in memory"),
                        bigint("spilled_bytes", "state that it holds on disk"),
                        bigint("last_epoch", "the last epoch that can be seen outside; 0 before the first"),
                        text("sqlstate", "the error that stopped it"),
                        text("error", "what stopped it"),
                        text(
                                "stuck_in",
                                "the function of users that it has been at for a second or more, at one call")),
                this::queryStats);
        add(
                "operator_stats",
                "counters of the operators of each query",
                List.of(
                        text("query", "the query that it is part of"),
                        bigint(
                                "operator",
                                "its number in the plan, as EXPLAIN shows it: inputs before those who read them"),
                        text("name", "what it does, as in EXPLAIN"),
                        text("detail", "the relation of a scan"),
                        bigint(
                                "pipeline",
                                "the number of the pipeline that it is in; operators of one have their turns together"),
                        bigint("instances", "how many of it work in parallel; all else is of all of them"),
                        bigint("rows_in", "rows that it was given"),
                        bigint("rows_out", "rows that it gave"),
                        bigint("batches_in", "batches in which these rows came"),
                        real("cpu_seconds", "time spent in it, not in those that it calls (T_compute)"),
                        bigint("state_bytes", "memory that its state takes"),
                        bigint("state_entries", "groups, rows or keys that it keeps"),
                        bigint(
                                "forgotten",
                                "groups or rows dropped since the start, as they were kept for long enough"),
                        bigint("queued_bytes", "bytes that wait before it"),
                        bigint("late_rows", "rows that it dropped because they came too late"),
                        bigint("queued_rows", "rows that wait before its pipeline"),
                        real("utilisation", "the share of time in which its pipeline had something to do, 0 to 1"),
                        real("schedule_seconds", "time in which its pipeline waited for a worker, in all (T_schedule)"),
                        real(
                                "slack_seconds",
                                "how long the query can do without a worker before its next window is late; NULL without windows whose end is known"),
                        real("queue_seconds", "time for which batches waited before its pipeline, in all (T_queue)")),
                this::operatorStats);
        add(
                "stream_stats",
                "counters of streams, and of tables that connectors feed",
                List.of(
                        text("stream", "the stream, or the table that a connector feeds"),
                        text("connector", "what it reads"),
                        bigint("rejected_rows", "records that could not become rows"),
                        bigint("readers", "queries that read it now")),
                this::streamStats);
        add(
                "query_groups",
                "queries that differ only in literals, by the fingerprint they share; those of a template count one by one",
                List.of(
                        text("fingerprint", "what its queries have in common, as a checksum"),
                        bigint("queries", "how many there are"),
                        text("first_query", "one of them"),
                        text("relation", "what they read"),
                        bigint("shared", "how many of them share what runs them; the others run by themselves"),
                        bigint("rows_in", "rows read from relations; those who share read them once"),
                        bigint("rows_out", "rows sent to views, sinks and subscribers"),
                        bigint("memory_bytes", "batches and state that they hold in memory")),
                this::queryGroups);
        add(
                "workers",
                "the threads that run queries",
                List.of(
                        bigint("worker", "its number, from 0"),
                        text("thread", "its name in a thread dump"),
                        text("node", "where it is")),
                this::workers);
        add(
                "scheduler",
                "who runs next, how long tasks waited for their turns, and how often the ends of windows came when they were expected",
                List.of(
                        text("policy", "who runs next (SET scheduling_policy)"),
                        bigint("workers", "threads that run queries"),
                        bigint("ready", "tasks that wait for a worker"),
                        bigint("running", "tasks that a worker is at"),
                        bigint("decisions", "how often a task was chosen"),
                        real("schedule_seconds", "how long those had waited for a worker, in all"),
                        real("mean_wait_ms", "the mean of that, in milliseconds"),
                        bigint(
                                "estimates",
                                "how often the end of a window was expected for some time, and came, in all queries that are there"),
                        bigint("estimates_right", "how often it came in that time")),
                this::scheduler);
        add(
                "plan_cache",
                "what is remembered of statements, and how often that was of use",
                List.of(
                        text("cache", "what it remembers"),
                        bigint("entries", "how many there are"),
                        bigint("hits", "how often that was of use"),
                        bigint("misses", "how often it had to be made")),
                this::planCache);
        add(
                "subscriptions",
                "durable subscriptions, and what of them is not acknowledged",
                List.of(
                        text("name", "of the subscription"),
                        text("query", "the query that it is to"),
                        text("owner", "who reads, acknowledges and drops it"),
                        text(
                                "state",
                                "active, stopped (by a row of its query), ended (with its query) or broken (behind its limit)"),
                        timestamp("acknowledged", "the epoch up to which its client has seen all"),
                        timestamp("told", "the epoch up to which there is something to tell"),
                        bigint("waiting_bytes", "what is kept for it"),
                        bigint("limit_bytes", "how much of that there may be before it is broken"),
                        text("reason", "why it is stopped or broken")),
                this::subscriptions);
        add(
                "recovery",
                "what became of each object when the database was opened, and how far it is with the rows that came again",
                List.of(
                        text("name", "the object"),
                        text("kind", "what it is"),
                        text(
                                "way",
                                "checkpoint: with the state that a checkpoint has of it; log: made again as the log says; anew: without what it had"),
                        text("reason", "why not more than that; NULL where there is nothing to explain"),
                        text("state", "of a query: running, paused, failed or finished"),
                        bigint("last_epoch", "of a query: the last epoch that can be seen"),
                        bigint("target_epoch", "the epoch at which it has all that came again"),
                        bool("caught_up", "whether it has")),
                this::recovery);
        add(
                "not_restored",
                "objects of the data directory that could not be made again when the database was opened",
                List.of(
                        text("name", "the object"),
                        text("kind", "what it is"),
                        text("sqlstate", "the error"),
                        text("reason", "why it could not be made again"),
                        text("definition", "the statement that made it")),
                rows -> database.catalogStore()
                        .notRestored()
                        .values()
                        .forEach(object -> rows.row(
                                object.name(),
                                object.kind(),
                                object.why().sqlState().code(),
                                object.why().getMessage(),
                                object.sql())));
        add(
                "definitions",
                "statements that make again what there is, in an order in which they can be run; for superusers",
                List.of(
                        bigint("position", "the place in the order, from 1"),
                        text("kind", "what the statement makes or does"),
                        text("name", "the object"),
                        text("statement", "to be run"),
                        text("note", "what the statement does not say, such as the checksum of a jar")),
                this::definitions);
        add(
                "segments",
                "retained segments of streams",
                List.of(
                        text("stream", "the stream whose rows they are"),
                        text("segment", "its file"),
                        text("form", "exact or sketch"),
                        bigint("rows", "rows in it"),
                        bigint("bytes", "its size on disk"),
                        timestamp("first_arrival", "when its first row was accepted"),
                        timestamp("last_arrival", "when its last row was"),
                        timestamp("first_event_time", "the least event time in it; NULL where the stream has none"),
                        timestamp("last_event_time", "the greatest")),
                this::segments);
        add(
                "segment_columns",
                "what the columns of retained streams cost in segments, and why",
                List.of(
                        text("stream", "the stream"),
                        text("column_name", "the column; what files have beside the stream's columns begins with #"),
                        text("form", "exact, sketch, or key: exactly, once for each series"),
                        bigint("rows", "rows kept in this form"),
                        bigint("bytes", "bytes in files; of a sketch about its part"),
                        real("error", "how far a value may be off at most; of a time in microseconds"),
                        text("why", "why it has this form")),
                this::segmentColumns);
    }

    private void add(String name, String meaning, List<Column> columns, Consumer<RowBuilder> rows) {
        add(SystemRelation.of("millrace." + name, meaning, columns, rows));
    }

    public void add(SystemRelation relation) {
        database.catalog().add(relation);
        database.engine().relations().addSource(relation.name(), new SystemRows(relation), OnError.FAIL);
    }

    private void segments(RowBuilder rows) {
        for (RetainedStreams.StreamSegment each : database.retained().segments()) {
            KeptSegment segment = each.segment();
            rows.row(
                    each.stream(),
                    segment.file().name(),
                    segment.isSketched() ? "sketch" : "exact",
                    segment.file().rows(),
                    segment.file().bytes(),
                    segment.firstArrival(),
                    segment.lastArrival(),
                    segment.eventTimes().map(KeptSegment.Span::first),
                    segment.eventTimes().map(KeptSegment.Span::last));
        }
    }

    private void segmentColumns(RowBuilder rows) {
        for (RetainedStreams.StreamColumn each : database.retained().columns()) {
            ColumnCost cost = each.cost();
            rows.row(each.stream(), cost.column(), cost.form(), cost.rows(), cost.bytes(), cost.error(), cost.why());
        }
    }

    private void lateRows(RowBuilder rows) {
        for (StandingQuery query : byName().values()) {
            for (LateRow late : query.lateRows()) {
                rows.row(query.name(), late.epochMicros(), late.watermarkMicros(), late.row());
            }
        }
    }

    private void rejectedRows(RowBuilder rows) {
        for (CatalogObject stream : database.catalog().objects(ObjectKind.STREAM)) {
            rejectedRows(rows, stream.name(), rejected(stream));
        }
        for (RunningFeed feed : database.feeds().all()) {
            rejectedRows(rows, feed.table(), database.engine().relations().rejected(feed.table()));
        }
        for (StandingQuery query : byName().values()) {
            for (String own : ownReaders(query)) {
                rejectedRows(rows, query.name(), database.engine().relations().rejected(own));
            }
            for (FailedRows.LeftOut rejected : query.rowsLeftOut()) {
                rows.row(
                        query.name(),
                        "query",
                        Optional.empty(),
                        Optional.empty(),
                        rejected.failure().sqlState().code(),
                        rejected.failure().getMessage(),
                        Optional.empty(),
                        rejected.rows());
            }
        }
    }

    private static void rejectedRows(RowBuilder rows, String name, RejectedRecords rejected) {
        for (RejectedRecord record : rejected.last()) {
            rows.row(
                    name,
                    record.origin(),
                    record.position(),
                    Optional.of(record.column()).filter(column -> !column.isEmpty()),
                    record.sqlState().code(),
                    record.reason(),
                    record.text(),
                    1L);
        }
    }

    /** The names by which the engine knows a query's readers of the past of streams. */
    private static Set<String> ownReaders(StandingQuery query) {
        Set<String> own = new TreeSet<>();
        Rewriter.rewrite(query.plan(), node -> {
            if (node instanceof PlanNode.Scan scan && RetainedStreams.isOwnName(scan.relation())) {
                own.add(scan.relation());
            }
            return Optional.empty();
        });
        return own;
    }

    private RejectedRecords rejected(CatalogObject stream) {
        return database.engine().relations().rejected(stream.name());
    }

    private void watermarks(RowBuilder rows) {
        for (StandingQuery query : byName().values()) {
            for (WatermarkStatistics mark : query.statistics().watermarks()) {
                rows.row(
                        query.name(),
                        mark.relation(),
                        mark.partition(),
                        shown(mark.watermarkMicros()),
                        mark.sinceEpochMicros(),
                        mark.idle(),
                        mark.holdsBack(),
                        mark.estimates(),
                        mark.hits());
            }
        }
    }

    /** Before the first row and after the last there is no time to show. */
    private static Optional<Long> shown(long watermarkMicros) {
        return watermarkMicros == Operator.NO_WATERMARK || watermarkMicros == Operator.END_OF_INPUT
                ? Optional.empty()
                : Optional.of(watermarkMicros);
    }

    private void queryStats(RowBuilder rows) {
        for (StandingQuery query : byName().values()) {
            QueryStatistics statistics = query.statistics();
            Optional<MillraceException> failure = query.failure();
            rows.row(
                    query.name(),
                    database.catalog()
                            .object(query.name())
                            .map(object -> object.kind().sqlName())
                            .orElse(""),
                    statistics.state().name().toLowerCase(Locale.ROOT),
                    statistics.rowsIn(),
                    statistics.rowsOut(),
                    statistics.lateRows(),
                    query.materialized() ? Optional.of(statistics.viewRows()) : Optional.empty(),
                    statistics.cpuNanos() / NANOS_PER_SECOND,
                    statistics.memoryBytes(),
                    statistics.spilledBytes(),
                    statistics.lastEpoch(),
                    failure.map(error -> error.sqlState().code()),
                    failure.map(MillraceException::getMessage),
                    query.stuckIn());
        }
    }

    private void operatorStats(RowBuilder rows) {
        for (StandingQuery query : byName().values()) {
            for (OperatorStatistics operator : query.statistics().operators()) {
                rows.row(
                        query.name(),
                        operator.operator(),
                        operator.name(),
                        operator.detail(),
                        operator.pipeline(),
                        operator.instances(),
                        operator.rowsIn(),
                        operator.rowsOut(),
                        operator.batchesIn(),
                        operator.cpuNanos() / NANOS_PER_SECOND,
                        operator.stateBytes(),
                        operator.stateEntries(),
                        operator.forgotten(),
                        operator.queuedBytes(),
                        operator.lateRows(),
                        operator.turns().queuedRows(),
                        operator.turns().utilisation(),
                        operator.turns().waitNanos() / NANOS_PER_SECOND,
                        slackSeconds(operator.turns()),
                        operator.turns().queueNanos() / NANOS_PER_SECOND);
            }
        }
    }

    private static Optional<Double> slackSeconds(TurnStatistics turns) {
        return turns.slackNanos().isPresent()
                ? Optional.of(turns.slackNanos().getAsDouble() / NANOS_PER_SECOND)
                : Optional.empty();
    }

    private void scheduler(RowBuilder rows) {
        SchedulerStatistics scheduler = database.engine().scheduler();
        long estimates = 0;
        long right = 0;
        for (StandingQuery query : byName().values()) {
            for (WatermarkStatistics mark : query.statistics().watermarks()) {
                estimates += mark.estimates();
                right += mark.hits();
            }
        }
        rows.row(
                database.engine().schedulingPolicy(),
                database.engine().options().workers(),
                scheduler.ready(),
                scheduler.running(),
                scheduler.decisions(),
                scheduler.waitNanos() / NANOS_PER_SECOND,
                scheduler.meanWaitNanos() / NANOS_PER_MILLI,
                estimates,
                right);
    }

    private void recovery(RowBuilder rows) {
        Recovery recovery = database.recovery();
        recovery.outcomes().forEach((name, outcome) -> {
            Optional<CatalogObject> object = database.catalog().object(name);
            if (object.isEmpty() || database.catalogStore().numberOf(name) != outcome.number()) {
                return; // it was dropped or altered since
            }
            long target = recovery.target(name, database.catalog());
            Optional<QueryStatistics> query = database.standing(name).map(StandingQuery::statistics);
            boolean waits = query.filter(
                            statistics -> statistics.state() == QueryState.RUNNING && statistics.lastEpoch() < target
                                    || statistics.state() == QueryState.PAUSED && target > 0)
                    .isPresent();
            rows.row(
                    name,
                    object.get().kind().sqlName(),
                    outcome.way().name().toLowerCase(Locale.ROOT),
                    Optional.of(outcome.reason()).filter(reason -> !reason.isEmpty()),
                    query.map(statistics -> statistics.state().name().toLowerCase(Locale.ROOT)),
                    query.map(QueryStatistics::lastEpoch),
                    target > 0 ? Optional.of(target) : Optional.empty(),
                    !waits);
        });
    }

    private void streamStats(RowBuilder rows) {
        for (CatalogObject stream : database.catalog().objects(ObjectKind.STREAM)) {
            rows.row(
                    stream.name(),
                    stream.input().orElseThrow().connector(),
                    rejected(stream).count(),
                    database.engine().relations().readers(stream.name()).size());
        }
        for (RunningFeed feed : database.feeds().all()) {
            rows.row(
                    feed.table(),
                    database.catalog()
                            .object(feed.table())
                            .map(table -> table.options().getOrDefault("connector", ""))
                            .orElse(""),
                    database.engine().relations().rejected(feed.table()).count(),
                    database.engine().relations().readers(feed.table()).size());
        }
    }

    private void queryGroups(RowBuilder rows) {
        Map<String, Long> ofTemplates = new HashMap<>();
        database.templates()
                .templates()
                .forEach(template -> ofTemplates.put(
                        TemplateQueries.answersOf(template.name()),
                        database.templates().count(template.name())));
        QueryGroupRows groups = new QueryGroupRows(database.plans()::fingerprint);
        byName().values().forEach(query -> groups.add(query, ofTemplates.getOrDefault(query.name(), 1L)));
        groups.addTo(rows);
    }

    private void workers(RowBuilder rows) {
        for (int worker = 0; worker < database.engine().options().workers(); worker++) {
            rows.row(worker, "millrace-worker-" + worker, "local");
        }
    }

    private void subscriptions(RowBuilder rows) {
        for (Histories.Shown each : database.histories().all()) {
            rows.row(
                    each.subscription().name(),
                    each.query(),
                    each.subscription().owner(),
                    each.state(),
                    each.subscription().acknowledgedMicros(),
                    each.toldMicros(),
                    each.waitingBytes(),
                    each.subscription().limitBytes(),
                    each.reason());
        }
    }

    private void planCache(RowBuilder rows) {
        Plans plans = database.plans();
        AdHocStatements adHoc = database.adHoc();
        rows.row("analysed statements", plans.statements(), plans.knownStatements(), plans.analyses());
        rows.row("plans", plans.plans(), plans.knownPlans(), plans.plannings());
        rows.row("shared by texts", adHoc.entries(), adHoc.hits(), adHoc.misses());
    }

    private void definitions(RowBuilder rows) {
        Roles roles = database.catalog().roles();
        List<Definition> objects = new ArrayList<>();
        List<Step> more = new ArrayList<>();
        for (CatalogObject object : database.catalog().objects()) {
            String name = object.name();
            Optional<String> jar = database.catalog()
                    .userFunction(name)
                    .filter(function -> function.kind() != Kind.SQL && function.kind() != Kind.SQL_TABLE)
                    .flatMap(function -> UserCode.file(function.code()))
                    .map(DefinitionScript::jarNote);
            objects.add(new Definition(
                    name,
                    object.kind().sqlName(),
                    object.definition(),
                    roles.owner(name),
                    database.standing(name)
                            .filter(query -> query.statistics().state() == QueryState.PAUSED)
                            .isPresent(),
                    object.follows(),
                    jar.orElse(""),
                    object.numeric()));
            database.catalog()
                    .numbers()
                    .last(name)
                    .forEach((column, last) -> more.add(DefinitionScript.counter(name, column, last)));
        }
        database.catalogStore()
                .notRestored()
                .values()
                .forEach(lost -> more.add(new Step(
                        "not restored", lost.name(), lost.sql(), lost.why().getMessage())));
        List<Step> steps = new ArrayList<>(DefinitionScript.of(
                roles.definitions(),
                Map.of(
                        Setting.SCHEDULING_POLICY.settingName(),
                        database.engine().schedulingPolicy()),
                objects,
                roles.privilegeDefinitions(name -> Optional.empty())));
        steps.addAll(DefinitionScript.comments(
                database.catalog().comments().all(),
                name -> database.catalog()
                        .object(name)
                        .map(object -> object.kind().sqlName())));
        for (Histories.Shown each : database.histories().all()) {
            NamedSubscription subscription = each.subscription();
            more.add(DefinitionScript.subscription(
                    subscription.name(), subscription.owner(), each.query(), subscription.limitBytes()));
        }
        steps.addAll(more);
        long position = 1;
        for (Step step : steps) {
            rows.row(position++, step.kind(), step.name(), step.statement(), step.note());
        }
    }

    private Map<String, StandingQuery> byName() {
        return new TreeMap<>(database.queries());
    }
}

package dev.millrace.server.system;

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
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
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
                schema(text("query"), timestamp("seen_at"), timestamp("watermark"), text("row")),
                this::lateRows);
        add(
                "rejected_rows",
                "records that could not become rows, the newest per stream (on_error = 'dead_letter'), and rows that RESUME .. SKIP ROW left out of queries",
                schema(
                        text("stream"),
                        text("origin"),
                        bigint("line"),
                        text("column_name"),
                        text("sqlstate"),
                        text("reason"),
                        text("record"),
                        bigint("rows")),
                this::rejectedRows);
        add(
                "watermarks",
                "where event time stands, and which partition holds it",
                schema(
                        text("query"),
                        text("stream"),
                        bigint("partition"),
                        timestamp("watermark"),
                        timestamp("since"),
                        bool("idle"),
                        bool("holds_back"),
                        bigint("estimates"),
                        bigint("estimates_right")),
                this::watermarks);
        add(
                "query_stats",
                "counters of continuous queries, views and sinks",
                schema(
                        text("query"),
                        text("kind"),
                        text("state"),
                        bigint("rows_in"),
                        bigint("rows_out"),
                        bigint("late_rows"),
                        bigint("view_rows"),
                        real("cpu_seconds"),
                        bigint("memory_bytes"),
                        bigint("spilled_bytes"),
                        bigint("last_epoch"),
                        text("sqlstate"),
                        text("error"),
                        text("stuck_in")),
                this::queryStats);
        add(
                "operator_stats",
                "counters of the operators of each query",
                schema(
                        text("query"),
                        bigint("operator"),
                        text("name"),
                        text("detail"),
                        bigint("pipeline"),
                        bigint("instances"),
                        bigint("rows_in"),
                        bigint("rows_out"),
                        bigint("batches_in"),
                        real("cpu_seconds"),
                        bigint("state_bytes"),
                        bigint("state_entries"),
                        bigint("forgotten"),
                        bigint("queued_bytes"),
                        bigint("late_rows"),
                        bigint("queued_rows"),
                        real("utilisation"),
                        real("schedule_seconds"),
                        real("slack_seconds"),
                        real("queue_seconds")),
                this::operatorStats);
        add(
                "stream_stats",
                "counters of streams, and of tables that connectors feed",
                schema(text("stream"), text("connector"), bigint("rejected_rows"), bigint("readers")),
                this::streamStats);
        add(
                "query_groups",
                "queries that differ only in literals, by the fingerprint they share; those of a template count one by one",
                schema(
                        text("fingerprint"),
                        bigint("queries"),
                        text("first_query"),
                        text("relation"),
                        bigint("shared"),
                        bigint("rows_in"),
                        bigint("rows_out"),
                        bigint("memory_bytes")),
                this::queryGroups);
        add(
                "workers",
                "the threads that run queries",
                schema(bigint("worker"), text("thread"), text("node")),
                this::workers);
        add(
                "scheduler",
                "who runs next, how long tasks waited for their turns, and how often the ends of windows came when they were expected",
                schema(
                        text("policy"),
                        bigint("workers"),
                        bigint("ready"),
                        bigint("running"),
                        bigint("decisions"),
                        real("schedule_seconds"),
                        real("mean_wait_ms"),
                        bigint("estimates"),
                        bigint("estimates_right")),
                this::scheduler);
        add(
                "plan_cache",
                "what is remembered of statements, and how often that was of use",
                schema(text("cache"), bigint("entries"), bigint("hits"), bigint("misses")),
                this::planCache);
        add(
                "subscriptions",
                "durable subscriptions, and what of them is not acknowledged",
                schema(
                        text("name"),
                        text("query"),
                        text("owner"),
                        text("state"),
                        timestamp("acknowledged"),
                        timestamp("told"),
                        bigint("waiting_bytes"),
                        bigint("limit_bytes"),
                        text("reason")),
                this::subscriptions);
        add(
                "recovery",
                "what became of each object when the database was opened, and how far it is with the rows that came again",
                schema(
                        text("name"),
                        text("kind"),
                        text("way"),
                        text("reason"),
                        text("state"),
                        bigint("last_epoch"),
                        bigint("target_epoch"),
                        bool("caught_up")),
                this::recovery);
        add(
                "not_restored",
                "objects of the data directory that could not be made again when the database was opened",
                schema(text("name"), text("kind"), text("sqlstate"), text("reason"), text("definition")),
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
                schema(bigint("position"), text("kind"), text("name"), text("statement"), text("note")),
                this::definitions);
        add(
                "segments",
                "retained segments of streams",
                schema(
                        text("stream"),
                        text("segment"),
                        text("form"),
                        bigint("rows"),
                        bigint("bytes"),
                        timestamp("first_arrival"),
                        timestamp("last_arrival"),
                        timestamp("first_event_time"),
                        timestamp("last_event_time")),
                this::segments);
        add(
                "segment_columns",
                "what the columns of retained streams cost in segments, and why",
                schema(
                        text("stream"),
                        text("column_name"),
                        text("form"),
                        bigint("rows"),
                        bigint("bytes"),
                        real("error"),
                        text("why")),
                this::segmentColumns);
    }

    private void add(String name, String meaning, Schema schema, Consumer<RowBuilder> rows) {
        add(new SystemRelation("millrace." + name, meaning, schema, rows));
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
                    .map(function -> DefinitionScript.jarNote(UserCode.jar(function.code())));
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

    private static Schema schema(Field... fields) {
        return Schema.of(fields);
    }

    static Field text(String name) {
        return new Field(name, DataType.TEXT, true);
    }

    static Field bigint(String name) {
        return new Field(name, DataType.BIGINT, true);
    }

    static Field real(String name) {
        return new Field(name, DataType.DOUBLE, true);
    }

    static Field bool(String name) {
        return new Field(name, DataType.BOOLEAN, true);
    }

    static Field timestamp(String name) {
        return new Field(name, DataType.TIMESTAMPTZ, true);
    }
}

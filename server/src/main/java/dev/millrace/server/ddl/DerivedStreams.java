package dev.millrace.server.ddl;

import dev.millrace.connector.Options;
import dev.millrace.engine.relation.KeptOutput;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.planning.PlanBasis;
import dev.millrace.server.planning.Plans;
import dev.millrace.server.planning.StandingRules;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.retention.RetentionClause;
import dev.millrace.server.retention.RowChoice;
import dev.millrace.server.sketched.SketchedForm;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.storage.retention.RetentionOptions;
import dev.millrace.storage.retention.SegmentForm;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/** CREATE STREAM .. AS: a standing query under the stream's name, with what keeps its rows. Belongs to the session's thread. */
public final class DerivedStreams {
    private final Instance database;
    private final Definitions definitions;
    private final Queries queries;
    private final Starts starts;

    public DerivedStreams(Instance database, Definitions definitions, Queries queries) {
        this.database = database;
        this.definitions = definitions;
        this.queries = queries;
        this.starts = new Starts(database);
    }

    /** @throws MillraceException 0A000 if the query's rows may be taken back */
    public Command create(Statement.CreateStreamAs create, String text) {
        if (create.ifExists() == IfExists.REPLACE) {
            requirePossible(create);
        }
        return definitions.create(ObjectKind.STREAM, create.name(), create.ifExists(), true, () -> make(create, text));
    }

    private CatalogObject make(Statement.CreateStreamAs create, String text) {
        String name = create.name();
        queries.checks().requireStreaming(create.query().relations(), "a stream of a query");
        Options options = new Options(create.options());
        StandingRules rules = StandingRules.ofQuery(options);
        int priority = (int) options.integer("priority", 0, -1000, 1000);
        options.text("stop"); // with start
        options.text(RowChoice.OPTION); // likewise
        long idleTimeoutMicros = options.durationMicros(CatalogObject.IDLE_TIMEOUT, 0);
        Optional<RetentionClause> retention = RetentionClause.of(options);
        QueryOptions how = queries.limits().limited(QueryOptions.streaming().withPriority(priority), options);
        options.rejectUnread();
        PlanBasis basis = database.catalogStore().basis();
        PhysicalPlan plan = queries.plan(create.query(), rules, basis);
        requireAppendOnly(name, plan);
        starts.requireKnownErrors(plan, rules, create.query().relations());
        Schema schema = create.query().schema();
        Definitions.requireColumns(schema, name);
        Optional<Relation.EventTime> eventTime = create.watermark()
                .map(watermark -> Definitions.eventTime(watermark, schema, name))
                .or(() -> Plans.eventTime(ObjectKind.CONTINUOUS_QUERY, plan));
        Optional<Integer> timeColumn = eventTime.map(Relation.EventTime::column);
        Optional<SketchedForm> form =
                retention.flatMap(RetentionClause::sketch).map(sketch -> SketchedForm.of(sketch, schema, timeColumn));
        PlanNode root = starts.plan(
                name,
                plan.root(),
                options,
                create.query(),
                database.catalogStore().creationMicros());
        long rows = database.catalogStore().newRows();
        try {
            Optional<KeptOutput> kept = retention.map(clause -> database.retained()
                    .addDerived(
                            name,
                            rows,
                            schema,
                            RetentionOptions.of(timeColumn, clause.policy())
                                    .withForm(form.map(SegmentForm.class::cast)),
                            !database.catalogStore().isRestoring()));
            definitions.start(name, root, kept.map(how::withKept).orElse(how));
        } catch (RuntimeException | Error e) {
            starts.forget(name, root);
            database.retained().drop(name);
            throw e;
        }
        database.catalogStore().hasRows(name, rows);
        database.catalogStore().plannedBy(name, basis);
        return new CatalogObject(
                name,
                ObjectKind.STREAM,
                schema,
                true,
                List.of(),
                eventTime,
                Optional.of(new StreamInput(
                        StreamInput.QUERY,
                        Optional.empty(),
                        idleTimeoutMicros,
                        retention.isPresent(),
                        form.map(SketchedForm::condensing))),
                create.query().dependsOn(),
                create.options(),
                text,
                database.catalogStore().creationMicros(),
                TableRules.NONE);
    }

    /** Before what has the name is dropped, with all that it has kept. */
    private void requirePossible(Statement.CreateStreamAs create) {
        if (database.catalog().withDependents(create.name()).stream()
                .anyMatch(create.query().dependsOn()::contains)) {
            throw MillraceException.user(
                    SqlState.INVALID_TABLE_DEFINITION, "\"" + create.name() + "\" would read itself");
        }
        StandingRules rules = StandingRules.ofQuery(create.options());
        requireAppendOnly(create.name(), queries.plan(create.query(), rules));
    }

    private void requireAppendOnly(String name, PhysicalPlan plan) {
        Optional<String> why = database.plans().whyChanging(plan);
        if (why.isPresent()) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "the rows of stream \"" + name + "\" could not all stay: " + why.get())
                    .withHint(
                            "CREATE MATERIALIZED VIEW " + RelationNames.quoted(name)
                                    + " AS .. keeps an answer whose rows change; windows over a stream with a watermark give rows that stay");
        }
    }
}

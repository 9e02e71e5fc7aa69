package dev.millrace.server.ddl;

import dev.millrace.connector.CheckpointedSink;
import dev.millrace.connector.Options;
import dev.millrace.connector.PushedSource;
import dev.millrace.connector.Sink;
import dev.millrace.connector.Source;
import dev.millrace.engine.relation.FedRelation;
import dev.millrace.engine.relation.OnError;
import dev.millrace.engine.relation.Relations;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.error.Suggestion;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.PhysicalPlan;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.CatalogObject.Durability;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.catalog.SinkInterval;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.generated.GeneratedColumns;
import dev.millrace.server.generated.PushedGeneratedColumns;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.instance.Retries;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.permission.Permissions;
import dev.millrace.server.planning.EdgeNeeds;
import dev.millrace.server.planning.PlanBasis;
import dev.millrace.server.planning.Plans;
import dev.millrace.server.planning.StandingRules;
import dev.millrace.server.planning.WindowsAtEdge;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.retention.RetentionClause;
import dev.millrace.server.retention.RowChoice;
import dev.millrace.server.sketched.SketchedForm;
import dev.millrace.server.template.TemplateQueries;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.catalog.ColumnRule;
import dev.millrace.sql.catalog.ForeignKey;
import dev.millrace.sql.catalog.Relation;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.IfExists;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.storage.retention.RetentionOptions;
import dev.millrace.storage.retention.SegmentForm;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * CREATE of what keeps or gives rows. Each definition takes effect as a whole or not at all, one at a time.
 *
 * <p>Long because each kind of relation is made here, by the same steps.
 */
public final class Definitions {
    /** The option of a table whose rows are only added, which APPEND ONLY is short for. */
    private static final String APPEND_ONLY = "append_only";

    private final Instance database;
    private final Consumer<String> notices;
    private final Queries queries;
    private final Permissions permissions;
    private final Identity identity;
    private final Drops drops;
    private final HeldDefinitions held;
    private final Starts starts;
    private final EdgeWindowStreams windowStreams;

    public Definitions(
            Instance database,
            Consumer<String> notices,
            Queries queries,
            Permissions permissions,
            Identity identity,
            Drops drops,
            HeldDefinitions held) {
        this.database = database;
        this.held = held;
        this.notices = notices;
        this.queries = queries;
        this.permissions = permissions;
        this.identity = identity;
        this.drops = drops;
        this.starts = new Starts(database);
        this.windowStreams = new EdgeWindowStreams(database);
    }

    public Command createStream(Statement.CreateStream create, String text) {
        return create(ObjectKind.STREAM, create.name(), create.ifExists(), () -> {
            Options options = new Options(create.options(), database.references());
            Optional<OnError> onError = options.text("on_error").map(given -> options.oneOf("on_error", OnError.FAIL));
            long idleTimeoutMicros = options.durationMicros(CatalogObject.IDLE_TIMEOUT, 0);
            Optional<RetentionClause> retention = RetentionClause.of(options);
            Optional<String> connector = options.text("connector");
            Durability durability = options.oneOf(CatalogObject.DURABILITY, Durability.SYNC);
            Schema declared = new Schema(create.columns());
            Optional<Source> source = connector.map(name -> source(name, declared, create, options));
            options.rejectUnread();
            Optional<PushedSource> pushed =
                    source.filter(PushedSource.class::isInstance).map(PushedSource.class::cast);
            if (pushed.isPresent()) {
                requireGoesOn(create.name(), connector.orElseThrow(), onError);
            } else if (source.isPresent()) {
                requireReadAgain(create.name(), connector.orElseThrow(), retention, durability);
            }
            Schema schema = source.map(Source::schema).orElse(declared);
            requireColumns(schema, create.name());
            Optional<Relation.EventTime> eventTime =
                    create.watermark().map(watermark -> eventTime(watermark, schema, create.name()));
            Optional<Integer> timeColumn = eventTime.map(Relation.EventTime::column);
            Optional<SketchedForm> form = retention
                    .flatMap(RetentionClause::sketch)
                    .map(sketch -> SketchedForm.of(sketch, schema, timeColumn));
            CatalogObject object = new CatalogObject(
                    create.name(),
                    ObjectKind.STREAM,
                    schema,
                    true,
                    List.of(),
                    eventTime,
                    Optional.of(new StreamInput(
                            connector.orElse("insert"),
                            source,
                            idleTimeoutMicros,
                            retention.isPresent(),
                            form.map(SketchedForm::condensing))),
                    Set.of(),
                    create.options(),
                    text,
                    database.catalogStore().creationMicros(),
                    create.rules());
            if (source.isPresent() && pushed.isEmpty()) {
                database.engine().relations().addSource(create.name(), source.get(), onError.orElse(OnError.FAIL));
            } else {
                long rows = database.catalogStore().newRows();
                Optional<Source> past = retention.map(clause -> database.retained()
                        .add(
                                create.name(),
                                rows,
                                schema,
                                RetentionOptions.of(timeColumn, clause.policy())
                                        .withForm(form.map(SegmentForm.class::cast)),
                                !database.catalogStore().isRestoring()));
                if (pushed.isPresent()) {
                    boolean awaitsDisk = durability == Durability.SYNC;
                    database.intakes()
                            .add(
                                    create.name(),
                                    pushed.get(),
                                    rows,
                                    past,
                                    onError.orElse(OnError.DEAD_LETTER),
                                    awaitsDisk);
                } else {
                    database.engine().relations().addStream(create.name(), schema, rows, past);
                }
                database.catalogStore().hasRows(create.name(), rows);
            }
            return object;
        });
    }

    /** Of a source that is read: what is about rows that are written down. */
    private static void requireReadAgain(
            String name, String connector, Optional<RetentionClause> retention, Durability durability) {
        if (retention.isPresent()) {
            throw MillraceException.notAvailableYet("retention of a stream that connector " + connector + " reads")
                    .withHint("what it reads can be read again; CREATE MATERIALIZED VIEW keeps an answer");
        }
        if (durability == Durability.ASYNC) {
            throw MillraceException.user(
                            SqlState.INVALID_PARAMETER_VALUE,
                            "durability is about rows that clients write, and those of \"" + name
                                    + "\" come from connector " + connector)
                    .withHint("leave the option out");
        }
    }

    /** Of a source that is pushed to: no query meets a record that becomes no row, so none can fail of it. */
    private static void requireGoesOn(String name, String connector, Optional<OnError> onError) {
        if (onError.filter(OnError.FAIL::equals).isPresent()) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "on_error cannot be \"fail\" for stream \"" + name + "\": connector " + connector
                                    + " is pushed to, and would not be given a record again")
                    .withHint(
                            "dead_letter (the default) keeps such records in millrace.rejected_rows; skip counts them");
        }
    }

    /** The connector's source, with the columns that are generated from those it gives. */
    private Source source(String connector, Schema declared, Statement.CreateStream create, Options options) {
        boolean ofIntervals = create.rules().digits().keySet().stream()
                .anyMatch(column ->
                        declared.field(declared.indexOf(column)).type().kind() == DataType.Kind.INTERVAL);
        TableRules rules =
                create.rules().withoutDigits(); // a connector's timestamps have the digits that it gives them
        boolean onlyGenerated = rules.checks().isEmpty()
                && rules.columns().values().stream().allMatch(rule -> rule.kind() == ColumnRule.Kind.GENERATED);
        if (ofIntervals) {
            throw MillraceException.notAvailableYet("INTERVAL(p) in a stream that a connector feeds")
                    .withHint("INTERVAL has all digits; round them where the stream is read: i::INTERVAL(0)");
        }
        if (!onlyGenerated) {
            throw MillraceException.notAvailableYet("DEFAULT or CHECK of a stream that a connector feeds")
                    .withHint(
                            "n INT GENERATED ALWAYS AS (coalesce(given, 0)) STORED computes a column; a continuous query"
                                    + " over the stream filters: WHERE ..");
        }
        Schema given = new Schema(declared.fields().stream()
                .filter(field -> !rules.isGenerated(field.name()))
                .toList());
        Source source = database.connectors().source(connector).create(given, options);
        if (!database.catalogStore().isRestoring()) {
            options.rejectUnread(); // before anybody is asked who may not answer
            source.check();
        }
        if (rules.isEmpty()) {
            return source;
        }
        List<Field> fields = new ArrayList<>(declared.fields()); // and what the connector adds
        source.schema().fields().stream()
                .filter(field -> declared.indexOf(field.name()) < 0)
                .forEach(fields::add);
        Schema all = new Schema(fields);
        Relation relation =
                new Relation(create.name(), Relation.Kind.STREAM, all, true, List.of(), Optional.empty(), rules);
        PlanNode plan = database.plans().generation(relation);
        return source instanceof PushedSource pushed
                ? new PushedGeneratedColumns(pushed, new GeneratedColumns(create.name(), pushed, all, plan))
                : new GeneratedColumns(create.name(), source, all, plan);
    }

    static void requireColumns(Schema schema, String name) {
        if (schema.size() == 0) {
            throw MillraceException.user(
                    SqlState.INVALID_TABLE_DEFINITION, "\"" + name + "\" has no columns; they must be declared");
        }
    }

    /** What a watermark says, of columns that are known. */
    static Relation.EventTime eventTime(Statement.WatermarkDefinition watermark, Schema schema, String relation) {
        int column = schema.indexOf(watermark.column());
        if (column < 0) {
            MillraceException error = MillraceException.user(
                    SqlState.UNDEFINED_COLUMN,
                    "column \"" + watermark.column() + "\" of the watermark of \"" + relation + "\" does not exist");
            throw Suggestion.nearest(watermark.column(), schema.names())
                    .map(nearest -> error.withHint("did you mean \"" + nearest + "\"?"))
                    .orElse(error);
        }
        DataType type = schema.type(column);
        if (!type.isTimestamp()) {
            throw MillraceException.user(
                    SqlState.DATATYPE_MISMATCH,
                    "event time must be a timestamp, but column \"" + watermark.column() + "\" is of type " + type);
        }
        return new Relation.EventTime(column, watermark.delayMicros());
    }

    public Command createTable(Statement.CreateTable create, String text) {
        List<ForeignKey> foreignKeys = create.rules().foreignKeys();
        if (foreignKeys.isEmpty() || database.catalogStore().isRestoring()) {
            return createTableOf(create, text);
        }
        Set<String> referenced = foreignKeys.stream().map(ForeignKey::table).collect(Collectors.toSet());
        List<Command> made = new ArrayList<>();
        database.lockDefinitions();
        try {
            new ForeignKeys(database)
                    .withUnchanged(
                            referenced, "reference", held.transactions(), () -> made.add(createTableOf(create, text)));
        } finally {
            database.definitionLock().unlock();
        }
        return made.get(0);
    }

    /** A table whose foreign keys have their names and columns. */
    private CatalogObject withForeignKeys(CatalogObject table, Statement.CreateTable create) {
        if (create.rules().foreignKeys().isEmpty() || database.catalogStore().isRestoring()) {
            return table;
        }
        Statement.CreateTable without =
                TableAlterations.definitionOf(table.withRules(table.rules().withForeignKeys(List.of())));
        List<ForeignKey> known =
                new ForeignKeys(database).added(without, create.rules().foreignKeys());
        CatalogObject with = table.withRules(table.rules().withForeignKeys(known));
        return with.renamed(
                with.name(), with.reads(), TableShape.textOf(TableAlterations.definitionOf(with)), with.rules());
    }

    private Command createTableOf(Statement.CreateTable create, String text) {
        return create(ObjectKind.TABLE, create.name(), create.ifExists(), () -> {
            Options options = new Options(create.options(), database.references());
            CatalogObject plain =
                    withForeignKeys(table(create, text, database.catalogStore().creationMicros(), options), create);
            FedTables fed = new FedTables(database, this);
            Optional<FedTables.Fed> feed =
                    options.text("connector").map(connector -> fed.feed(plain, connector, options));
            boolean hasPosition = feed.filter(from -> from.feed().hasPosition()).isPresent();
            CatalogObject table = hasPosition ? fed.withPositions(plain) : plain;
            long rows = database.catalogStore().newRows();
            Relations relations = database.engine().relations();
            Optional<FedRelation> fedRows =
                    feed.map(from -> relations.addFedTable(create.name(), table.schema(), rows, from.onError()));
            if (feed.isEmpty()) {
                relations.addTable(create.name(), table.schema(), rows);
            }
            database.catalogStore().hasRows(create.name(), rows);
            database.tableKeys()
                    .put(
                            create.name(),
                            new TableKeys(
                                    create.name(),
                                    table.schema(),
                                    table.primaryKey(),
                                    table.rules(),
                                    database.engine().allocator()));
            feed.ifPresent(from -> database.feeds().add(create.name(), from.feed(), fedRows.orElseThrow()));
            return table;
        });
    }

    /** A table as the catalog has it; nothing is made. */
    CatalogObject table(Statement.CreateTable create, String text, long createdMicros) {
        return table(create, text, createdMicros, new Options(create.options()));
    }

    /** @param options in which those of a connector are left unread, if it has one */
    private CatalogObject table(Statement.CreateTable create, String text, long createdMicros, Options options) {
        StorageOptions.passOver(options, notices);
        options.text(TemplateQueries.OPTION);
        boolean appendOnly = options.bool(APPEND_ONLY, false);
        if (appendOnly && options.text("connector").isPresent()) {
            throw MillraceException.notAvailableYet("APPEND ONLY of a table with a connector")
                    .withHint("CREATE STREAM is for rows that come from elsewhere and are only added");
        }
        if (create.watermark().isPresent()) {
            options.durationMicros(CatalogObject.IDLE_TIMEOUT, 0);
            if (!appendOnly) {
                requireKey(create);
            } else if (create.primaryKey().isEmpty()) {
                notices.accept("queries wait for the watermark of table \"" + create.name()
                        + "\" where they say EMIT ON WINDOW CLOSE; others follow its rows as they come");
            }
        }
        if (options.text("connector").isEmpty()) {
            options.rejectUnread();
        }
        List<Field> fields = new ArrayList<>(create.columns());
        List<Integer> key = new ArrayList<>();
        for (String column : create.primaryKey()) {
            int place = new Schema(fields).indexOf(column);
            Field field = fields.get(place);
            fields.set(place, new Field(field.name(), field.type(), false));
            key.add(place);
        }
        Schema schema = new Schema(fields);
        requireColumns(schema, create.name());
        return new CatalogObject(
                create.name(),
                ObjectKind.TABLE,
                schema,
                appendOnly,
                key,
                create.watermark().map(watermark -> eventTime(watermark, schema, create.name())),
                Optional.empty(),
                Set.of(),
                create.options(),
                text,
                createdMicros,
                create.rules());
    }

    /** Columns for the rows of a query; the rows come after. */
    public Command createTableAs(Statement.CreateTableAs create) {
        String columns = create.query().schema().fields().stream()
                .map(field -> Identifiers.quote(field.name()) + " " + field.type())
                .collect(Collectors.joining(", "));
        List<Field> fields = create.query().schema().fields().stream()
                .map(field -> new Field(field.name(), field.type(), true))
                .toList();
        return createTable(
                new Statement.CreateTable(
                        create.name(),
                        create.ifExists(),
                        fields,
                        List.of(),
                        TableRules.NONE,
                        Optional.empty(),
                        create.options()),
                "CREATE TABLE " + Identifiers.quote(create.name()) + " (" + columns + ")"
                        + (new Options(create.options()).bool(APPEND_ONLY, false) ? " APPEND ONLY" : ""));
    }

    /** What has nothing to do, of relations that there are. */
    public Command nothing(Statement.NoOperation nothing) {
        for (String name : nothing.relations()) {
            if (database.catalog().object(name).isEmpty()) {
                throw DatabaseCatalog.undefined(
                        "relation", name, database.catalog().relationNames());
            }
        }
        nothing.notice().ifPresent(notices);
        return Command.of(nothing.command());
    }

    public Command alterOptions(Statement.AlterOptions alter) {
        if (Schedules.isOne(alter)) {
            return new Schedules(database).alter(alter);
        }
        return RowChoices.isOne(alter)
                ? new RowChoices(database).alter(alter)
                : StorageOptions.alter(alter, database.catalog(), notices);
    }

    private static void requireKey(Statement.CreateTable create) {
        if (create.primaryKey().isEmpty()) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "a watermark on table \"" + create.name()
                                    + "\" needs a PRIMARY KEY: it speaks of versions, and a version replaces the row of"
                                    + " its key")
                    .withHint("CREATE STREAM, or TABLE .. APPEND ONLY, for rows that replace none");
        }
    }

    public Command createContinuousQuery(Statement.CreateContinuousQuery create, String text) {
        return createQuery(
                ObjectKind.CONTINUOUS_QUERY, create.name(), create.ifExists(), create.options(), create.query(), text);
    }

    public Command createMaterializedView(Statement.CreateMaterializedView create, String text) {
        return createQuery(
                ObjectKind.MATERIALIZED_VIEW, create.name(), create.ifExists(), create.options(), create.query(), text);
    }

    private Command createQuery(
            ObjectKind kind,
            String name,
            IfExists ifExists,
            Map<String, String> optionTexts,
            Query query,
            String text) {
        return create(kind, name, ifExists, () -> {
            queries.checks().requireStreaming(query.relations(), "a standing query");
            Options options = new Options(optionTexts);
            StandingRules given = StandingRules.ofQuery(options);
            boolean ofWindows = windowStreams.areKept(name, options.text(CatalogObject.WINDOWS_OF));
            StandingRules rules = ofWindows ? given.uncondensed() : given;
            int priority = (int) options.integer("priority", 0, -1000, 1000);
            options.text("stop");
            options.text(RowChoice.OPTION);
            boolean atEdge = EdgeNeeds.isWanted(options);
            Optional<String> replaced = options.text(CatalogObject.REPLACES);
            replaced.ifPresent(other -> requireReplaceable(kind, name, other, query));
            if (atEdge || replaced.isPresent()) {
                held.requireOutside("a query that takes the place of another, or that devices compute for,");
            }
            options.integer(Retries.OPTION, 0, 0, Retries.MOST);
            StorageOptions.passOver(options, notices);
            boolean view = kind == ObjectKind.MATERIALIZED_VIEW;
            QueryOptions basic = (view ? QueryOptions.view() : QueryOptions.streaming()).withPriority(priority);
            QueryOptions how = Schedules.scheduled(queries.limits().limited(basic, options), options);
            options.rejectUnread();
            PlanBasis basis = database.catalogStore().basis();
            PhysicalPlan first = queries.plan(query, rules, basis);
            starts.requireKnownErrors(first, rules, query.relations());
            Optional<WindowsAtEdge> windows =
                    atEdge ? windowStreams.find(name, first.root(), optionTexts).windows() : Optional.empty();
            PhysicalPlan plan = ofWindows && windows.isEmpty() ? queries.plan(query, given, basis) : first;
            if (atEdge && windows.isEmpty() && !database.catalogStore().isRestoring()) {
                EdgeNeeds.of(plan.root(), database.catalog()::object).require();
            }
            boolean makesStream = windows.filter(windowStreams::isNew).isPresent();
            Map<String, String> said = windowStreams.options(optionTexts, windows);
            windows.ifPresent(found -> windowStreams.make(found, this));
            PlanNode root = starts.plan(
                    name,
                    windows.map(WindowsAtEdge::plan).orElse(plan.root()),
                    options,
                    query,
                    database.catalogStore().creationMicros());
            try {
                if (replaced.isPresent()
                        && database.retained().backfillsOf(name).isEmpty()) {
                    throw MillraceException.notAvailableYet(
                                    "a query that reads no past of a stream in the place of another")
                            .withHint("WITH (retention = '30 days') has a stream keep its rows, and start = 'earliest'"
                                    + " a query read them; ALTER .. AS is for what can be read again anyway");
                }
                QueryOptions plain = queries.limits().limited(basic, new Options(Map.of()));
                if (optionTexts.isEmpty()) {
                    startAmongOthers(name, root, how);
                } else if (wasAmongOthers(name, root, plain)) { // before it was altered
                    startAmongOthers(name, root, plain);
                    database.standing(name).orElseThrow().schedule(how.schedule());
                } else {
                    start(name, root, how);
                }
            } catch (RuntimeException | Error e) {
                starts.forget(name, root);
                if (makesStream) {
                    drops.takeBack(windows.orElseThrow().partials());
                }
                throw e;
            }
            database.catalogStore().plannedBy(name, basis);
            Set<String> reads = new HashSet<>(query.dependsOn());
            windows.ifPresent(found -> reads.add(found.partials()));
            CatalogObject made = new CatalogObject(
                    name,
                    kind,
                    query.schema(),
                    plan.appendOnly(),
                    plan.uniqueKey().orElse(List.of()),
                    Plans.eventTime(kind, plan),
                    Optional.empty(),
                    reads,
                    optionTexts,
                    text,
                    database.catalogStore().creationMicros(),
                    TableRules.NONE);
            return said.equals(optionTexts) ? made : made.withOptions(said);
        });
    }

    /** What is made again may come before it. */
    private void requireReplaceable(ObjectKind kind, String name, String replaced, Query query) {
        if (!database.catalogStore().isRestoring()) {
            database.catalog().require(kind, replaced);
        }
        if (query.dependsOn().contains(replaced)) {
            throw MillraceException.user(
                            SqlState.INVALID_TABLE_DEFINITION,
                            "\"" + name + "\" cannot take the place of \"" + replaced + "\", which it reads")
                    .withHint("REPROCESS .. AS name keeps it beside");
        }
    }

    /** Starts a continuous query or view without options, together with others that differ from it in literals alone. */
    private void startAmongOthers(String name, PlanNode plan, QueryOptions how) {
        Optional<StandingQuery> member = queries.limits().mayShare()
                ? database.groups().form(plan).flatMap(form -> database.groups().join(name, form, how))
                : Optional.empty();
        if (member.isPresent()) {
            started(name, member.get());
            return;
        }
        try {
            start(name, plan, how);
        } catch (RuntimeException | Error e) {
            database.groups().forget(name); // it counts as one that runs by itself
            throw e;
        }
    }

    /** Whether a checkpoint that the database is being opened from has the query as one that {@link #startAmongOthers} made a member. */
    private boolean wasAmongOthers(String name, PlanNode plan, QueryOptions plain) {
        return database.catalogStore().isRestoring()
                && database.groups()
                        .form(plan)
                        .filter(form -> database.groups().goesOn(name, form, plain))
                        .isPresent();
    }

    /** Starts the query of an object that is being made. */
    void start(String name, PlanNode plan, QueryOptions how) {
        started(
                name,
                database.engine()
                        .start(name, plan, how.withMostBytes(queries.limits().mostBytes())));
    }

    private void started(String name, StandingQuery query) {
        database.queries().put(name, query);
        queries.epochs().wrote(query.firstEpoch());
    }

    public Command createSink(Statement.CreateSink create, String text) {
        return create(ObjectKind.SINK, create.name(), create.ifExists(), () -> {
            queries.checks().requireStreaming(create.query().relations(), "a sink");
            Options options = new Options(create.options(), database.references());
            String connector = options.required("connector");
            PlanBasis basis = database.catalogStore().basis();
            QueryOptions limited = queries.limits().limited(QueryOptions.streaming(), options);
            PhysicalPlan plan = queries.plan(create.query(), StandingRules.of(options), basis);
            Schema schema = create.query().schema();
            SinkInterval.check(options);
            Sink sink = database.connectors()
                    .sink(connector)
                    .open(schema, plan.appendOnly(), options, database.sinkContext(create.name()));
            try {
                options.rejectUnread();
                if (!(sink instanceof CheckpointedSink)) {
                    SinkInterval.refuse(options);
                }
                if (!database.catalogStore().isRestoring()) {
                    sink.check();
                }
            } catch (RuntimeException | Error e) {
                sink.close();
                throw e;
            }
            start(create.name(), plan.root(), limited.withSink(sink));
            database.catalogStore().plannedBy(create.name(), basis);
            return new CatalogObject(
                    create.name(),
                    ObjectKind.SINK,
                    schema,
                    plan.appendOnly(),
                    List.of(),
                    Optional.empty(),
                    Optional.empty(),
                    create.query().dependsOn(),
                    create.options(),
                    text,
                    database.catalogStore().creationMicros(),
                    TableRules.NONE);
        });
    }

    /** Makes room for the name as IF NOT EXISTS and OR REPLACE say, then makes the object and puts it into the catalog. */
    public Command create(ObjectKind kind, String name, IfExists ifExists, Supplier<CatalogObject> make) {
        boolean runs = kind != ObjectKind.STREAM && kind != ObjectKind.TABLE && kind != ObjectKind.VIEW;
        return create(kind, name, ifExists, runs, make);
    }

    /** The same. @param runs whether it is a query that goes on */
    Command create(ObjectKind kind, String name, IfExists ifExists, boolean runs, Supplier<CatalogObject> make) {
        Command created = Command.of("CREATE " + kind.sqlName().toUpperCase(Locale.ROOT));
        database.lockDefinitions();
        try {
            if (DatabaseCatalog.isOfSystem(name)) {
                throw MillraceException.user(
                        SqlState.INSUFFICIENT_PRIVILEGE, "\"" + name + "\" would be in a schema of the system");
            }
            if (!database.catalogStore().isRestoring()) {
                database.catalog().requireSchema(name);
            }
            if (database.histories().queryOf(name).isPresent()) {
                throw MillraceException.user(
                        SqlState.DUPLICATE_OBJECT, "a subscription \"" + name + "\" already exists");
            }
            held.requireFree(name);
            Optional<CatalogObject> existing = database.catalog().object(name);
            if (existing.isPresent()) {
                switch (ifExists) {
                    case FAIL ->
                        throw MillraceException.user(
                                SqlState.DUPLICATE_TABLE, "relation \"" + name + "\" already exists");
                    case SKIP -> {
                        notices.accept("relation \"" + name + "\" already exists, skipping");
                        return created;
                    }
                    case REPLACE -> {
                        held.requireReplaceable(database.catalog().require(kind, name));
                        drops.all(List.of(name), false);
                    }
                }
            }
            if (runs && existing.isEmpty()) {
                requireRoom();
            }
            database.catalog().add(make.get());
            held.made(name, () -> drops.takeBack(name));
            if (existing.isEmpty()) { // else the owner and what was granted stay
                database.catalog().made(database.catalog().require(kind, name), identity.current());
            }
            return created;
        } finally {
            database.definitionLock().unlock();
        }
    }

    /** What the role already owns counts towards its limits, if it has any. */
    private void requireRoom() {
        permissions.requireRoom(
                () -> database.catalog().roles().owned(identity.current()),
                () -> owned().size(),
                () -> owned().stream()
                        .mapToLong(query -> query.statistics().memoryBytes())
                        .sum());
    }

    private List<StandingQuery> owned() {
        return database.catalog().objects().stream()
                .filter(object ->
                        database.catalog().roles().owner(object.name()).equals(identity.current()))
                .flatMap(object -> database.standing(object.name()).stream())
                .toList();
    }
}

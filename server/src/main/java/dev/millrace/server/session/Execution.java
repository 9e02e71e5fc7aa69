package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.connector.RowChange;
import dev.millrace.connector.SourcePosition;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.backup.DatabaseBackup;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.cancellation.Offload;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.checkpoint.DatabaseCheckpoint;
import dev.millrace.server.comment.CommentsOnThings;
import dev.millrace.server.ddl.Alterations;
import dev.millrace.server.ddl.Definitions;
import dev.millrace.server.ddl.DerivedStreams;
import dev.millrace.server.ddl.Drops;
import dev.millrace.server.ddl.DurableSubscriptions;
import dev.millrace.server.ddl.Functions;
import dev.millrace.server.ddl.GroupedQueries;
import dev.millrace.server.ddl.GuessedStreams;
import dev.millrace.server.ddl.HeldDefinitions;
import dev.millrace.server.ddl.Indexes;
import dev.millrace.server.ddl.Renames;
import dev.millrace.server.ddl.Reprocessing;
import dev.millrace.server.ddl.Restarts;
import dev.millrace.server.ddl.Schemas;
import dev.millrace.server.ddl.TableAlterations;
import dev.millrace.server.ddl.Templates;
import dev.millrace.server.ddl.Views;
import dev.millrace.server.dml.Copies;
import dev.millrace.server.dml.FedRows;
import dev.millrace.server.dml.KnownInserts;
import dev.millrace.server.dml.PreparedChanges;
import dev.millrace.server.dml.Writes;
import dev.millrace.server.dml.WrittenParts;
import dev.millrace.server.feed.Feeds;
import dev.millrace.server.feed.RunningFeed;
import dev.millrace.server.group.KnownQuery;
import dev.millrace.server.instance.CatalogStore;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.names.PreparedTexts;
import dev.millrace.server.names.SessionCatalog;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.permission.RoleSessions;
import dev.millrace.server.permission.RoleStatements;
import dev.millrace.server.permission.SecretDefinitions;
import dev.millrace.server.planning.AdHoc;
import dev.millrace.server.planning.OpenAnalyses;
import dev.millrace.server.planning.SessionUse;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.server.query.Cursors;
import dev.millrace.server.query.KeyReads;
import dev.millrace.server.query.Queries;
import dev.millrace.server.query.Subscriptions;
import dev.millrace.server.result.Progress;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.settings.PassiveSettings;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.settings.SystemSettings;
import dev.millrace.server.system.Inspection;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.DefinitionZone;
import dev.millrace.sql.LiftedQuery;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.Catalog;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.CommentStatement;
import dev.millrace.sql.statement.IndexStatement;
import dev.millrace.sql.statement.Merge;
import dev.millrace.sql.statement.RenameStatement;
import dev.millrace.sql.statement.SchemaStatement;
import dev.millrace.sql.statement.SecretStatement;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.SubscriptionStatement;
import dev.millrace.sql.statement.WithChanges;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import dev.millrace.type.PlainNumeric;
import java.io.File;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Executes the statements of one session: says which class does which.
 *
 * <p>Long because it names them all.
 */
final class Execution {
    /** Characters of an INSERT that is parsed on a thread that may not wait: some tenths of a millisecond. */
    private static final int MOST_PARSED_AT_ONCE = 8 << 10;

    private static final String ONLY_IN_TRANSACTIONS = "SET LOCAL can only be used in transaction blocks";

    private final Instance database;
    private final SessionSettings settings;
    private final StatementZones zones;
    private final SessionCatalog names;
    private final Identity identity;
    private final RoleStatements roles;
    private final Consumer<String> notices;
    private final HeldDefinitions held;
    private final Indexes indexes;
    private final Drops drops;
    private final Definitions definitions;
    private final GroupedQueries groupedQueries;
    private final GuessedStreams guessed;
    private final DerivedStreams derivedStreams;
    private final Restarts restarts;
    private final Views views;
    private final Functions functions;
    private final Schemas schemas;
    private final Transactions transactions;
    private final Cursors cursors;
    private final PreparedTexts prepared;
    private final Queries queries;
    private final Subscriptions subscriptions;
    private final DurableSubscriptions durable;
    private final OpenAnalyses analyses;
    private final KeyReads keyReads;
    private final PreparedChanges preparedChanges;
    private final Writes writes;
    private final KnownInserts knownInserts;
    private final Copies copies;
    private final Inspection inspection;
    private final Alterations alterations;
    private final Reprocessing reprocessing;
    private final TableAlterations tables;
    private final Renames renames;
    private final KeptStatements kept;
    private final Templates templates;
    private final Explanations explanations;
    private final EarlyStatements early;
    private final TemporaryStatements temporaries;
    private final StatementNames statementNames;

    /** How far the statement under way is; written by the session's thread, read by any. */
    private volatile Supplier<Optional<Progress>> progress = Optional::empty;

    Execution(
            Instance database,
            RoleSessions sessions,
            SessionSettings settings,
            SessionCatalog names,
            Cancellation cancellation,
            Offload offload,
            Consumer<String> notices) {
        this.database = database;
        this.settings = settings;
        this.zones = new StatementZones(settings);
        this.names = names;
        this.identity = names.identity();
        this.prepared = names.objects().prepared();
        this.roles = new RoleStatements(database, sessions, identity, names.permissions(), notices);
        this.notices = notices;
        this.transactions =
                new Transactions(database.rowLocks(), database.engine(), database.clock(), settings, notices);
        this.queries = new Queries(
                database, settings, transactions, cancellation, offload, source -> progress = source, notices);
        this.subscriptions = new Subscriptions(database, settings, queries, cancellation, notices, names.permissions());
        this.durable = new DurableSubscriptions(database, settings, notices, names.permissions(), identity);
        this.analyses = new OpenAnalyses(names::version);
        this.keyReads = new KeyReads(database, names, queries, analyses);
        this.cursors = new Cursors(database, queries, subscriptions, transactions, cancellation, names.objects());
        transactions.onEnd(
                queries.epochs()::wrote, () -> cursors.endTransaction(true), () -> cursors.endTransaction(false));
        this.held = new HeldDefinitions(database, settings, transactions);
        transactions.definitions(held);
        this.indexes = new Indexes(database, queries, transactions, held, notices);
        this.drops = new Drops(database, notices, indexes, held);
        this.guessed = new GuessedStreams(database, notices);
        this.definitions = new Definitions(database, notices, queries, names.permissions(), identity, drops, held);
        this.groupedQueries = new GroupedQueries(database, settings, names, queries, transactions);
        this.derivedStreams = new DerivedStreams(database, definitions, queries);
        this.restarts = new Restarts(database, notices, queries);
        this.views = new Views(database, definitions, drops, held);
        this.functions = new Functions(database, identity, held);
        this.schemas = new Schemas(database, notices, identity, names.permissions(), drops, held);
        this.writes = new Writes(database, queries, transactions, settings);
        transactions.checks(writes.foreignKeys());
        this.knownInserts = new KnownInserts(database.frontend(), names);
        this.preparedChanges = new PreparedChanges(database, names, queries, transactions, writes, analyses);
        this.copies = new Copies(database, queries, subscriptions, writes, settings);
        this.inspection = new Inspection(database, settings);
        this.alterations = new Alterations(database, notices, queries, indexes, definitions, drops);
        this.reprocessing = new Reprocessing(database, indexes);
        this.tables = new TableAlterations(database, definitions, drops, indexes, queries, transactions, held, notices);
        this.renames = new Renames(database, indexes, transactions, held, notices);
        this.kept = new KeptStatements(database, queries.epochs(), drops, held);
        this.templates = new Templates(database, drops, notices, this::made, this::columns);
        this.explanations = new Explanations(database, queries, alterations, subscriptions);
        this.temporaries = new TemporaryStatements(
                names.path().temporaries(),
                this::drop,
                notices,
                () -> !database.opening().isOver());
        this.early = new EarlyStatements(database, names, queries);
        this.statementNames = new StatementNames(database.frontend(), names, this::analyze, notices);
    }

    Queries queries() {
        return queries;
    }

    Subscriptions subscriptions() {
        return subscriptions;
    }

    /** @throws MillraceException 42501 if the session's role may not insert into a relation */
    void requireInsert(String relation) {
        names.permissions().requireInsert(relation);
    }

    /** Whether what has a name is there for this session; waits for a transaction of another that has altered or dropped it. */
    boolean sees(String name) {
        return held.sees(name);
    }

    /** Inserts rows, which are taken over, under the names of their columns; all at once. */
    long insert(String relation, Batch rows) {
        try {
            if (!sees(relation)) {
                throw DatabaseCatalog.undefined("relation", relation, List.of());
            }
            names.permissions().requireInsert(relation);
        } catch (MillraceException e) {
            rows.close();
            throw e;
        }
        try {
            early.awaitAll();
        } catch (MillraceException e) {
            rows.close();
            throw e;
        }
        queries.begin();
        return writes.insert(relation, rows);
    }

    /**
     * Has a feed's changes take effect, together with its position.
     *
     * @param change brings the rows
     */
    void feed(RunningFeed feed, Consumer<FedRows> change, Optional<SourcePosition> position) {
        queries.begin();
        FedRows rows = new FedRows(database, queries, writes);
        if (position.isEmpty()) {
            requireCurrent(feed);
            change.accept(rows);
            return;
        }
        transactions.beginImplicit();
        try {
            requireCurrent(feed);
            change.accept(rows);
            rows.change(
                    Feeds.POSITIONS,
                    List.of(RowChange.put(List.of(
                            Optional.of(feed.table()),
                            Optional.of(Long.toString(database.catalogStore().numberOf(feed.table()))),
                            Optional.of("\\x"
                                    + HexFormat.of().formatHex(position.get().bytes()))))));
            transactions.endImplicit();
        } catch (RuntimeException | Error e) {
            transactions.fail();
            throw e;
        }
    }

    private static void requireCurrent(RunningFeed feed) {
        if (!feed.isCurrent()) {
            throw MillraceException.user(SqlState.UNDEFINED_TABLE, "table \"" + feed.table() + "\" was dropped");
        }
    }

    Transactions transactions() {
        return transactions;
    }

    /** What was found of a statement before its execution. */
    OpenAnalyses analyses() {
        return analyses;
    }

    /** The session's statements in its time zone. */
    StatementZones zones() {
        return zones;
    }

    /** What is answered from an index. */
    KeyReads keyReads() {
        return keyReads;
    }

    /** Frees what was kept for statements to come. */
    void forget() {
        preparedChanges.close();
        keyReads.close();
    }

    Optional<Progress> progress() {
        return progress.get();
    }

    TemporaryStatements temporaries() {
        return temporaries;
    }

    private void drop(Statement.Drop drop) {
        kept.keep(drop, () -> drops.drop(drop));
    }

    /** What has statements wait while the database is being opened. */
    EarlyStatements early() {
        return early;
    }

    /** Executes a text that is an INSERT of constants where that needs no wait and succeeds; else nothing was changed. */
    Optional<StatementResult> insertAtOnce(String sql) {
        if (!early.areOver() || database.uncommitted().areThere()) {
            return Optional.empty();
        }
        Optional<KnownInserts.Found> found = knownInserts.find(sql);
        if (found.isPresent()) {
            beginAtOnce(sql, found.get().syntax());
            return insertAtOnce(found.get().insert(), found.get().syntax());
        }
        long version = names.version();
        Optional<ParsedStatement> parsed = sql.length() > MOST_PARSED_AT_ONCE
                ? Optional.empty()
                : database.frontend().insertOfConstants(sql);
        if (parsed.isEmpty()) {
            return Optional.empty();
        }
        beginAtOnce(sql, parsed.get().syntax());
        Optional<Statement.Insert> insert = database.frontend()
                .analyzeConstants(parsed.get(), names, Parameters.none())
                .map(statement -> (Statement.Insert) statement);
        Optional<StatementResult> result =
                insert.flatMap(statement -> insertAtOnce(statement, parsed.get().syntax()));
        if (result.isPresent()) {
            knownInserts.learn(parsed.get(), insert.orElseThrow(), version);
        }
        return result;
    }

    /** Whether a statement may be executed by {@link #insertAtOnce(ParsedStatement, Parameters)}. */
    boolean insertsAtOnce(ParsedStatement parsed) {
        return parsed.syntax() instanceof Syntax.Insert insert
                && insert.literals().isPresent()
                && insert.conflict().isEmpty()
                && insert.returning().isEmpty()
                && parsed.text().length() <= MOST_PARSED_AT_ONCE
                && !transactions.isUnderWay()
                && !database.uncommitted().areThere()
                && early.areOver();
    }

    /** The same of an INSERT of constants and parameters. */
    Optional<StatementResult> insertAtOnce(ParsedStatement parsed, Parameters parameters) {
        Optional<KnownInserts.Found> found = knownInserts.find(parsed, parameters);
        beginAtOnce(parsed.text(), parsed.syntax());
        if (found.isPresent()) {
            return insertAtOnce(found.get().insert(), parsed.syntax());
        }
        long version = names.version();
        Optional<Statement.Insert> insert = database.frontend()
                .analyzeConstants(parsed, names, parameters)
                .map(statement -> (Statement.Insert) statement);
        Optional<StatementResult> result = insert.flatMap(statement -> insertAtOnce(statement, parsed.syntax()));
        if (result.isPresent()) {
            knownInserts.learnPrepared(parsed, insert.orElseThrow(), version);
        }
        return result;
    }

    private Optional<StatementResult> insertAtOnce(Statement.Insert insert, Syntax syntax) {
        if (!settings.timeStyle().readsPlainly() && hasTimes(insert.relation())) {
            return Optional.empty(); // whose texts are not in UTC, or in another order
        }
        transactions.check(insert);
        names.permissions().require(insert, syntax);
        return writes.insertAtOnce(insert);
    }

    private boolean hasTimes(String relation) {
        return names.relation(relation).stream()
                .flatMap(known -> known.schema().fields().stream())
                .anyMatch(field -> field.type().isTimestamp() || field.type().kind() == DataType.Kind.DATE);
    }

    /** The statement with the columns that a connector finds out, if it is one without. */
    private ParsedStatement withColumns(ParsedStatement given) {
        Optional<Syntax> syntax = GuessedStreams.withoutColumns(given.syntax());
        if (syntax.isEmpty()) {
            return given;
        }
        ParsedStatement open = new ParsedStatement(given.source(), given.text(), given.offset(), 0, syntax.get());
        Statement.CreateStream create = statementNames.named(
                (Statement.CreateStream) database.frontend().analyze(open, names, Parameters.none()), given);
        transactions.check(create);
        names.permissions().require(create, given.syntax());
        return guessed.settle(create, given.text())
                .map(text -> database.frontend().parse(text).get(0))
                .orElse(given);
    }

    StatementResult execute(ParsedStatement statementGiven, Parameters parametersGiven) {
        ParsedStatement given = zones.here(statementGiven);
        Parameters parameters = parametersGiven.inStyle(settings.timeStyle());
        begin(given, parameters);
        Optional<StatementResult> known = executeKept(given, parameters);
        if (known.isPresent()) {
            return known.get();
        }
        Optional<StatementResult> found = executeGiven(given, parameters);
        if (found.isPresent()) {
            return found.get();
        }
        try (PlainNumeric.Binding meaning = numericIn(given).bind()) {
            return executeAnew(given, parameters);
        }
    }

    /** What NUMERIC without digits means in a statement: what the session says is about what it defines. */
    private PlainNumeric numericIn(ParsedStatement given) {
        boolean keepsText = DefinitionZone.concerns(given.syntax()) || DefinitionZone.isRead(given.syntax());
        return keepsText && settings.numericIsLimited() ? PlainNumeric.LIMITED : PlainNumeric.current();
    }

    private StatementResult executeAnew(ParsedStatement given, Parameters parameters) {
        Optional<LiftedQuery> lifted = groupedQueries.lifted(given);
        Optional<StatementResult> member =
                lifted.flatMap(database.knownForms()::find).flatMap(groupedQueries::make);
        if (member.isPresent()) {
            return member.get();
        }
        ParsedStatement said = withColumns(given);
        Statement analysed = analyses.take(said)
                .orElseGet(() -> queries.offload().run(() -> database.plans().analyze(said, names, parameters)));
        Optional<ParsedStatement> literal = statementNames.kept(said, analysed, parameters);
        ParsedStatement parsed = literal.orElse(said);
        Statement statement = temporaries.named(statementNames.resolved(
                literal.map(text -> analyze(text, names.ofDefinitions())).orElse(analysed), parsed));
        transactions.check(statement);
        names.permissions().require(statement, parsed.syntax());
        zones.notices(parsed).forEach(notices);
        Optional<StatementResult> done = executeForTransactions(statement);
        if (done.isPresent()) {
            return done.get();
        } else if (statement instanceof Statement.Prepare prepare) {
            ParsedStatement inner = parsed.prepared().orElseThrow();
            if (Descriptions.isAnalyzed(inner.syntax())) { // its errors are told now, as PostgreSQL does
                queries.offload().run(() -> database.plans().describe(inner, new SessionUse(names), prepare.types()));
            }
            prepared.prepare(prepare, inner, parsed.text());
            return Command.of("PREPARE");
        } else if (statement instanceof Statement.ExecutePrepared execute) {
            return execute(prepared.statement(execute.name()), prepared.parameters(execute));
        }
        if (statement instanceof SchemaStatement.CreateSchema schema
                && !schema.elements().isEmpty()) {
            return new SchemaElements(
                            database, settings, transactions, identity, part -> execute(part, Parameters.none()))
                    .create(schema, () -> kept.keep(schema, () -> schemas.execute(schema)));
        }
        if (statement instanceof IndexStatement index) {
            indexes.prepare(index);
        }
        templates.requireNoneIn(statement);
        if (statement instanceof Statement.Drop drop && templates.drops(drop)) {
            return templates.drop(drop);
        }
        StatementResult result = CatalogStore.concerns(statement)
                ? kept.keep(statement, () -> execute(statement, temporaries.definition(statement, parsed.text())))
                : execute(statement, parsed.text());
        lifted.ifPresent(text -> groupedQueries.learn(text, statement, parsed.syntax()));
        return result;
    }

    /** Makes queries of known forms without their texts being parsed, from the first on as many as can be made so; see {@link GroupedQueries#make}. */
    List<Optional<Supplier<StatementResult>>> execute(List<KnownQuery> queries) {
        if (!early.areOver()) {
            return Collections.nCopies(queries.size(), Optional.empty());
        }
        beginAtOnce(queries.get(0).text(), queries.get(0).form().syntax());
        return groupedQueries.make(queries);
    }

    /** Executes a text by way of the statement that it shares with others, if that can be done. */
    Optional<StatementResult> execute(AdHoc adHoc) {
        ParsedStatement statement = zones.here(adHoc.statement());
        Parameters values = adHoc.values().inStyle(settings.timeStyle());
        begin(statement, values);
        Optional<StatementResult> result = executeKept(statement, values);
        if (result.isPresent()) {
            database.adHoc().used();
        } else if (!keyReads.knows(statement) && !preparedChanges.knows(statement)) {
            adHoc.refuse();
        }
        return result;
    }

    private void begin(ParsedStatement parsed, Parameters parameters) {
        queries.offload().begins(parsed.text()); // EXECUTE names another
        progress = Optional::empty;
        transactions.requireUsable(parsed.syntax());
        early.await(parsed, parameters); // what comes meanwhile is no change to it
        names.files().begin();
        queries.begin();
    }

    /** The same of a statement that has nothing to wait for. */
    private void beginAtOnce(String text, Syntax syntax) {
        queries.offload().begins(text);
        progress = Optional::empty;
        transactions.requireUsable(syntax);
        queries.begin();
    }

    /** Executes a statement by what is kept of it for any values, if there is such. */
    private Optional<StatementResult> executeKept(ParsedStatement parsed, Parameters parameters) {
        if (KeyReads.concerns(parsed.syntax())) {
            return keyReads.read(parsed, parameters);
        }
        return PreparedChanges.concerns(parsed) ? preparedChanges.execute(parsed, parameters) : Optional.empty();
    }

    /** Executes a statement with parameters by its analysis without their values, if that is enough. */
    private Optional<StatementResult> executeGiven(ParsedStatement parsed, Parameters parameters) {
        if (parsed.parameterCount() == 0) {
            return Optional.empty();
        }
        return KeyReads.concerns(parsed.syntax())
                ? keyReads.readGiven(parsed, parameters)
                : preparedChanges.executeGiven(parsed, parameters);
    }

    private StatementResult execute(Statement statement, String text) {
        if (statement instanceof Statement.Select select) {
            return queries.select(select);
        } else if (statement instanceof Statement.Insert insert) {
            return writes.insert(insert);
        } else if (statement instanceof Statement.Update update) {
            return writes.update(update);
        } else if (statement instanceof Statement.Delete delete) {
            return writes.delete(delete);
        } else if (statement instanceof Merge merge) {
            return writes.merge(merge);
        } else if (statement instanceof WithChanges with) {
            return new WrittenParts(queries, transactions, writes.foreignKeys(), part -> execute(part, text))
                    .execute(with);
        } else if (statement instanceof Statement.Truncate truncate) {
            return writes.truncate(truncate);
        } else if (statement instanceof Statement.Subscribe subscribe) {
            return subscriptions.subscribe(subscribe);
        } else if (statement instanceof Statement.Flush) {
            return flush();
        } else if (statement instanceof Statement.Checkpoint) {
            return checkpoint();
        } else if (statement instanceof Statement.Backup backup) {
            return backup(backup.directory());
        } else if (statement instanceof Statement.NoOperation nothing) {
            return definitions.nothing(nothing);
        } else if (statement instanceof Statement.AlterOptions alter) {
            return Alterations.isOfPlan(alter) ? alterations.alterOptions(alter) : definitions.alterOptions(alter);
        } else if (statement instanceof Statement.CreateContinuousQuery create) {
            return definitions.createContinuousQuery(create, text);
        } else if (statement instanceof Statement.CreateMaterializedView create) {
            return definitions.createMaterializedView(create, text);
        } else if (statement instanceof Statement.CreateView create) {
            return views.create(create, text);
        } else if (statement instanceof Statement.CreateQueryTemplate create) {
            return templates.create(create);
        } else if (statement instanceof Statement.CreateFromTemplate create) {
            return templates.createQuery(create, text);
        } else if (statement instanceof Statement.CreateTableAs create) {
            return createTableAs(create);
        } else if (statement instanceof Statement.CreateStream create) {
            return definitions.createStream(create, text);
        } else if (statement instanceof Statement.CreateStreamAs create) {
            return derivedStreams.create(create, text);
        } else if (statement instanceof Statement.CreateTable create) {
            return definitions.createTable(create, text);
        } else if (statement instanceof Statement.CreateSink create) {
            return definitions.createSink(create, text);
        } else if (statement instanceof AlterTable alter) {
            return tables.alter(alter);
        } else if (statement instanceof RenameStatement rename) {
            return renames.execute(rename);
        } else if (statement instanceof CommentStatement comment) {
            return new CommentsOnThings(database, held, notices).execute(comment);
        } else if (statement instanceof IndexStatement index) {
            return indexes.execute(index);
        } else if (statement instanceof SchemaStatement schema) {
            return schemas.execute(schema);
        } else if (statement instanceof SubscriptionStatement subscription) {
            return held.alone(() -> durable.execute(subscription));
        } else if (statement instanceof SecretStatement secret) {
            return held.alone(() -> new SecretDefinitions(database, notices, identity).execute(secret));
        } else if (statement instanceof Statement.AlterQuery alter) {
            return alterations.alter(alter);
        } else if (statement instanceof Statement.Reprocess reprocess) {
            return reprocess(reprocess);
        } else if (statement instanceof Statement.ApplyReplacement apply) {
            return reprocessing.apply(apply);
        } else if (statement instanceof Statement.Drop drop) {
            return switch (drop.kind()) {
                case QUERY_TEMPLATE -> templates.dropTemplates(drop);
                case SCHEMA -> schemas.drop(drop);
                default -> drops.drop(drop);
            };
        } else if (statement instanceof Statement.Pause pause) {
            return restarts.pause(pause);
        } else if (statement instanceof Statement.Resume resume) {
            return restarts.resume(resume);
        } else if (statement instanceof Statement.Show show) {
            return inspection.show(show.listing());
        } else if (statement instanceof Statement.ShowCreate show) {
            return inspection.showCreate(show);
        } else if (statement instanceof Statement.Describe describe) {
            return inspection.describe(describe);
        } else if (statement instanceof Statement.ShowSetting show) {
            return inspection.showSetting(show);
        } else if (statement instanceof Statement.Explain explain) {
            return explanations.explain(explain);
        } else if (statement instanceof Statement.ExplainAnalyze explain) {
            return explanations.analyze(explain);
        } else if (statement instanceof Statement.ExplainRunning explain) {
            return explanations.explainRunning(explain);
        } else if (statement instanceof Statement.SetSetting set) {
            return set(set);
        } else if (statement instanceof Statement.ResetSetting reset) {
            return reset(reset);
        } else if (statement instanceof Statement.AlterEdge alter) {
            database.edgeInlets().set(alter.stream(), alter.device(), alter.settings());
            return StatementResult.Command.of("ALTER STREAM");
        } else if (statement instanceof Statement.AlterSystem alter) {
            return alterSystem(alter);
        }
        return executeForDrivers(statement, text);
    }

    /** With the lock of definitions held. */
    private Command reprocess(Statement.Reprocess reprocess) {
        ParsedStatement parsed =
                database.frontend().parse(reprocessing.definition(reprocess)).get(0);
        try (PlainNumeric.Binding meaning = reprocessing.numeric(reprocess).bind()) {
            Statement create = analyze(parsed, names.ofDefinitions());
            names.permissions().require(create, parsed.syntax());
            execute(create, parsed.text());
        }
        String name = Reprocessing.nameOf(reprocess);
        database.catalog().roles().setOwner(name, database.catalog().roles().owner(reprocess.name()));
        notices.accept(
                reprocess.beside().isPresent()
                        ? "\"" + name + "\" stays beside \"" + reprocess.name() + "\""
                        : "\"" + name + "\" has the new answer until it takes the place of \"" + reprocess.name()
                                + "\"; millrace.backfills says how far it is");
        return Command.of("REPROCESS");
    }

    private Statement analyze(ParsedStatement parsed, Catalog catalog) {
        return queries.offload().run(() -> database.plans().analyze(parsed, catalog, Parameters.none()));
    }

    /** Executes a statement that another is made of, in the catalog's names. */
    private void made(String text) {
        ParsedStatement parsed = database.frontend().parse(text).get(0);
        queries.begin(); // what the one before made is there
        Statement statement = analyze(parsed, names.ofDefinitions());
        if (parsed.syntax().changesRows()) {
            transactions.check(statement);
        }
        names.permissions().require(statement, parsed.syntax());
        execute(statement, parsed.text()).close(); // kept with the other
    }

    private List<String> columns(String select) {
        ParsedStatement parsed = database.frontend().parse(select).get(0);
        return ((Statement.Select) analyze(parsed, names.ofDefinitions()))
                .query()
                .schema()
                .names();
    }

    private Command checkpoint() {
        requireSuperuser("CHECKPOINT");
        held.requireNone("CHECKPOINT");
        if (!database.journal().isWriting()) {
            notices.accept("nothing is kept on disk: start with --data DIR");
        }
        new DatabaseCheckpoint(database).run();
        return Command.of("CHECKPOINT");
    }

    private void requireSuperuser(String statement) {
        if (!identity.isSuperuser()) {
            throw MillraceException.user(SqlState.INSUFFICIENT_PRIVILEGE, "must be superuser to execute " + statement);
        }
    }

    private Command backup(String directory) {
        requireSuperuser("BACKUP");
        held.requireNone("BACKUP");
        if (!new File(directory).isAbsolute()) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "BACKUP TO takes an absolute path, not '" + directory + "'");
        }
        notices.accept(
                new DatabaseBackup(database).run(new File(directory).toPath()).toString());
        return Command.of("BACKUP");
    }

    private Command createTableAs(Statement.CreateTableAs create) {
        if (!create.withData() || isThere(create)) {
            return definitions.createTableAs(create);
        }
        // What the query gives is known before anything is made or, with OR REPLACE, dropped.
        try (Batch rows = queries.whole(queries.rows(create.query()))) {
            database.lockDefinitions();
            try {
                return isThere(create) ? definitions.createTableAs(create) : createTableOf(create, rows);
            } finally {
                database.definitionLock().unlock();
            }
        }
    }

    private boolean isThere(Statement.CreateTableAs create) {
        return create.ifExists() == Statement.IfExists.SKIP
                && database.catalog().object(create.name()).isPresent();
    }

    /** With the lock of definitions held. */
    private Command createTableOf(Statement.CreateTableAs create, Batch rows) {
        definitions.createTableAs(create);
        try {
            writes.fill(create.name(), rows);
            return Command.of("SELECT", rows.rowCount());
        } catch (RuntimeException e) {
            drops.takeBack(create.name());
            throw e;
        }
    }

    private Optional<StatementResult> executeForTransactions(Statement statement) {
        if (statement instanceof Statement.Begin begin) {
            return Optional.of(transactions.begin(begin.modes()));
        } else if (statement instanceof Statement.Commit commit) {
            return Optional.of(transactions.commit(commit.chain()));
        } else if (statement instanceof Statement.Rollback rollback) {
            return Optional.of(transactions.rollback(rollback.chain()));
        } else if (statement instanceof Statement.Savepoint savepoint) {
            return Optional.of(transactions.savepoint(savepoint.name()));
        } else if (statement instanceof Statement.RollbackTo rollback) {
            return Optional.of(transactions.rollbackTo(rollback.savepoint()));
        } else if (statement instanceof Statement.Release release) {
            return Optional.of(transactions.release(release.savepoint()));
        } else if (statement instanceof Statement.SetTransaction set) {
            return Optional.of(transactions.set(set));
        } else if (statement instanceof Statement.SetConstraints set) {
            return Optional.of(writes.foreignKeys().set(set));
        }
        return Optional.empty();
    }

    /** What clients send by habit, and what comes with later versions. */
    private StatementResult executeForDrivers(Statement statement, String text) {
        if (statement instanceof Statement.RoleStatement change) {
            return roles.execute(change);
        } else if (statement instanceof Statement.SetRole set) {
            set.role().map(identity::named).ifPresentOrElse(identity::setRole, identity::resetRole);
            return Command.of("SET");
        } else if (statement instanceof Statement.SetSessionAuthorization set) {
            set.role().map(identity::named).ifPresentOrElse(identity::setSession, identity::resetSession);
            return Command.of("SET");
        } else if (statement instanceof Statement.CreateFunction create) {
            return functions.create(create, text);
        } else if (statement instanceof Statement.CopyFrom copy) {
            return copies.from(copy);
        } else if (statement instanceof Statement.CopyTo copy) {
            return copies.to(copy);
        } else if (statement instanceof Statement.DeclareCursor declare) {
            return cursors.declare(declare, text);
        } else if (statement instanceof Statement.Fetch fetch) {
            return cursors.fetch(fetch);
        } else if (statement instanceof Statement.CloseCursor close) {
            return cursors.close(close);
        } else if (statement instanceof Statement.Deallocate deallocate) {
            deallocate.name().ifPresentOrElse(prepared::deallocate, prepared::deallocateAll);
            return Command.of(deallocate.name().isPresent() ? "DEALLOCATE" : "DEALLOCATE ALL");
        } else if (statement instanceof Statement.Discard discard) {
            return discard(discard);
        } else if (statement instanceof Statement.Unlisten) {
            return Command.of("UNLISTEN");
        }
        throw MillraceException.notAvailableYet(StatementKinds.name(statement));
    }

    private Command discard(Statement.Discard discard) {
        if (discard.what().equals("ALL")) {
            if (transactions.isExplicit()) {
                throw MillraceException.user(
                        SqlState.ACTIVE_SQL_TRANSACTION, "DISCARD ALL cannot run inside a transaction block");
            }
            cursors.closeAll();
            identity.resetSession();
            settings.resetAll();
            prepared.deallocateAll();
        }
        if (!discard.what().equals("PLANS") && !discard.what().equals("SEQUENCES")) {
            temporaries.dropAll();
        }
        return Command.of("DISCARD " + discard.what());
    }

    /** What FETCH of a cursor gives, and what EXECUTE would run; for those who describe statements. */
    Cursors cursors() {
        return cursors;
    }

    PreparedTexts prepared() {
        return prepared;
    }

    Command flush() {
        early.awaitAll();
        queries.flush();
        return Command.of("FLUSH");
    }

    Command set(Statement.SetSetting set) {
        if (PassiveSettings.isPassive(set.name())) {
            return setPassive(set);
        }
        Setting setting = Setting.named(set.name());
        if (SystemSettings.isLimit(setting)) {
            database.systemSettings().set(setting, set.value());
            return Command.of("SET");
        }
        set.value().ifPresentOrElse(value -> set(setting, value, set.local()), () -> settings.reset(setting));
        applied(setting);
        return Command.of("SET");
    }

    private Command setPassive(Statement.SetSetting set) {
        if (set.value().isEmpty()) {
            settings.resetPassive(set.name());
        } else if (!set.local() || transactions.isExplicit()) {
            settings.setPassive(set.name(), set.value().get(), set.local());
            PassiveSettings.notice(set.name()).ifPresent(notices);
        } else {
            notices.accept(ONLY_IN_TRANSACTIONS);
        }
        return Command.of("SET");
    }

    private void set(Setting setting, String value, boolean local) {
        if (!local) {
            settings.set(setting, value);
        } else if (transactions.isExplicit()) {
            settings.setLocal(setting, value);
        } else {
            setting.checked(value);
            notices.accept(ONLY_IN_TRANSACTIONS);
        }
    }

    /** One setting is everybody's. RESET ALL, which drivers send when they give a session back, leaves it alone. */
    private void applied(Setting setting) {
        if (setting == Setting.SCHEDULING_POLICY) {
            database.engine().setSchedulingPolicy(settings.get(setting));
        }
    }

    private Command alterSystem(Statement.AlterSystem alter) {
        if (transactions.isExplicit()) {
            throw MillraceException.user(
                    SqlState.ACTIVE_SQL_TRANSACTION, "ALTER SYSTEM cannot run inside a transaction block");
        }
        alter.name()
                .map(Setting::named)
                .ifPresentOrElse(
                        setting -> database.systemSettings().keep(setting, alter.value()),
                        database.systemSettings()::keepNone);
        return Command.of("ALTER SYSTEM");
    }

    private Command reset(Statement.ResetSetting reset) {
        if (reset.name().filter(PassiveSettings::isPassive).isPresent()) {
            settings.resetPassive(reset.name().get());
            return Command.of("RESET");
        }
        Optional<Setting> one = reset.name().map(Setting::named);
        if (one.filter(SystemSettings::isLimit).isPresent()) {
            database.systemSettings().set(one.get(), Optional.empty());
            return Command.of("RESET");
        }
        one.ifPresentOrElse(settings::reset, settings::resetAll);
        one.ifPresent(this::applied);
        return Command.of("RESET");
    }
}

package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.connector.SourcePosition;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.cancellation.Deadlines;
import dev.millrace.server.cancellation.Offload;
import dev.millrace.server.dml.FedRows;
import dev.millrace.server.feed.RunningFeed;
import dev.millrace.server.group.KnownQuery;
import dev.millrace.server.heap.KeptHeap;
import dev.millrace.server.heap.StatementSize;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.names.FilesInQueries;
import dev.millrace.server.names.ParameterValues;
import dev.millrace.server.names.PreparedTexts;
import dev.millrace.server.names.SearchPath;
import dev.millrace.server.names.SessionCatalog;
import dev.millrace.server.names.SessionObjects;
import dev.millrace.server.names.TemporaryRelations;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.permission.Permissions;
import dev.millrace.server.planning.AdHoc;
import dev.millrace.server.result.Progress;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.transaction.TransactionState;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * One user's conversation with the database. Used by one thread at a time; {@link #cancel} and {@link #progress} by any.
 *
 * <pre>
 *   try (StatementResults results = session.execute("INSERT INTO t VALUES (1); SELECT * FROM v")) {
 *       while (results.hasNext()) { switch on the kind of results.next() }
 *   }
 * </pre>
 *
 * A session reads its own writes: a SELECT waits for the epochs that the session's earlier statements made.
 *
 * <p>Long because it is all that protocols and hosts see of a conversation.
 */
public final class Session implements AutoCloseable {
    private static final EventLog LOG = EventLog.named("server");
    private static final long SHARED_STATEMENT_BYTES = 500;

    private final Database database;
    private final Instance instance;
    private final SessionSettings settings = new SessionSettings();
    private final KeptHeap kept;
    private final SessionObjects objects;
    private final Identity identity;
    private final SearchPath path;
    private final Execution execution;
    private final Steps steps;
    private final PreparedStatements prepared;
    private final OwnFunctions functions = new OwnFunctions();
    private final Signals signals;
    private final SettingCalls settingCalls;
    private final Activity activity;
    private final AtomicInteger process = new AtomicInteger(); // 0 until somebody asks for it
    private final AtomicBoolean closed = new AtomicBoolean();
    private Consumer<String> notices = notice -> {};

    Session(Database database, String role) {
        this.database = database;
        this.instance = database.instance();
        this.kept = new KeptHeap(instance.heap().kept());
        this.objects = new SessionObjects(new PreparedTexts(instance.clock(), this::keptBytes, kept));
        this.identity = new Identity(instance.catalog().roles(), settings, role);
        Permissions permissions = new Permissions(instance.catalog(), identity);
        this.signals = new Signals(database, this, identity, functions);
        this.settingCalls = new SettingCalls(functions, identity);
        this.activity = new Activity(instance.clock());
        objects.activity(new ActivityRows(database, identity)::json);
        this.path = new SearchPath(
                instance.catalog(),
                settings,
                identity,
                new TemporaryRelations(instance.catalog(), this::process),
                this::sees);
        SessionCatalog names = new SessionCatalog(
                instance.catalog(),
                instance.pgCatalog(),
                settings,
                instance.systemSettings(),
                identity,
                permissions,
                objects,
                path,
                this::sees,
                name -> signals.function(name).or(() -> settingCalls.function(name)),
                new FilesInQueries(permissions, instance.references(), notice -> notices.accept(notice)));
        Cancellation cancellation = new Cancellation(instance.turns());
        Offload offload = new Offload(instance.offloadThreads());
        this.execution = new Execution(
                instance,
                database.roleSessions(),
                settings,
                names,
                cancellation,
                offload,
                notice -> notices.accept(notice));
        Deadlines deadlines = new Deadlines(settings, instance.clock(), database.timeouts()::arm);
        this.steps = new Steps(
                instance.clock(),
                settings,
                execution.transactions(),
                execution.queries().epochs(),
                cancellation,
                offload,
                deadlines,
                activity);
        this.prepared = new PreparedStatements(objects, steps, execution, new Descriptions(instance, names, execution));
        instance.catalog().serverSettings().forEach((name, value) -> settings.identify(Setting.named(name), value));
        beginWith(role);
    }

    /** From here on it makes again what is kept: names without a schema mean what is in {@code public}. */
    void readLiterally() {
        path.readLiterally();
    }

    /** Another number whenever names may mean something else to the session than before. */
    public long namesVersion() {
        return path.version();
    }

    private boolean sees(String name) {
        return execution.sees(name);
    }

    /** What ALTER ROLE ... SET says; what it said of a setting that is gone is passed over. */
    private void beginWith(String role) {
        instance.catalog().roles().require(role).settings().forEach((name, value) -> {
            try {
                settings.begin(Setting.named(name), value);
            } catch (MillraceException e) {
                // the default holds
            }
        });
    }

    /** A client that does not read is cut off, rather than that anybody waits for it, unless its role says otherwise. */
    void beginAsClient() {
        if (!instance.catalog()
                .roles()
                .require(identity.login())
                .settings()
                .containsKey(Setting.ON_SLOW.settingName())) {
            settings.begin(Setting.ON_SLOW, "disconnect");
        }
    }

    /** Says where the client is, for those who look at what sessions do. */
    public void servesClientAt(SocketAddress address) {
        activity.client(address);
    }

    /** What the session does, and how others see and stop that. */
    Steps steps() {
        return steps;
    }

    Identity identity() {
        return identity;
    }

    /** The role that came in. */
    public String role() {
        return identity.login();
    }

    /** What {@code pg_backend_pid()} gives: a number greater than zero that no other session of the database has. */
    public int process() {
        if (process.get() == 0) {
            process.compareAndSet(0, database.newProcess());
        }
        return process.get();
    }

    boolean isProcess(int number) {
        return number != 0 && process.get() == number;
    }

    /** Why somebody else ended the session, if that is so: its client hears of nothing else any more. */
    public Optional<MillraceException> endedBy() {
        return steps.endedBy();
    }

    /** Called on any thread when somebody else ends the session: who serves its client tells it, and closes the session. */
    public void onEnd(Consumer<MillraceException> listener) {
        steps.onEnd(listener);
    }

    /** Where notices go, such as "already exists, skipping"; called on the session's thread. */
    public void onNotice(Consumer<String> listener) {
        notices = listener;
    }

    /** Parses a text of any number of statements; each is executed when its result is asked for. */
    public StatementResults execute(String sql) {
        return execute(sql, List.of());
    }

    /**
     * Parses and executes a text of any number of statements, with values for {@code $1}, {@code $2}, ...
     *
     * @param parameters Boolean, Integer, Long, Double, BigDecimal, String, a {@code java.time} value, byte[] or UUID; an
     *     empty Optional is NULL, a full one stands for what is in it
     * @throws MillraceException for a syntax error; its position counts in {@code sql}
     */
    public StatementResults execute(String sql, List<?> parameters) {
        Optional<KnownQuery> known = known(sql);
        if (known.isPresent()) {
            return new StatementResults(
                    List.<Supplier<StatementResult>>of(() -> execute(known.get())
                                    .orElseGet(() -> execute(parse(sql).get(0), Parameters.none())))
                            .iterator(),
                    this::endStatement);
        }
        ParameterValues values = ParameterValues.of(parameters);
        return new StatementResults(
                parse(sql).stream()
                        .<Supplier<StatementResult>>map(statement -> () -> settingCalls.watched(
                                execute(statement, values.forStatement(statement.parameterCount()))))
                        .iterator(),
                this::endStatement);
    }

    /**
     * Executes one statement that gives finitely many rows: SELECT, SHOW, INSERT ... RETURNING. The caller closes the result,
     * and the session goes on once it did.
     *
     * @param parameters for {@code $1}, {@code $2}, ..., as {@link #execute(String, List)} takes them
     * @throws MillraceException also if the statement is not one, or gives no rows, or never ends
     */
    public StatementResult.Rows query(String sql, Object... parameters) {
        List<ParsedStatement> statements = parse(sql);
        if (statements.size() != 1) {
            throw MillraceException.user(SqlState.SYNTAX_ERROR, "a query is one statement, not " + statements.size());
        }
        ParsedStatement statement = statements.get(0);
        StatementResult result = execute(
                statement, ParameterValues.of(Arrays.asList(parameters)).forStatement(statement.parameterCount()));
        if (result instanceof StatementResult.Rows rows) {
            return rows;
        }
        result.close();
        throw MillraceException.user(
                        SqlState.WRONG_OBJECT_TYPE,
                        result instanceof StatementResult.Changes
                                ? "a subscription has no end, so it is not a query"
                                : "the statement gives no rows: " + result)
                .withHint(
                        result instanceof StatementResult.Changes
                                ? "Database.subscribe delivers changes as they come"
                                : "execute takes any statement");
    }

    /**
     * Executes one SUBSCRIBE statement. The caller closes the result.
     *
     * @param afterMicros goes on behind this epoch ({@code epochMicros} of what was seen), instead of what the statement says
     *     of its beginning (AS OF, SNAPSHOT)
     * @throws MillraceException also if the statement is another, or (72000) what followed is no longer kept
     */
    public StatementResult.Changes subscribe(String sql, OptionalLong afterMicros) {
        List<ParsedStatement> statements = parse(sql);
        if (statements.size() == 1) {
            StatementResult result = execution
                    .subscriptions()
                    .beginningAfter(
                            afterMicros,
                            () -> execute(
                                    statements.get(0),
                                    ParameterValues.of(List.of()).forStatement(0)));
            if (result instanceof StatementResult.Changes changes) {
                return changes;
            }
            result.close();
        }
        throw MillraceException.user(SqlState.SYNTAX_ERROR, "one SUBSCRIBE statement is needed");
    }

    /**
     * Inserts rows all at once, in one epoch: the columns are found by their names, and those that are missing are NULL. Arrow
     * types other than {@link DataType} tabulates are taken where the text of their values would be.
     *
     * @param rows taken over, also when this throws
     * @return how many there were
     * @throws MillraceException for values that do not fit, as INSERT has it; no row is inserted then
     */
    public long insert(String relation, Batch rows) {
        try {
            steps.requireOpen();
        } catch (MillraceException e) {
            rows.close();
            throw e;
        }
        return steps.run(() -> execution.insert(relation, rows));
    }

    /** Has a feed's changes take effect, together with its position, and on disk. */
    void feed(RunningFeed feed, Consumer<FedRows> change, Optional<SourcePosition> position) {
        steps.requireOpen();
        steps.run(() -> {
            execution.feed(feed, change, position);
            return true;
        });
    }

    /** @throws MillraceException 42501 if the session's role may not insert into a relation */
    public void requireInsert(String relation) {
        execution.requireInsert(relation);
    }

    /** Inserts rows in Arrow's own form, of any allocator, which stay the caller's. */
    public long insert(String relation, VectorSchemaRoot rows) {
        FieldVector[] columns = rows.getFieldVectors().toArray(FieldVector[]::new);
        Field[] fields = Arrays.stream(columns)
                .map(column -> new Field(column.getName(), DataType.NULL, true)) // what counts is Arrow's
                .toArray(Field[]::new);
        return insert(
                relation, Batch.view(Schema.of(fields), columns, rows.getRowCount(), Optional.empty(), List.of()));
    }

    /** The epochs that this session wrote and has not waited for; for one that goes on where it ends. */
    Set<Long> ownEpochs() {
        return execution.queries().epochs().all();
    }

    /** Makes the writes of another session this one's own. */
    void goOnAfter(Collection<Long> epochs) {
        epochs.forEach(execution.queries().epochs()::wrote);
    }

    /** Parses a text of any number of statements without executing them; for those who prepare statements. */
    public List<ParsedStatement> parse(String sql) {
        return steps.begin(sql, () -> instance.frontend().parse(sql));
    }

    /** For a protocol that prepares statements before they are executed. */
    public PreparedStatements prepared() {
        return prepared;
    }

    /**
     * Whether a statement is known to be answered without waiting for anyone or anything, in microseconds: it selects constants,
     * and was executed before, by whichever session, or rows by their key, and was executed by this one.
     */
    public boolean answersAtOnce(ParsedStatement statement) {
        return !Offload.isLong(statement.text()) && !instance.uncommitted().areThere() && answersFromMemory(statement);
    }

    private boolean answersFromMemory(ParsedStatement given) {
        ParsedStatement statement = execution.zones().here(given);
        return instance.plans().isConstant(statement) || execution.keyReads().answersAtOnce(statement);
    }

    /** The statements of a text, if it was parsed lately, by whichever session. */
    public Optional<List<ParsedStatement>> remembered(String sql) {
        return instance.frontend().remembered(sql);
    }

    /** Whether {@link #endTogether} has something to end, which may take its time. */
    public boolean isTogether() {
        return execution.transactions().isUnderWay()
                && !execution.transactions().isExplicit();
    }

    /** About what is kept of a statement of this text; little if it is kept for all sessions anyway. */
    private long keptBytes(String text) {
        return instance.frontend().remembered(text).isPresent() ? SHARED_STATEMENT_BYTES : StatementSize.kept(text);
    }

    /** What the session keeps on the Java heap for who serves its client, counted. */
    public KeptHeap kept() {
        return kept;
    }

    /** Executes one parsed statement with a value for each of its parameters. */
    public StatementResult execute(ParsedStatement statement, Parameters parameters) {
        return execute(statement.text(), () -> Optional.of(execution.execute(statement, parameters)))
                .orElseThrow();
    }

    /**
     * Rows that were accepted, and that the client is not to hear of yet.
     *
     * @param result what it hears then
     * @param entry of the journal that is to be on disk before; 0 for none
     */
    public record Acceptance(StatementResult result, long entry) {}

    /**
     * Executes a text that is an INSERT of constants, if that waits for nobody and succeeds, in a time that grows with its text: some microseconds
     * a row. The statement is under way, and its time runs, until {@link #endStatement}; before that {@link #tellDurable} or {@link
     * #awaitDurable}.
     *
     * @return empty for all that has to be executed in another way; nothing was changed then
     * @throws MillraceException XX000, and no other
     */
    public Optional<Acceptance> insertAtOnce(String sql) {
        return atOnce(sql, () -> execution.insertAtOnce(sql));
    }

    /** Whether a statement may be one of those that {@link #insertAtOnce(ParsedStatement, Parameters)} takes. */
    public boolean insertsAtOnce(ParsedStatement statement) {
        return execution.insertsAtOnce(statement);
    }

    /** The same of a statement that is parsed, with a value for each of its parameters. */
    public Optional<Acceptance> insertAtOnce(ParsedStatement statement, Parameters parameters) {
        return atOnce(statement.text(), () -> execution.insertAtOnce(statement, parameters));
    }

    private Optional<Acceptance> atOnce(String text, Supplier<Optional<StatementResult>> step) {
        try {
            return steps.attempt(
                    text,
                    () -> step.get()
                            .map(result -> new Acceptance(
                                    result, execution.queries().epochs().takeEntry())),
                    database::executed);
        } catch (MillraceException e) {
            if (e.sqlState() == SqlState.INTERNAL_ERROR) {
                throw e; // who knows what was done
            }
            return Optional.empty(); // who executes it in the other way hears of it
        }
    }

    /** Calls back when an entry is on disk, on a thread that must not be held up; never if the database is closed before. */
    public void tellDurable(long entry, Runnable then) {
        instance.journal().tellDurable(entry, then);
    }

    /**
     * Writes an entry to disk on the calling thread, if nobody else writes, which takes as long as the disk does. Then shows the rows that
     * are there, and what they changed as far as that is computed.
     *
     * @param answer tells the client, if the entry is on disk: nobody hears of it before; must be short, and not throw
     * @return whether it is on disk
     */
    public boolean writesDurable(long entry, Runnable answer) {
        return instance.engine().showing(() -> instance.journal().tryWrite(entry, answer));
    }

    /** Whether an entry is on disk. */
    public boolean isDurable(long entry) {
        return instance.journal().isDurable(entry);
    }

    /**
     * Waits for an entry to be on disk, as a part of the statement under way.
     *
     * @throws MillraceException why that is stopped: it is not known whether what it wrote will be there
     */
    public void awaitDurable(long entry) {
        try {
            steps.goOn(() -> {
                instance.journal().awaitDurable(entry);
                return true;
            });
        } catch (MillraceException e) {
            steps.statementFails();
            throw e;
        }
    }

    /** A statement for a text of one, if it is like texts that came before but for its constants. */
    public Optional<AdHoc> adHoc(String sql) {
        return instance.adHoc().find(sql);
    }

    /** What {@link #adHoc} gives, if it is at hand, in microseconds; for who cannot wait until something is parsed. */
    public Optional<AdHoc> adHocAtHand(String sql) {
        return instance.adHoc().known(sql);
    }

    /** Executes a text by way of the statement that it shares with others; empty if it has to be executed as it is. */
    public Optional<StatementResult> execute(AdHoc adHoc) {
        return execute(adHoc.statement().text(), () -> execution.execute(adHoc));
    }

    /** The query that a text makes, if it is one of a form that is known. */
    public Optional<KnownQuery> known(String sql) {
        return instance.knownForms().find(sql);
    }

    /** Makes a query without its text being parsed; empty if it has to be executed as it is. */
    public Optional<StatementResult> execute(KnownQuery query) {
        return execute(query, List.of(), result -> {});
    }

    /**
     * The same, with queries that come next: as many of them as can be are made with it, and are on disk when it is.
     *
     * @param made is told of each what gives its result, or throws its failure
     */
    public Optional<StatementResult> execute(
            KnownQuery query, List<KnownQuery> next, Consumer<Supplier<StatementResult>> made) {
        List<KnownQuery> all = new ArrayList<>(next);
        all.add(0, query);
        return execute(query.text(), () -> {
            List<Optional<Supplier<StatementResult>>> results = execution.execute(all);
            results.stream().skip(1).takeWhile(Optional::isPresent).forEach(result -> made.accept(result.get()));
            return results.get(0).map(Supplier::get);
        });
    }

    private Optional<StatementResult> execute(String text, Supplier<Optional<StatementResult>> step) {
        return forgetful(() -> steps.execute(text, step, database::executed));
    }

    /** What a statement set that fails does not hold. */
    private <T> T forgetful(Supplier<T> step) {
        try {
            return step.get();
        } catch (RuntimeException e) {
            settingCalls.forget();
            throw e;
        }
    }

    /**
     * Goes on with a statement whose result is open: sends its rows, or takes rows for it. What waits for the client meanwhile
     * is interrupted when the statement is cancelled or its time is over.
     */
    public <T> T goOn(Supplier<T> step) {
        return forgetful(() -> steps.goOn(step));
    }

    /** The result of the last statement was read, as far as it will be for now: it takes no more of its time. */
    public void endStatement() {
        steps.statementEnds();
        signals.tell(notices);
        settingCalls.apply(execution::set);
    }

    /** The client is heard, and so not idle; for who serves one. */
    public void clientSpeaks() {
        steps.clientSpeaks();
    }

    /** The client has its answer, and is idle from now on: as long as the timeouts of idle sessions let it be. */
    public void clientListens() {
        endStatement();
        steps.clientListens();
    }

    /** How the session stands to transactions. */
    public TransactionState transactionState() {
        return execution.transactions().state();
    }

    /** What was asked for failed outside {@link #execute}: a transaction under way is good for nothing but ROLLBACK. */
    public void fail() {
        execution.transactions().fail();
    }

    /**
     * The statements up to {@link #endTogether} take effect together or not at all, unless they are of a transaction that
     * was begun. The wire protocol has texts of several statements so, and what is sent without waiting.
     */
    public void beginTogether() {
        execution.transactions().beginImplicit();
    }

    /**
     * See {@link #beginTogether}.
     *
     * @throws MillraceException if what was changed could not take effect
     */
    public void endTogether() {
        steps.run(() -> {
            execution.transactions().endImplicit();
            return true;
        });
    }

    /** Waits until all that was accepted from anyone is in all answers, bounded sources to their end included. */
    public void flush() {
        steps.run(execution::flush);
    }

    /** Waits until what this session wrote is in all answers, so that other sessions read it, too. */
    public void awaitOwnWrites() {
        steps.run(() -> {
            execution.queries().epochs().awaitAll();
            return true;
        });
    }

    /** Stops the statement under way or the result being read, which then throws 57014. No effect when idle. */
    public void cancel() {
        cancel("user request");
    }

    /** Stops the statement under way as {@link #cancel()} does, with who asked for it: {@code statement timeout}. */
    public void cancel(String why) {
        steps.cancel(why);
    }

    /** How far the statement under way is, if it is one that can tell. */
    public Optional<Progress> progress() {
        return execution.progress();
    }

    public SessionSettings settings() {
        return settings;
    }

    public Database database() {
        return database;
    }

    /** For what is made of this session's results. */
    public BufferAllocator allocator() {
        return instance.engine().allocator();
    }

    private void dropTemporaries() {
        try {
            execution.temporaries().dropAll();
        } catch (MillraceException e) {
            LOG.warning("temporary relations are left", "session", process(), "reason", e.getMessage());
        }
    }

    /** Runs nothing any more, and undoes the transaction under way, for which others may wait that are to be closed, too. */
    void stop() {
        if (steps.close()) {
            execution.transactions().rollBack();
        }
    }

    @Override
    public void close() {
        stop();
        if (!closed.getAndSet(true)) {
            execution.cursors().closeAll();
            execution.forget();
            dropTemporaries();
            functions.close();
            steps.planningEnds();
            kept.close();
            database.closed(this);
        }
    }
}

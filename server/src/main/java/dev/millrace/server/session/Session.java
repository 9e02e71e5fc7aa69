package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.cancellation.Cancellation;
import dev.millrace.server.cancellation.Deadlines;
import dev.millrace.server.cancellation.Failures;
import dev.millrace.server.cancellation.Offload;
import dev.millrace.server.heap.KeptHeap;
import dev.millrace.server.heap.StatementSize;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.names.ParameterValues;
import dev.millrace.server.names.PreparedTexts;
import dev.millrace.server.names.ProtocolPortals;
import dev.millrace.server.names.SessionCatalog;
import dev.millrace.server.names.SessionObjects;
import dev.millrace.server.permission.Identity;
import dev.millrace.server.permission.Permissions;
import dev.millrace.server.planning.AdHoc;
import dev.millrace.server.result.Description;
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
 * Long because it is all that those may ask who serve a client or have the database in their program.
 */
public final class Session implements AutoCloseable {
    private static final long SHARED_STATEMENT_BYTES = 500;

    private final Database database;
    private final Instance instance;
    private final SessionSettings settings = new SessionSettings();
    private final Cancellation cancellation;
    private final Offload offload;
    private final KeptHeap kept;
    private final SessionObjects objects;
    private final Identity identity;
    private final Deadlines deadlines;
    private final Execution execution;
    private final Descriptions descriptions;
    private final Signals signals;
    private final Activity activity;
    private final AtomicInteger process = new AtomicInteger(); // 0 until somebody asks for it
    private Consumer<String> notices = notice -> {};
    private volatile Consumer<MillraceException> ending =
            why -> {}; // written by whoever serves the session, read by all
    private volatile Optional<MillraceException> ended =
            Optional.empty(); // written by whoever ends it, read by its thread
    private volatile boolean closed; // written by whoever closes the session or the database

    Session(Database database, String role) {
        this.database = database;
        this.instance = database.instance();
        this.cancellation = new Cancellation(instance.turns());
        this.offload = new Offload(instance.offloadThreads());
        this.kept = new KeptHeap(instance.heap().kept());
        this.objects = new SessionObjects(new PreparedTexts(instance.clock(), this::keptBytes, kept));
        this.identity = new Identity(instance.catalog().roles(), settings, role);
        this.deadlines = new Deadlines(settings, instance.clock(), database.timeouts()::arm);
        Permissions permissions = new Permissions(instance.catalog(), identity);
        this.signals = new Signals(database, this, identity);
        this.activity = new Activity(instance.clock());
        objects.activity(new ActivityRows(database, identity)::json);
        SessionCatalog names = new SessionCatalog(
                instance.catalog(), instance.pgCatalog(), settings, identity, permissions, objects, signals::function);
        this.execution = new Execution(
                instance,
                database.roleSessions(),
                settings,
                names,
                cancellation,
                offload,
                notice -> notices.accept(notice));
        this.descriptions = new Descriptions(instance, names, execution);
        instance.catalog().serverSettings().forEach((name, value) -> settings.identify(Setting.named(name), value));
        beginWith(role);
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

    /** What the session is at. On any thread. */
    Activity.Seen activity() {
        return activity.see();
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
        return ended;
    }

    /** Called on any thread when somebody else ends the session: who serves its client tells it, and closes the session. */
    public void onEnd(Consumer<MillraceException> listener) {
        ending = listener;
        ended.ifPresent(listener); // before anybody listened
    }

    /** Ends the session from outside: what runs is cancelled, and whatever comes after is refused with this error. */
    void end(MillraceException why) {
        ended = Optional.of(why);
        cancellation.end("the end of the session");
        ending.accept(why);
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
     * The same with values for {@code $1}, {@code $2}, ...
     *
     * @param parameters Boolean, Integer, Long, Double, BigDecimal, String, a {@code java.time} value, byte[] or UUID; an
     *     empty Optional is NULL, a full one stands for what is in it
     * @throws MillraceException for a syntax error; its position counts in {@code sql}
     */
    public StatementResults execute(String sql, List<?> parameters) {
        ParameterValues values = ParameterValues.of(parameters);
        return new StatementResults(
                parse(sql).stream()
                        .<Supplier<StatementResult>>map(
                                statement -> () -> execute(statement, values.forStatement(statement.parameterCount())))
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
            requireOpen();
        } catch (MillraceException e) {
            rows.close();
            throw e;
        }
        return Failures.translate(() -> cancellation.run(() -> execution.insert(relation, rows)));
    }

    /** The same with Arrow's own form of rows, of any allocator, which stays the caller's. */
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
        deadlines.statementPrepares();
        cancellation.begins();
        activity.begins(sql);
        offload.begins(sql);
        try {
            return Failures.translate(() ->
                    cancellation.run(() -> offload.run(() -> instance.frontend().parse(sql))));
        } catch (MillraceException e) {
            statementEnds();
            execution.transactions().fail();
            throw e;
        }
    }

    /**
     * What a statement takes and gives, as the catalog is now.
     *
     * @param declaredTypes of the parameters, as far as they are known; {@link DataType#NULL} for those to be inferred
     */
    public Description describe(ParsedStatement statement, List<DataType> declaredTypes) {
        return look(statement, () -> descriptions.describe(statement, declaredTypes));
    }

    private <T> T look(ParsedStatement statement, Supplier<T> step) {
        requireOpen();
        execution.transactions().requireUsable(statement.syntax());
        deadlines.statementPrepares();
        cancellation.goesOn();
        offload.begins(statement.text());
        try {
            return Failures.translate(() -> cancellation.run(step));
        } finally {
            offload.ends();
        }
    }

    /**
     * Analyses a statement that a message of the protocol prepares, as PostgreSQL does then: SELECT, SUBSCRIBE and what changes
     * rows, and EXPLAIN and DECLARE of those. Others are looked at when they are executed.
     *
     * @param declaredTypes as for {@link #describe}
     * @return what the statement takes and gives, where that was found
     */
    public Optional<Description> prepares(ParsedStatement statement, List<DataType> declaredTypes) {
        try {
            requireUsable(statement);
            if (Descriptions.isAnalyzed(statement.syntax())) {
                return Optional.of(describe(statement, declaredTypes));
            }
            if (Descriptions.holdsAnalyzed(statement.syntax())) {
                look(statement, () -> {
                    descriptions.check(statement, declaredTypes);
                    return true;
                });
            }
            return Optional.empty();
        } catch (MillraceException e) {
            statementEnds();
            execution.transactions().fail();
            throw e;
        } finally {
            offload.ends();
        }
    }

    /**
     * Refuses what a transaction that failed does not take any more.
     *
     * @throws MillraceException 25P02
     */
    public void requireUsable(ParsedStatement statement) {
        execution.transactions().requireUsable(statement.syntax());
    }

    /**
     * Whether a statement is known to be answered without waiting for anyone or anything, in microseconds: it selects constants,
     * and was executed before, by whichever session, or rows by their key, and was executed by this one.
     */
    public boolean answersAtOnce(ParsedStatement statement) {
        return !Offload.isLong(statement.text()) && answersFromMemory(statement);
    }

    private boolean answersFromMemory(ParsedStatement statement) {
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

    /** Keeps a statement that a message of the protocol prepared, under a name that is free. */
    public void prepare(String name, Optional<ParsedStatement> statement, String text, List<DataType> types) {
        objects.prepared().prepare(name, statement, text, types);
    }

    /** About what is kept of a statement of this text; little if it is kept for all sessions anyway. */
    private long keptBytes(String text) {
        return instance.frontend().remembered(text).isPresent() ? SHARED_STATEMENT_BYTES : StatementSize.kept(text);
    }

    /** What the session keeps on the Java heap for who serves its client, counted. */
    public KeptHeap kept() {
        return kept;
    }

    /** Whether a statement of that name is prepared, by SQL or by the protocol. */
    public boolean hasPrepared(String name) {
        return objects.prepared().contains(name);
    }

    /** The text of a statement that PREPARE prepared, without that word. */
    public Optional<PreparedBySql> preparedBySql(String name) {
        return objects.prepared()
                .named(name)
                .filter(PreparedTexts.Prepared::fromSql)
                .map(found -> new PreparedBySql(found.statement().orElseThrow(), found.types()));
    }

    /** A statement of PREPARE and the types that it declares. */
    public record PreparedBySql(ParsedStatement statement, List<DataType> types) {}

    /** Forgets a prepared statement if there is one of that name. */
    public void deallocate(String name) {
        objects.prepared().drop(name);
    }

    /** Has the protocol hear of each prepared statement that is forgotten, by whatever way. */
    public void onDeallocate(Consumer<String> listener) {
        objects.prepared().onForget(listener);
    }

    /** Has SQL see the portals of this session's protocol. */
    public void portals(ProtocolPortals portals) {
        objects.portals(portals);
    }

    /** Whether DECLARE made a cursor of that name, which is still open. */
    public boolean hasCursor(String name) {
        return execution.cursors().contains(name);
    }

    /** Closes a cursor if there is one of that name, also in a transaction that failed. */
    public void closeCursor(String name) {
        execution.cursors().drop(name);
    }

    /** Executes one parsed statement with a value for each of its parameters. */
    public StatementResult execute(ParsedStatement statement, Parameters parameters) {
        return execute(statement.text(), () -> Optional.of(execution.execute(statement, parameters)))
                .orElseThrow();
    }

    /** A statement for a text of one, if it is like texts that came before but for its constants. */
    public Optional<AdHoc> adHoc(String sql) {
        return instance.adHoc().find(sql);
    }

    /** The same if it is at hand, in microseconds; for who cannot wait until something is parsed. */
    public Optional<AdHoc> adHocAtHand(String sql) {
        return instance.adHoc().known(sql);
    }

    /** Executes a text by way of the statement that it shares with others; empty if it has to be executed as it is. */
    public Optional<StatementResult> execute(AdHoc adHoc) {
        return execute(adHoc.statement().text(), () -> execution.execute(adHoc));
    }

    private Optional<StatementResult> execute(String text, Supplier<Optional<StatementResult>> step) {
        requireOpen();
        long start = instance.clock().nanoTime();
        deadlines.statementBegins();
        cancellation.goesOn();
        activity.begins(text);
        boolean done = true;
        try {
            Optional<StatementResult> result = Failures.translate(() -> cancellation.run(step));
            done = result.isPresent();
            if (done && result.get() instanceof StatementResult.Command) {
                statementEnds();
            }
            return result;
        } catch (RuntimeException e) {
            statementEnds();
            execution.transactions().fail();
            throw e;
        } finally {
            offload.ends();
            if (done) { // else it is yet to be executed
                database.executed(instance.clock().nanoTime() - start);
            }
        }
    }

    /**
     * Goes on with a statement whose result is open: sends its rows, or takes rows for it. What waits for the client meanwhile
     * is interrupted when the statement is cancelled or its time is over.
     */
    public <T> T goOn(Supplier<T> step) {
        deadlines.statementGoesOn();
        cancellation.goesOn();
        return Failures.translate(() -> cancellation.run(step));
    }

    private void requireOpen() {
        if (ended.isPresent()) {
            throw ended.get();
        }
        if (closed) {
            throw MillraceException.user(SqlState.ADMIN_SHUTDOWN, "the session is closed");
        }
    }

    /** The result of the last statement was read, as far as it will be for now: it takes no more of its time. */
    public void endStatement() {
        statementEnds();
        signals.tell(notices);
    }

    private void statementEnds() {
        offload.ends();
        deadlines.statementEnds();
        cancellation.ends();
        activity.ends(transactionState(), settings.get(Setting.APPLICATION_NAME));
    }

    /** The client is heard, and so not idle; for who serves one. */
    public void clientSpeaks() {
        deadlines.speaks();
    }

    /** The client has its answer, and is idle from now on: as long as the timeouts of idle sessions let it be. */
    public void clientListens() {
        statementEnds();
        signals.tell(notices);
        deadlines.listens(transactionState() != TransactionState.IDLE);
    }

    /** Cancels and ends what lasts too long; whether a deadline is left. */
    long checkDeadlines(long nowNanos) {
        return deadlines.check(nowNanos, this::cancel, this::end);
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
        Failures.run(() -> cancellation.run(() -> {
            execution.transactions().endImplicit();
            return true;
        }));
    }

    /** Waits until all that was accepted from anyone is in all answers, bounded sources to their end included. */
    public void flush() {
        Failures.translate(() -> cancellation.run(execution::flush));
    }

    /** Waits until what this session wrote is in all answers, so that other sessions read it, too. */
    public void awaitOwnWrites() {
        Failures.run(() -> cancellation.run(() -> {
            execution.queries().epochs().awaitAll();
            return true;
        }));
    }

    /** Stops the statement under way or the result being read, which then throws 57014. No effect when idle. */
    public void cancel() {
        cancel("user request");
    }

    /** The same, with who asked for it: {@code statement timeout}. */
    public void cancel(String why) {
        cancellation.request(why);
    }

    /** The step under way. */
    Optional<Cancellation.Step> step() {
        return cancellation.step();
    }

    /** The threads that do a step. */
    List<Thread> threads(Cancellation.Step step) {
        List<Thread> threads = new ArrayList<>(List.of(step.thread()));
        offload.worker().ifPresent(threads::add);
        return threads;
    }

    /** Stops a step with this error, unless it has ended. */
    void stop(Cancellation.Step step, MillraceException why) {
        cancellation.stop(step, why);
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

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            cancellation.end("closing of the session");
            execution.transactions().rollBack();
            execution.cursors().closeAll();
            execution.forget();
            signals.close();
            offload.ends();
            kept.close();
            database.closed(this);
        }
    }
}

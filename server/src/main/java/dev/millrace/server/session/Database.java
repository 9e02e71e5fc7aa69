package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.connectors.Connectors;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.interrupt.Turns;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.pgcatalog.PgCatalog;
import dev.millrace.server.role.LoginCheck;
import dev.millrace.server.role.Role;
import dev.millrace.server.role.Roles;
import dev.millrace.server.role.ScramDecoys;
import dev.millrace.server.role.ScramSecret;
import dev.millrace.server.transaction.RowLocks;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.sql.Frontend;
import dev.millrace.time.Clock;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * An open database: a catalog, an engine, and what the sessions share. Safe on any thread. With a data directory definitions,
 * roles and settings are kept; rows and answers are in memory, and closing it forgets them.
 */
public final class Database implements AutoCloseable {

    private final Clock clock;
    private final Engine engine;
    private final Frontend frontend = new Frontend();
    private final Turns turns = new Turns(Math.max(1, Runtime.getRuntime().availableProcessors() / 2));
    private final AdHocStatements adHoc;
    private final DatabaseCatalog catalog = new DatabaseCatalog();
    private final PgCatalog pgCatalog;
    private final Plans plans;
    private final Connectors connectors;
    private final Map<String, StandingQuery> queries = new ConcurrentHashMap<>();
    private final Map<String, TableKeys> tableKeys = new ConcurrentHashMap<>();
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
    private final Timeouts timeouts;
    private final HeapWatch heapWatch;
    private final RowLocks rowLocks = new RowLocks();
    private final AtomicLong subscriptions = new AtomicLong();
    private final AtomicInteger processes = new AtomicInteger();
    private final LongAdder statements = new LongAdder();
    private volatile LongConsumer statementListener = nanos -> {}; // written by who measures, read by sessions
    private final OffloadThreads offloadThreads = new OffloadThreads(turns);
    private final DirectCalls direct = new DirectCalls(this);

    private final Keeper keeper;

    /** Held while the catalog changes: definitions are made one at a time. */
    private final ReentrantLock definitionLock = new ReentrantLock();

    private Database(DatabaseOptions options, Keeper keeper) {
        this.keeper = keeper;
        this.clock = options.clock();
        this.timeouts = new Timeouts(sessions, clock);
        this.engine = Engine.open(options.engine(), clock);
        this.connectors = Connectors.standard(options.printed());
        TableStatistics statistics = new TableStatistics(engine);
        this.plans = new Plans(
                frontend,
                catalog,
                engine.options().workers(),
                name -> standing(name).map(StandingQuery::plan),
                statistics::of,
                statistics::atHand,
                clock);
        this.adHoc = new AdHocStatements(frontend, catalog::version);
        SystemRelations system = new SystemRelations(this);
        system.addAll();
        this.pgCatalog = new PgCatalog(catalog);
        pgCatalog.relations().forEach(system::add);
        this.heapWatch = new HeapWatch(sessions);
    }

    /**
     * Opens a database, with all that its data directory keeps.
     *
     * @throws MillraceException F0001 if the directory is in use, XX001 if it is damaged, 58030 if it cannot be used
     */
    public static Database open(DatabaseOptions options) {
        HeadStart.begin();
        Keeper keeper = Keeper.open(options.data(), options.clock());
        Database database;
        try {
            database = new Database(options, keeper);
        } catch (RuntimeException | Error e) {
            keeper.close();
            throw e;
        }
        try {
            keeper.restore(database, options.restoring());
            return database;
        } catch (RuntimeException | Error e) {
            database.close();
            throw e;
        }
    }

    /** What is kept on disk, if anything is. */
    Keeper keeper() {
        return keeper;
    }

    /** What is kept but could not be made again when the database was opened, as lines for users. */
    public List<String> notRestored() {
        return keeper.notRestored().values().stream()
                .map(object -> object.kind() + " \"" + object.name() + "\": "
                        + object.why().getMessage())
                .toList();
    }

    /** A new session as the superuser; for one thread at a time. */
    public Session session() {
        return session(Roles.OWNER);
    }

    /** A new session as a role that exists; for one thread at a time. */
    public Session session(String role) {
        Session session = new Session(this, role);
        sessions.add(session);
        return session;
    }

    /**
     * A new session of a client who has shown that it is this role.
     *
     * @throws MillraceException 28000 if the role does not exist or may not log in, 53300 if it has too
     *     many sessions
     */
    public Session login(String role) {
        synchronized (sessions) { // so that two that come at once count each other
            long there = sessions.stream()
                    .filter(session -> session.identity().login().equals(role))
                    .count();
            LoginCheck.admit(catalog.roles(), role, there);
            Session session = session(role);
            session.beginAsClient();
            return session;
        }
    }

    /**
     * What is kept of a role's password, to check one; empty if there is no such role, it has none, or it is no longer good.
     */
    public Optional<ScramSecret> secretOf(String role) {
        return catalog.roles()
                .find(role)
                .filter(found -> found.validUntilMicros().isEmpty()
                        || found.validUntilMicros().getAsLong() > clock.epochMicros())
                .flatMap(Role::password);
    }

    /** What is checked in the place of a role that does not exist; with a data directory the same at each start. */
    public ScramDecoys decoys() {
        return keeper.decoys();
    }

    /** How many sessions there are now. */
    public int sessionCount() {
        return sessions.size();
    }

    /** How many statements were executed since the database was opened. */
    public long statementCount() {
        return statements.sum();
    }

    /** Is told of each statement how long it took until its result was there, in nanoseconds; on the session's thread. */
    public void onStatement(LongConsumer listener) {
        statementListener = listener;
    }

    /** A session executed a statement. On any thread. */
    void executed(long nanos) {
        statements.increment();
        statementListener.accept(nanos);
    }

    /** A number for a session. */
    int newProcess() {
        return processes.updateAndGet(last -> last == Integer.MAX_VALUE ? 1 : last + 1);
    }

    Set<Session> sessions() {
        return sessions;
    }

    // ---- without a session of one's own ----------------------------------------------------------------------------

    /**
     * Executes statements, and reads their rows, if any, to the end. Each call has a session of its own, so settings and
     * transactions end with it; what one call wrote, the next ones see.
     *
     * @param parameters for {@code $1}, {@code $2}, ..., as {@link Session#execute(String, List)} takes them
     * @return how many rows were inserted, updated or deleted
     * @throws dev.millrace.error.MillraceException if one fails; those before it have had their effect
     */
    public long execute(String sql, Object... parameters) {
        return direct.execute(sql, parameters);
    }

    /**
     * The rows of one statement, read as they are made: see {@link Session#query}. The caller closes the result; it belongs to
     * one thread at a time.
     */
    public StatementResult.Rows query(String sql, Object... parameters) {
        return direct.query(sql, parameters);
    }

    /** Inserts rows, which are taken over: see {@link Session#insert(String, Batch)}. */
    public long insert(String relation, Batch rows) {
        return direct.insert(relation, rows);
    }

    /** Inserts Arrow's own form of rows: see {@link Session#insert(String, VectorSchemaRoot)}. */
    public long insert(String relation, VectorSchemaRoot rows) {
        return direct.insert(relation, rows);
    }

    /**
     * The changes of an answer as batches with weights: a row that comes has +1, one that goes -1. The same as {@link
     * #subscribeToEpochs}, without where epochs end.
     *
     * @param sql SUBSCRIBE TO ...
     */
    public Flow.Publisher<Batch> subscribe(String sql, Object... parameters) {
        return direct.subscribe(sql, parameters, EpochChanges::batches);
    }

    /**
     * The changes of an answer, epoch by epoch. Each subscriber has a subscription of its own, which begins before {@code
     * subscribe} returns, and a daemon thread that delivers to it: {@code onNext} may take its time, and until more is requested
     * at most one epoch waits here; what happens to the others is the subscription's option, as SUBSCRIBE has it.
     *
     * <p>What is delivered belongs to the subscriber, who closes it, also after the subscription ended, but before the database
     * is closed. Closing the database ends all subscriptions, with {@code onError}.
     *
     * @param sql SUBSCRIBE TO ... ; WITH (PROGRESS) delivers epochs without changes too
     * @throws dev.millrace.error.MillraceException for a syntax error; other failures go to {@code onError}
     */
    public Flow.Publisher<EpochChanges> subscribeToEpochs(String sql, Object... parameters) {
        return direct.subscribe(sql, parameters, List::of);
    }

    /** For rows to be inserted; what is taken from it is given back before the database is closed. */
    public BufferAllocator allocator() {
        return engine.allocator();
    }

    void closed(Session session) {
        sessions.remove(session);
    }

    /** What has a name, for those who list or complete names. */
    public DatabaseCatalog catalog() {
        return catalog;
    }

    /** PostgreSQL's catalog over ours. */
    PgCatalog pgCatalog() {
        return pgCatalog;
    }

    /** The engine, for statistics. */
    public Engine engine() {
        return engine;
    }

    /** The time that all of it goes by. */
    public Clock clock() {
        return clock;
    }

    Frontend frontend() {
        return frontend;
    }

    /** The turns by which sessions do what takes long on their own threads, as planning may. */
    Turns turns() {
        return turns;
    }

    /** Statements that texts share which differ in their constants. */
    AdHocStatements adHoc() {
        return adHoc;
    }

    /** Where sessions have long statements planned. */
    OffloadThreads offloadThreads() {
        return offloadThreads;
    }

    Plans plans() {
        return plans;
    }

    Connectors connectors() {
        return connectors;
    }

    /**
     * Takes the lock; who waits for it is stopped like anybody who works.
     *
     * @throws MillraceException why the statement under way was stopped; the lock is not taken then
     */
    void lockDefinitions() {
        Interrupt.lock(definitionLock);
    }

    ReentrantLock definitionLock() {
        return definitionLock;
    }

    /** The running query behind a continuous query, view or sink. */
    Optional<StandingQuery> standing(String name) {
        return Optional.ofNullable(queries.get(name));
    }

    /** The state of a continuous query, view or sink. */
    public Optional<QueryState> state(String name) {
        return standing(name).map(StandingQuery::state);
    }

    Map<String, StandingQuery> queries() {
        return queries;
    }

    Map<String, TableKeys> tableKeys() {
        return tableKeys;
    }

    HeapWatch heapWatch() {
        return heapWatch;
    }

    Timeouts timeouts() {
        return timeouts;
    }

    /** Which transactions hold which rows. */
    RowLocks rowLocks() {
        return rowLocks;
    }

    /** A name for what a transaction sees of a table; no relation can have it. */
    String ownRowsName(String table) {
        return "own " + table + " " + subscriptions.incrementAndGet();
    }

    /** A name for a query that runs for one subscriber; no relation can have it. */
    String subscriptionName() {
        return "subscription " + subscriptions.incrementAndGet();
    }

    /** Closes all sessions, stops all queries and frees everything. */
    @Override
    public void close() {
        direct.close();
        timeouts.close();
        heapWatch.close();
        sessions.forEach(Session::close);
        offloadThreads.close();
        queries.values().forEach(StandingQuery::drop);
        queries.clear();
        tableKeys.values().forEach(TableKeys::close);
        tableKeys.clear();
        try {
            engine.close();
        } finally {
            pgCatalog.close();
            keeper.close();
        }
    }
}

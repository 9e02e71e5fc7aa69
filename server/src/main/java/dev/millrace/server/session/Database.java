package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.connectors.webhook.Webhooks;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.statistic.SplitStatistics;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.checkpoint.CheckpointThread;
import dev.millrace.server.device.EdgeInlets;
import dev.millrace.server.feed.RunningFeed;
import dev.millrace.server.heap.HeapShare;
import dev.millrace.server.host.Host;
import dev.millrace.server.instance.CatalogStore;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.permission.RoleSessions;
import dev.millrace.server.planning.HeadStart;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.server.retention.RetentionThread;
import dev.millrace.server.role.LoginCheck;
import dev.millrace.server.role.Role;
import dev.millrace.server.role.Roles;
import dev.millrace.server.role.ScramDecoys;
import dev.millrace.server.role.ScramSecret;
import dev.millrace.server.storage.CheckpointStore;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.system.SystemRelations;
import dev.millrace.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * An open database: a catalog, an engine, and what the sessions share. Safe on any thread. With a data directory all of it outlives
 * the process: definitions, roles, settings, rows, and what queries made of them.
 */
public final class Database implements AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");

    private final Instance instance;
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
    private final Timeouts timeouts;
    private final HeapWatch heapWatch;
    private final AtomicInteger processes = new AtomicInteger();
    private final LongAdder statements = new LongAdder();
    private volatile LongConsumer statementListener = nanos -> {}; // written by who measures, read by sessions
    private Optional<CheckpointThread> checkpoints = Optional.empty(); // set by who opens it, before it is open
    private Optional<RetentionThread> retention = Optional.empty(); // likewise
    private Optional<RetryThread> retries = Optional.empty(); // likewise
    private Optional<ReplacementThread> replacements = Optional.empty(); // likewise
    private Optional<FeedThreads> feeds = Optional.empty(); // likewise
    private final DirectCalls direct = new DirectCalls(this);
    private Optional<RestoringThread> restoring = Optional.empty(); // as checkpoints

    private Database(
            DatabaseOptions options, CatalogStore catalogStore, RowJournal journal, CheckpointStore checkpoints) {
        this.timeouts = new Timeouts(sessions, options.clock());
        this.instance = new Instance(
                options.engine(),
                options.clock(),
                options.printed(),
                options.host(),
                catalogStore,
                journal,
                checkpoints);
        SystemRelations system = new SystemRelations(instance);
        system.addAll();
        instance.pgCatalog().relations().forEach(system::add);
        this.heapWatch = new HeapWatch(sessions);
    }

    /**
     * Opens a database, with all that its data directory keeps; with {@link DatabaseOptions#withEarlySessions} all of it is there
     * only when {@link #awaitOpen} returns.
     *
     * @throws MillraceException F0001 if the directory is in use, XX001 if it is damaged, 58030 if it cannot be used
     */
    public static Database open(DatabaseOptions options) {
        HeadStart.begin();
        try {
            return open(options, true);
        } catch (Restoration.NotSideBySide e) {
            LOG.warning("the checkpoint is read again, one after the other", "reason", String.valueOf(e.getMessage()));
            return open(options, false);
        }
    }

    /**
     * Waits until all is there.
     *
     * @return false if states could not be read side by side: the database is to be closed, and to be opened without early sessions
     * @throws MillraceException XX001 if something is damaged, or what else failed: the database is to be closed
     */
    public boolean awaitOpen() {
        if (restoring.isPresent()) {
            try {
                restoring.get().await();
            } catch (Restoration.NotSideBySide e) {
                return false;
            }
        }
        instance.opening().await();
        return true;
    }

    private static Database open(DatabaseOptions options, boolean sideBySide) {
        CatalogStore catalogStore = CatalogStore.open(options.data(), options.clock());
        List<AutoCloseable> opened = new ArrayList<>(List.of(catalogStore));
        Database database;
        try {
            RowJournal journal = RowJournal.open(catalogStore.directory().map(DataDirectory::rows), options.host());
            opened.add(0, journal);
            CheckpointStore checkpoints =
                    CheckpointStore.open(catalogStore.directory().map(DataDirectory::checkpoints));
            database = new Database(options, catalogStore, journal, checkpoints);
        } catch (RuntimeException | Error e) {
            Closing.all(opened);
            throw e;
        }
        try {
            Restoration restoration = new Restoration(database, options.restoring(), sideBySide);
            if (options.early() && options.host().hasThreads()) {
                database.restoreBehind(restoration);
            } else {
                database.restore(restoration, options.host());
            }
            return database;
        } catch (RuntimeException | Error e) {
            database.close();
            throw e;
        }
    }

    private void restore(Restoration restoration, Host host) {
        restoration.run();
        if (host.hasThreads()) {
            checkpoints = Optional.of(new CheckpointThread(instance));
            retention = retentionThread();
            retries = Optional.of(new RetryThread(this));
            replacements = Optional.of(new ReplacementThread(this));
            feeds = Optional.of(FeedThreads.begin(this));
            instance.intakes().begin(instance.recovery()::last);
        }
        instance.opening().over();
    }

    private void restoreBehind(Restoration restoration) {
        RestoringThread thread =
                RestoringThread.start(() -> restore(restoration, instance.host()), instance.opening()::fail);
        restoring = Optional.of(thread);
        try {
            instance.opening().awaitDeclared();
        } catch (MillraceException e) {
            thread.await(); // throws what it is about
            throw e;
        }
    }

    private Optional<RetentionThread> retentionThread() {
        CatalogStore kept = instance.catalogStore();
        return kept.directory()
                .map(directory -> new RetentionThread(instance.retained(), number -> {
                    instance.lockDefinitions();
                    try {
                        return directory.catalog().numbers().contains(number);
                    } finally {
                        instance.definitionLock().unlock();
                    }
                }));
    }

    /** Room on the Java heap for large messages that clients send, which all their connections share. */
    public HeapShare roomForMessages() {
        return instance.heap().messages();
    }

    /** What the sessions share. */
    Instance instance() {
        return instance;
    }

    /** What is kept but could not be made again when the database was opened, as lines for users. */
    public List<String> notRestored() {
        return instance.catalogStore().notRestored().values().stream()
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
            LoginCheck.admit(catalog().roles(), role, there);
            Session session = session(role);
            session.beginAsClient();
            return session;
        }
    }

    /**
     * What is kept of a role's password, to check one; empty if there is no such role, it has none, or it is no longer good.
     */
    public Optional<ScramSecret> secretOf(String role) {
        return catalog()
                .roles()
                .find(role)
                .filter(found -> found.validUntilMicros().isEmpty()
                        || found.validUntilMicros().getAsLong() > clock().epochMicros())
                .flatMap(Role::password);
    }

    /** What is checked in the place of a role that does not exist; with a data directory the same at each start. */
    public ScramDecoys decoys() {
        return instance.catalogStore().decoys();
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
        return engine().allocator();
    }

    void closed(Session session) {
        sessions.remove(session);
    }

    /** What has a name, for those who list or complete names. */
    public DatabaseCatalog catalog() {
        return instance.catalog();
    }

    /** The engine, for statistics. */
    public Engine engine() {
        return instance.engine();
    }

    /** The time that all of it goes by. */
    public Clock clock() {
        return instance.clock();
    }

    /** The state of a continuous query, view or sink. */
    public Optional<QueryState> state(String name) {
        return instance.standing(name).map(StandingQuery::state);
    }

    /** How relations are with their outsides that no query reads by itself: streams to which others push, tables that a connector feeds. */
    public List<SplitStatistics> splitsOfNoQuery() {
        return instance.splitsOfNoQuery();
    }

    /** How far queries are that begin in the past of streams. */
    public List<RetainedStreams.QueryBackfill> backfills() {
        return instance.retained().backfills();
    }

    /** Names of the tables that connectors feed. */
    public List<String> fedTables() {
        return instance.feeds().all().stream().map(RunningFeed::table).toList();
    }

    /** The streams to which records are POSTed. */
    public Webhooks webhooks() {
        return instance.connectors().webhooks();
    }

    /** The streams that devices send to. */
    public EdgeInlets edgeInlets() {
        return instance.edgeInlets();
    }

    HeapWatch heapWatch() {
        return heapWatch;
    }

    Timeouts timeouts() {
        return timeouts;
    }

    /** The sessions, for statements about roles. */
    RoleSessions roleSessions() {
        return new RoleSessions() {
            @Override
            public boolean hasLogin(String role) {
                return sessions.stream()
                        .anyMatch(session -> session.identity().login().equals(role));
            }

            @Override
            public void dropped(String role) {
                sessions.stream()
                        .filter(session -> session.identity().is(role))
                        .forEach(session -> session.steps()
                                .end(MillraceException.user(
                                        SqlState.ADMIN_SHUTDOWN,
                                        "terminating connection because role \"" + role + "\" was dropped")));
            }
        };
    }

    /** Closes all sessions, stops all queries and frees everything. */
    @Override
    public void close() {
        feeds.ifPresent(FeedThreads::close);
        instance.intakes().close(); // first: nobody is to be told any more that rows are kept
        instance.opening().close(); // nobody waits for it any more
        restoring.ifPresent(RestoringThread::close);
        replacements.ifPresent(ReplacementThread::close);
        retries.ifPresent(RetryThread::close);
        checkpoints.ifPresent(CheckpointThread::close);
        retention.ifPresent(RetentionThread::close);
        direct.close();
        timeouts.close();
        heapWatch.close();
        sessions.forEach(Session::stop);
        sessions.forEach(Session::close);
        instance.close();
    }
}

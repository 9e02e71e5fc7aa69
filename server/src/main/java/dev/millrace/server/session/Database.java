package dev.millrace.server.session;

import dev.millrace.connectors.Connectors;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.QueryState;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.pgcatalog.PgCatalog;
import dev.millrace.server.role.LoginCheck;
import dev.millrace.server.role.Role;
import dev.millrace.server.role.Roles;
import dev.millrace.server.role.ScramSecret;
import dev.millrace.sql.Frontend;
import dev.millrace.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * An open database: a catalog, an engine, and what the sessions share. Safe on any thread. Everything is in memory: closing
 * it forgets all.
 */
public final class Database implements AutoCloseable {
    private final Clock clock;
    private final Engine engine;
    private final Frontend frontend = new Frontend();
    private final DatabaseCatalog catalog = new DatabaseCatalog();
    private final Plans plans;
    private final Connectors connectors;
    private final Map<String, StandingQuery> queries = new ConcurrentHashMap<>();
    private final Map<String, TableKeys> tableKeys = new ConcurrentHashMap<>();
    private final Set<Session> sessions = ConcurrentHashMap.newKeySet();
    private final AtomicLong subscriptions = new AtomicLong();

    /** Held while the catalog changes: definitions are made one at a time. */
    private final ReentrantLock definitionLock = new ReentrantLock();

    private Database(DatabaseOptions options) {
        this.clock = options.clock();
        this.engine = Engine.open(options.engine(), clock);
        this.connectors = Connectors.standard(options.printed());
        this.plans = new Plans(
                frontend,
                catalog,
                engine.options().workers(),
                name -> query(name).map(StandingQuery::plan));
        SystemRelations system = new SystemRelations(this);
        system.addAll();
        PgCatalog.relations(catalog).forEach(system::add);
    }

    public static Database open(DatabaseOptions options) {
        return new Database(options);
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
     * @throws dev.millrace.error.MillraceException 28000 if the role does not exist or may not log in, 53300 if it has too
     *     many sessions
     */
    public Session login(String role) {
        synchronized (sessions) { // so that two that come at once count each other
            long there = sessions.stream()
                    .filter(session -> session.identity().login().equals(role))
                    .count();
            LoginCheck.admit(catalog.roles(), role, there);
            return session(role);
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

    Set<Session> sessions() {
        return sessions;
    }

    void closed(Session session) {
        sessions.remove(session);
    }

    /** What has a name, for those who list or complete names. */
    public DatabaseCatalog catalog() {
        return catalog;
    }

    /** The engine, for statistics. */
    public Engine engine() {
        return engine;
    }

    Clock clock() {
        return clock;
    }

    Frontend frontend() {
        return frontend;
    }

    Plans plans() {
        return plans;
    }

    Connectors connectors() {
        return connectors;
    }

    ReentrantLock definitionLock() {
        return definitionLock;
    }

    /** The running query behind a continuous query, view or sink. */
    Optional<StandingQuery> query(String name) {
        return Optional.ofNullable(queries.get(name));
    }

    /** The state of a continuous query, view or sink. */
    public Optional<QueryState> state(String name) {
        return query(name).map(StandingQuery::state);
    }

    Map<String, StandingQuery> queries() {
        return queries;
    }

    Map<String, TableKeys> tableKeys() {
        return tableKeys;
    }

    /** A name for a query that runs for one subscriber; no relation can have it. */
    String subscriptionName() {
        return "subscription " + subscriptions.incrementAndGet();
    }

    /** Closes all sessions, stops all queries and frees everything. */
    @Override
    public void close() {
        sessions.forEach(Session::close);
        queries.values().forEach(StandingQuery::drop);
        queries.clear();
        tableKeys.values().forEach(TableKeys::close);
        tableKeys.clear();
        engine.close();
    }
}

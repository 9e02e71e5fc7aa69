package dev.millrace.server.instance;

import dev.millrace.connector.Options;
import dev.millrace.connector.SinkContext;
import dev.millrace.connector.SinkHome;
import dev.millrace.connectors.Connectors;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.EngineOptions;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.SplitStatistics;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.interrupt.Turns;
import dev.millrace.server.cancellation.OffloadThreads;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.device.EdgeInlets;
import dev.millrace.server.device.EdgeSourceFactory;
import dev.millrace.server.feed.Feeds;
import dev.millrace.server.group.KnownForms;
import dev.millrace.server.group.QueryGroups;
import dev.millrace.server.heap.HeapShares;
import dev.millrace.server.history.Histories;
import dev.millrace.server.host.Host;
import dev.millrace.server.intake.Intakes;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.pgcatalog.PgCatalog;
import dev.millrace.server.planning.AdHocStatements;
import dev.millrace.server.planning.Plans;
import dev.millrace.server.planning.TableStatistics;
import dev.millrace.server.retention.RetainedStreams;
import dev.millrace.server.secret.SecretReferences;
import dev.millrace.server.secret.Secrets;
import dev.millrace.server.settings.SystemSettings;
import dev.millrace.server.storage.CheckpointStore;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KnownLog;
import dev.millrace.server.storage.SecretsFile;
import dev.millrace.server.template.TemplateQueries;
import dev.millrace.server.transaction.RowLocks;
import dev.millrace.server.transaction.TableKeys;
import dev.millrace.server.transaction.UncommittedDefinitions;
import dev.millrace.sql.Frontend;
import dev.millrace.storage.disk.SpillFiles;
import dev.millrace.time.Clock;
import java.io.PrintStream;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The parts of an open database that its sessions share and that know no session: catalog, engine, plans, locks, and what is
 * kept on disk. Each of them is safe on any thread unless it says otherwise.
 */
public final class Instance implements AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");
    private static final String SUBSCRIPTION = "subscription "; // and a number: no relation has such a name

    private final Clock clock;
    private final Host host;
    private final Engine engine;
    private final Frontend frontend = new Frontend();
    private final Turns turns = new Turns(Math.max(1, Runtime.getRuntime().availableProcessors() / 2));
    private final AdHocStatements adHoc;
    private final DatabaseCatalog catalog = new DatabaseCatalog();
    private final PgCatalog pgCatalog;
    private final Plans plans;
    private final Secrets secrets;
    private final EdgeInlets edgeInlets = new EdgeInlets();
    private final Connectors connectors;
    private final Map<String, StandingQuery> queries = new ConcurrentHashMap<>();
    private final TemplateQueries templates;
    private final QueryGroups groups;
    private final KnownForms knownForms;
    private final GroupedDefinitions groupedDefinitions;
    private final Map<String, TableKeys> tableKeys = new ConcurrentHashMap<>();
    private final RowLocks rowLocks = new RowLocks();
    private final UncommittedDefinitions uncommitted = new UncommittedDefinitions(rowLocks);
    private final AtomicLong subscriptions = new AtomicLong();
    private final HeapShares heap = HeapShares.ofProcess();
    private final OffloadThreads offloadThreads = new OffloadThreads(turns, heap.planning());
    private final CatalogStore catalogStore;
    private final RowJournal journal;
    private final CheckpointStore checkpoints;
    private final SystemSettings systemSettings;
    private final Recovery recovery;
    private final Opening opening;
    private final Retries retries;
    private final Replacements replacements = new Replacements();
    private final Feeds feeds = new Feeds();
    private final Histories histories;
    private final RetainedStreams retained;
    private final Intakes intakes;
    private boolean logsAreKnown; // written by who opens the database, read by who closes it

    /** Held while the catalog changes: definitions are made one at a time. */
    private final ReentrantLock definitionLock = new ReentrantLock();

    /**
     * @param printed where sinks of the connector {@code print} write
     * @param host whose threads the engine has
     * @param catalogStore is closed with this
     * @param journal likewise
     */
    public Instance(
            EngineOptions options,
            Clock clock,
            PrintStream printed,
            Host host,
            CatalogStore catalogStore,
            RowJournal journal,
            CheckpointStore checkpoints) {
        this.catalogStore = catalogStore;
        this.journal = journal;
        this.checkpoints = checkpoints;
        this.clock = clock;
        this.host = host;
        this.secrets = new Secrets(
                catalogStore.directory(),
                journal.identity().orElse(0)); // before there is an engine, as it may be damaged
        this.engine = host.engine(
                options,
                clock,
                journal,
                catalogStore.directory().map(DataDirectory::spill).orElseGet(SpillFiles::temporary));
        this.recovery = new Recovery(engine);
        this.opening = new Opening(
                catalog,
                recovery,
                catalogStore::numberOf,
                number -> journal.kept().last(number));
        this.retries = new Retries(catalog, this::standing, clock);
        if (!host.hasThreads()) {
            offloadThreads.close(); // all is planned by who asks for it
        }
        this.retained = new RetainedStreams(
                engine.allocator(),
                clock,
                journal,
                () -> catalogStore.directory().map(DataDirectory::streams));
        this.intakes = new Intakes(engine, clock, journal, catalogStore, host.hasThreads());
        journal.tell(retained);
        journal.counters(table -> catalog.numbers().last(table), catalogStore::relationOf);
        journal.definitions(catalogStore::isUnkept, this::awaitDefinition);
        this.connectors = Connectors.standard(printed).with(new EdgeSourceFactory(edgeInlets));
        TableStatistics statistics = new TableStatistics(engine);
        this.plans = new Plans(
                frontend,
                catalog,
                engine.options().workers(),
                name -> standing(name).map(StandingQuery::plan),
                statistics::of,
                statistics::atHand,
                clock);
        this.histories = new Histories(
                engine,
                clock,
                host,
                catalogStore.directory().map(DataDirectory::changes),
                this::standing,
                this::keepLogs);
        catalog.subscriptions(histories::queryOf);
        this.templates =
                new TemplateQueries(catalog, tableKeys, name -> catalogStore.isUnkept(catalogStore.numberOf(name)));
        catalog.addListener(templates);
        catalog.addListener(new EdgeQueries(catalog, name -> standing(name).map(StandingQuery::plan), edgeInlets));
        catalog.others(templates::query);
        this.groups = new QueryGroups(catalog, engine, catalogStore::numberOf, host.queriesApart(), clock);
        catalog.addListener(groups);
        this.knownForms = new KnownForms(frontend, catalog, plans, this::standing, groups);
        catalog.addListener(knownForms);
        this.groupedDefinitions = new GroupedDefinitions(this);
        this.adHoc = new AdHocStatements(frontend, catalog::version);
        this.systemSettings = new SystemSettings(engine, options);
        this.pgCatalog = new PgCatalog(
                catalog,
                systemSettings::shown,
                new Notes(catalog, name -> standing(name).map(StandingQuery::plan), retained));
    }

    /** Templates, and the queries of them. */
    public TemplateQueries templates() {
        return templates;
    }

    /** Which queries share what runs them. */
    public QueryGroups groups() {
        return groups;
    }

    /** Which texts make members of groups without being parsed. */
    public KnownForms knownForms() {
        return knownForms;
    }

    /** Makes these. */
    public GroupedDefinitions groupedDefinitions() {
        return groupedDefinitions;
    }

    /** Settings that are everybody's. */
    public SystemSettings systemSettings() {
        return systemSettings;
    }

    /** What is kept on disk, if anything is. */
    public CatalogStore catalogStore() {
        return catalogStore;
    }

    /** Where rows that clients bring are written down. */
    public RowJournal journal() {
        return journal;
    }

    /** What is on disk beside the journal; used by who holds its {@link RowJournal#checkpointing}. */
    public CheckpointStore checkpoints() {
        return checkpoints;
    }

    /** Which queries that failed begin anew by themselves. */
    public Retries retries() {
        return retries;
    }

    /** Which queries others come in the place of. */
    public Replacements replacements() {
        return replacements;
    }

    /** What keeps tables like those of other databases. */
    public Feeds feeds() {
        return feeds;
    }

    /** How relations are with their outsides that no query reads by itself: streams to which others push, tables that a connector feeds. */
    public List<SplitStatistics> splitsOfNoQuery() {
        Stream<SplitStatistics> pushed =
                intakes.splits().stream().map(each -> new SplitStatistics(0, each.stream(), each.split()));
        Stream<SplitStatistics> fed = feeds.all().stream()
                .flatMap(feed -> feed.splits().stream().map(split -> new SplitStatistics(0, feed.table(), split)));
        return Stream.concat(pushed, fed).toList();
    }

    /** How far answers are with what came again when the database was opened. */
    public Recovery recovery() {
        return recovery;
    }

    /** How far the database is with being opened. */
    public Opening opening() {
        return opening;
    }

    /** What the journal had come to when a query began; when there is none of the name, what it has come to now. */
    public long since(String name) {
        return standing(name).map(StandingQuery::since).orElseGet(journal::appended);
    }

    /** What queries changed, for subscribers that come again. */
    public Histories histories() {
        return histories;
    }

    /** The streams that others push records to. */
    public Intakes intakes() {
        return intakes;
    }

    /** The past of streams that keep it. */
    public RetainedStreams retained() {
        return retained;
    }

    /**
     * Has definitions know which logs there are, from when all is there that was kept. With the lock of definitions held.
     *
     * @throws dev.millrace.error.MillraceException 53100 or 58030: then they know what they knew
     */
    public void keepLogs() {
        catalogStore.keepLogs(logs());
        logsAreKnown = true;
    }

    private Map<String, KnownLog> logs() {
        Map<String, KnownLog> logs = new HashMap<>();
        journal.known().ifPresent(log -> logs.put(DataDirectory.ROWS, log));
        histories.logs().forEach((number, log) -> logs.put(DataDirectory.CHANGES + "/" + number, log));
        secrets.known().ifPresent(file -> logs.put(SecretsFile.NAME, file));
        return logs;
    }

    /** Has definitions know which logs there are, in one record with what the statement under way changes. With the lock of definitions held. */
    public void changesLogs() {
        catalogStore.changesLogs(logs());
    }

    /** Has definitions know how far logs have come, and which file of secrets there is; without it less is known the next time. */
    public void keepEndsOfLogs() {
        try {
            if (logsAreKnown) {
                keepLogs();
            }
        } catch (MillraceException e) {
            LOG.warning("the ends of logs are not kept", "reason", String.valueOf(e.getMessage()));
        }
    }

    /** What has a name. */
    public DatabaseCatalog catalog() {
        return catalog;
    }

    /** PostgreSQL's catalog over ours. */
    public PgCatalog pgCatalog() {
        return pgCatalog;
    }

    public Engine engine() {
        return engine;
    }

    /** What it runs on. */
    public Host host() {
        return host;
    }

    /** The time that all of it goes by. */
    public Clock clock() {
        return clock;
    }

    public Frontend frontend() {
        return frontend;
    }

    /** The turns by which sessions do what takes long on their own threads, as planning may. */
    public Turns turns() {
        return turns;
    }

    /** Statements that texts share which differ in their constants. */
    public AdHocStatements adHoc() {
        return adHoc;
    }

    /** Where sessions have long statements planned. */
    public OffloadThreads offloadThreads() {
        return offloadThreads;
    }

    /** What is set aside of the Java heap. */
    public HeapShares heap() {
        return heap;
    }

    public Plans plans() {
        return plans;
    }

    /** What CREATE SECRET made. */
    public Secrets secrets() {
        return secrets;
    }

    /** Resolves references to secrets, in options of connectors. */
    public Options.References references() {
        return new SecretReferences(name -> Optional.ofNullable(System.getenv(name)), secrets::text);
    }

    /** What a sink of the name is lent that is being made. With the lock of definitions held. */
    public SinkContext sinkContext(String name) {
        Optional<SinkHome> home = catalogStore.directory().map(directory -> {
            long number = catalogStore.numberAhead(name);
            return new SinkHome(
                    Long.toHexString(journal.identity().orElse(0)), number, directory.sinkDirectory(number));
        });
        return new LentToSink(engine.allocator(), clock, name, home);
    }

    private record LentToSink(BufferAllocator allocator, Clock clock, String name, Optional<SinkHome> home)
            implements SinkContext {}

    /** The streams that devices send to. */
    public EdgeInlets edgeInlets() {
        return edgeInlets;
    }

    public Connectors connectors() {
        return connectors;
    }

    /**
     * Takes the lock; who waits for it is stopped like anybody who works.
     *
     * @throws dev.millrace.error.MillraceException why the statement under way was stopped; the lock is not taken then
     */
    public void lockDefinitions() {
        Interrupt.lock(definitionLock);
    }

    /** Waits until the statement is done that changes definitions now, if one does, and what could not be kept of others is. */
    private void awaitDefinition() {
        if (definitionLock.isHeldByCurrentThread()) {
            return; // that statement itself: what it defines is kept when it is done
        }
        lockDefinitions();
        try {
            catalogStore.keepOwed();
        } finally {
            definitionLock.unlock();
        }
    }

    public ReentrantLock definitionLock() {
        return definitionLock;
    }

    /** The running query behind a continuous query, view or sink. */
    public Optional<StandingQuery> standing(String name) {
        return Optional.ofNullable(queries.get(name));
    }

    /** All running queries by the names of what they are behind; changed with the lock of definitions held. */
    public Map<String, StandingQuery> queries() {
        return queries;
    }

    /** The keys of tables by the tables' names; changed with the lock of definitions held. */
    public Map<String, TableKeys> tableKeys() {
        return tableKeys;
    }

    /** Which transactions hold which rows. */
    public RowLocks rowLocks() {
        return rowLocks;
    }

    /** Which transaction has changed definitions. */
    public UncommittedDefinitions uncommitted() {
        return uncommitted;
    }

    /** A name for a table that a transaction has dropped, until it ends; no relation can have it. */
    public String droppedName(String table) {
        return "dropped " + table + " " + subscriptions.incrementAndGet();
    }

    /** A name for what a transaction sees of a table, or a statement of files; no relation can have it. */
    public String ownRowsName(String table) {
        return "own " + table + " " + subscriptions.incrementAndGet();
    }

    /** A name for a query that runs for one subscriber; no relation can have it. */
    public String subscriptionName() {
        return SUBSCRIPTION + subscriptions.incrementAndGet();
    }

    /** Whether a query runs for one subscriber. */
    public static boolean isSubscription(String query) {
        return query.startsWith(SUBSCRIPTION);
    }

    /** Stops all queries and frees everything; after all sessions are closed. */
    @Override
    public void close() {
        offloadThreads.close();
        try {
            histories.close();
        } finally {
            closeOthers();
        }
    }

    private void closeOthers() {
        intakes.close();
        queries.clear(); // the engine drops them, all together
        tableKeys.values().forEach(TableKeys::close);
        tableKeys.clear();
        try {
            retained.close();
            engine.close();
        } finally {
            pgCatalog.close();
            try {
                journal.close();
                keepEndsOfLogs();
            } finally {
                catalogStore.close();
            }
        }
    }
}

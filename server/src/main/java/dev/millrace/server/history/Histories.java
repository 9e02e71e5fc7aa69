package dev.millrace.server.history;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.batch.Closing;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.subscription.Subscription;
import dev.millrace.engine.subscription.SubscriptionOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.host.Host;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.storage.KnownLog;
import dev.millrace.storage.disk.Disk;
import dev.millrace.storage.disk.DiskErrors;
import dev.millrace.storage.disk.FileImage;
import dev.millrace.storage.log.LogImage;
import dev.millrace.storage.log.WriteAheadLog;
import dev.millrace.time.Clock;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The queries whose changes are kept, and the durable subscriptions to them. Safe on any thread; what makes and drops subscriptions is
 * called with the lock of definitions held.
 *
 * <p>Long because a history is made, ends, goes on and is copied under one lock, so that its directory and its number are one's.
 */
public final class Histories implements AutoCloseable {
    private static final EventLog LOG = EventLog.named("storage");
    private static final int MOST = 100_000; // directories
    private static final Pattern DIRECTORY = Pattern.compile("changes/([1-9][0-9]{0,5})");

    /** A file by which a user says that a history is lost, and the database is to go on without it. */
    static final String GIVEN_UP = "given-up";

    private static final String CURE = "; to go on without the subscriptions that it was for, make a file %s";

    /**
     * A subscription as {@code millrace.subscriptions} shows it.
     *
     * @param reason why it is not active, if that is known
     * @param toldMicros the time up to which all changes are there
     * @param waitingBytes of changes that are not acknowledged
     */
    public record Shown(
            NamedSubscription subscription,
            String query,
            String state,
            Optional<String> reason,
            long toldMicros,
            long waitingBytes) {}

    /** A history that could not go on. */
    private record Stopped(Map<String, NamedSubscription> subscriptions, MillraceException why) {}

    private final Engine engine;
    private final Clock clock;
    private final Host host;
    private final Optional<Disk> disk;
    private final Function<String, Optional<StandingQuery>> queries;
    private final Runnable keepLogs;
    private final Map<String, QueryHistory> histories = new ConcurrentHashMap<>(); // by query
    private final Map<String, Stopped> stopped = new ConcurrentHashMap<>(); // likewise
    private final Map<String, String> queryOf = new ConcurrentHashMap<>(); // of a subscription

    @GuardedBy("this") private final TreeMap<Integer, String> numbers = new TreeMap<>(); // of directories; their queries

    @GuardedBy("this") private final TreeMap<Integer, KnownLog> logs = new TreeMap<>(); // by number, as they were last seen

    @GuardedBy("this") private int images; // that are open: no directory is emptied meanwhile

    /** Histories by number whose queries are gone, which definitions on disk may have still; empty of one that was stopped. */
    @GuardedBy("this") private final TreeMap<Integer, Optional<QueryHistory>> leaving = new TreeMap<>();

    @GuardedBy("this") private final TreeSet<Integer> toEmpty = new TreeSet<>(); // when there are none

    /**
     * @param disk the directory {@code changes}; none for a database that keeps nothing
     * @param queries that run, by name
     * @param keepLogs has definitions know {@link #logs}: what they do not know is not there after a restart, and what they know is missed
     */
    public Histories(
            Engine engine,
            Clock clock,
            Host host,
            Optional<Disk> disk,
            Function<String, Optional<StandingQuery>> queries,
            Runnable keepLogs) {
        this.keepLogs = keepLogs;
        this.engine = engine;
        this.clock = clock;
        this.host = host;
        this.disk = disk;
        this.queries = queries;
    }

    // ---- opening ---------------------------------------------------------------------------------------------------

    /**
     * Goes on with what is on disk, when all queries run again. A history that cannot go on keeps its files.
     *
     * @param known the logs that definitions know; none of a version that did not write them, whose directories had numbers without gaps
     * @throws MillraceException XX001 if something is damaged or missing; 53100 or 58030
     */
    public synchronized void open(Optional<Map<String, KnownLog>> known) {
        Map<Integer, KnownLog> wanted = numbered(known.orElse(Map.of()));
        int last = wanted.keySet().stream().reduce(0, Math::max);
        for (int number = 1; number <= MOST && (number <= last || has(number)); number++) {
            KnownLog log = wanted.get(number);
            if (log != null) {
                goOn(number, log);
            } else if (has(number) && hasLog(directory(number))) {
                if (known.isPresent()) {
                    emptied(directory(number)); // it was being made, or dropped
                } else {
                    goOn(number, directory(number), Optional.empty());
                }
            }
        }
    }

    private static Map<Integer, KnownLog> numbered(Map<String, KnownLog> known) {
        Map<Integer, KnownLog> numbered = new TreeMap<>();
        known.forEach((name, log) -> {
            Matcher number = DIRECTORY.matcher(name);
            if (number.matches()) {
                numbered.put(Integer.parseInt(number.group(1)), log);
            }
        });
        return numbered;
    }

    private synchronized void goOn(int number, KnownLog known) {
        Disk files = directory(number);
        try {
            if (files.has(GIVEN_UP)) {
                emptied(files);
                return;
            }
        } catch (IOException e) {
            throw DiskErrors.failed("read " + files.path(""), e);
        }
        try {
            known.requireIn(files);
            goOn(number, files, Optional.of(known));
        } catch (MillraceException e) {
            throw e.hint().isPresent() ? e.withHint(e.hint().get() + CURE.formatted(files.path(GIVEN_UP))) : e;
        }
    }

    /**
     * The logs that there are, by the numbers of their directories, as far as they are written. Also when this is closed.
     */
    public synchronized Map<Integer, KnownLog> logs() {
        logs.replaceAll((number, before) -> Optional.ofNullable(histories.get(numbers.get(number)))
                .flatMap(QueryHistory::known)
                .orElse(before));
        return new TreeMap<>(logs);
    }

    private boolean has(int number) {
        try {
            return disk.isPresent() && disk.get().has(Integer.toString(number));
        } catch (IOException e) {
            throw DiskErrors.failed("read " + disk.orElseThrow().path(""), e);
        }
    }

    private static boolean hasLog(Disk files) {
        try {
            return WriteAheadLog.exists(files);
        } catch (IOException e) {
            throw DiskErrors.failed("read " + files.path(""), e);
        }
    }

    private synchronized void goOn(int number, Disk files, Optional<KnownLog> known) {
        HistoryLog log = new HistoryLog(Optional.of(host.log(files, LOG::warning)), host);
        HistoryContents contents;
        try {
            known.ifPresent(before ->
                    before.requireLast(files, log.known().orElseThrow().last()));
            contents = log.read(files.path(""));
            if (!contents.subscriptions().isEmpty()) {
                contents.requireBase();
            }
        } catch (RuntimeException | Error e) {
            log.close();
            throw e;
        }
        if (contents.subscriptions().isEmpty()) { // it was being made, or dropped
            log.close();
            toEmpty.add(number); // when definitions do not know of it any more
            return;
        }
        String query = contents.requireBase().query();
        numbers.put(number, query);
        log.known().ifPresent(now -> logs.put(number, now));
        contents.subscriptions().keySet().forEach(name -> queryOf.put(name, query));
        try {
            StandingQuery standing = queries.apply(query)
                    .orElseThrow(() -> MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "\"" + query + "\" does not run"));
            if (!contents.fits(standing.schema()) || !standing.materialized()) {
                throw MillraceException.user(
                        SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "\"" + query + "\" has other columns now");
            }
            QueryHistory history = newHistory(query, standing, log);
            history.goOn(contents);
            histories.put(query, history);
        } catch (MillraceException e) {
            log.close();
            if (e.sqlState() == SqlState.DISK_FULL || e.sqlState() == SqlState.IO_ERROR) {
                throw e; // it goes on when there is room
            }
            stopped.put(query, new Stopped(contents.subscriptions(), e));
            LOG.warning("a history does not go on", "query", query, "reason", e.getMessage());
        }
    }

    /**
     * A query has begun anew that had failed: its history goes on with what is on disk, and tells what is other now as one change. In a
     * database that keeps nothing it has ended with the query.
     *
     * @throws MillraceException what it does not go on for: then it is as it is when that is found as the database is opened
     */
    public synchronized void begunAnew(String query) {
        Optional<Integer> number = numbers.entrySet().stream()
                .filter(each -> each.getValue().equals(query))
                .map(Map.Entry::getKey)
                .findFirst();
        if (disk.isEmpty() || number.isEmpty()) {
            return;
        }
        QueryHistory history = histories.remove(query);
        Stopped before = stopped.remove(query);
        Map<String, NamedSubscription> subscriptions = Map.of();
        if (history != null) {
            subscriptions = history.kept().named();
            history.close();
        } else if (before != null) {
            subscriptions = before.subscriptions();
        }
        try {
            goOn(number.get(), directory(number.get()), Optional.empty());
        } catch (MillraceException e) {
            stopped.put(query, new Stopped(subscriptions, e));
            throw e;
        }
    }

    private QueryHistory newHistory(String query, StandingQuery standing, HistoryLog log) {
        return new QueryHistory(
                query,
                standing,
                () -> queries.apply(query),
                log,
                clock,
                host,
                engine.allocator(),
                engine.options().batchRows());
    }

    private Disk directory(int number) {
        try {
            return disk.orElseThrow().directory(Integer.toString(number));
        } catch (IOException e) {
            throw DiskErrors.failed("use " + disk.orElseThrow().path(Integer.toString(number)), e);
        }
    }

    // ---- subscriptions ---------------------------------------------------------------------------------------------

    /** The query that a subscription is to. */
    public Optional<String> queryOf(String subscription) {
        return Optional.ofNullable(queryOf.get(subscription));
    }

    /** The role that made a subscription; one that exists. */
    public String owner(String subscription) {
        return all().stream()
                .map(Shown::subscription)
                .filter(each -> each.name().equals(subscription))
                .findFirst()
                .orElseThrow(() -> undefined(subscription))
                .owner();
    }

    /** The names of those to a query. */
    public List<String> to(String query) {
        return queryOf.entrySet().stream()
                .filter(entry -> entry.getValue().equals(query))
                .map(Map.Entry::getKey)
                .sorted()
                .toList();
    }

    static MillraceException undefined(String name) {
        return MillraceException.user(SqlState.UNDEFINED_OBJECT, "subscription \"" + name + "\" does not exist");
    }

    /** Makes a subscription, whose name is free, to a query that runs and keeps its answer; it is on disk when this returns. */
    public synchronized void create(String name, String owner, StandingQuery query, long limitBytes) {
        endUnread();
        Stopped before = stopped.get(query.name());
        if (before != null) {
            throw before.why().again();
        }
        QueryHistory history = histories.get(query.name());
        if (history == null) {
            history = begin(query);
        }
        try {
            history.add(name, owner, limitBytes);
        } catch (RuntimeException | Error e) {
            if (to(query.name()).isEmpty()) {
                after(e, () -> end(Set.of(query.name()))); // nobody would ever end it
            }
            throw e;
        }
        queryOf.put(name, query.name());
        history.awaitLog(); // who is interrupted here has it, and does not know whether that is on disk
    }

    private synchronized QueryHistory begin(StandingQuery query) {
        int number = 1;
        while (numbers.containsKey(number) || leaving.containsKey(number) || toEmpty.contains(number)) {
            number++;
        }
        if (number > MOST) {
            throw MillraceException.user(
                    SqlState.PROGRAM_LIMIT_EXCEEDED, "at most " + MOST + " queries can have subscriptions");
        }
        int free = number;
        HistoryLog log = new HistoryLog(disk.map(any -> host.log(emptied(directory(free)), LOG::warning)), host);
        QueryHistory history = newHistory(query.name(), query, log);
        try {
            history.begin();
            numbers.put(number, query.name());
            histories.put(query.name(), history);
            log.known().ifPresent(known -> logs.put(free, known));
            keepLogs.run();
            return history;
        } catch (RuntimeException | Error e) {
            logs.remove(number);
            numbers.remove(number);
            histories.remove(query.name());
            after(e, history::close);
            throw e;
        }
    }

    private static void after(Throwable failure, Runnable end) {
        try {
            end.run();
        } catch (RuntimeException | Error e) {
            failure.addSuppressed(e);
        }
    }

    /** Without what another left that was dropped. */
    private static Disk emptied(Disk files) {
        try {
            for (String file : files.list()) {
                files.delete(file);
            }
            files.forceNames();
            return files;
        } catch (IOException e) {
            throw DiskErrors.failed("empty " + files.path(""), e);
        }
    }

    /**
     * Drops a subscription that exists. With the last of a query goes the query's history, once those have gone who read it without a
     * subscription: their reading is nobody else's to end.
     */
    public synchronized void drop(String name) {
        endUnread();
        String query = queryOf(name).orElseThrow(() -> undefined(name));
        QueryHistory history = histories.get(query);
        Stopped before = stopped.get(query);
        if (before != null) { // its log is closed: all go together
            end(Set.of(query));
            before.subscriptions().keySet().forEach(queryOf::remove);
            return;
        }
        if (to(query).size() == 1 && (history == null || !history.kept().isReadByItself())) {
            end(Set.of(query));
            queryOf.remove(name);
            return;
        }
        queryOf.remove(name);
        if (history != null) {
            history.kept().remove(name);
            history.awaitLog(); // who is interrupted here has dropped it, and does not know whether that is on disk
        }
    }

    /** Histories that were read when their last subscription was dropped go now, if nobody reads them any more. */
    private synchronized void endUnread() {
        Set<String> unread = histories.entrySet().stream()
                .filter(each ->
                        to(each.getKey()).isEmpty() && !each.getValue().kept().isReadByItself())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
        if (unread.isEmpty()) {
            return;
        }
        try {
            end(unread);
        } catch (MillraceException e) {
            LOG.warning("histories that nobody reads go on", "reason", e.getMessage()); // until the next time
        }
    }

    /**
     * Objects are dropped, and with them the subscriptions to those that have some. {@link #logs} are without them, which is to be kept in
     * one record with that the objects are gone; until {@link #definitionsAreKept} a crash brings all of them back.
     *
     * @return whether there were any
     */
    public synchronized boolean forget(Set<String> names) {
        List<Integer> gone = numbered(names);
        for (int number : gone) {
            String query = Objects.requireNonNull(numbers.remove(number));
            logs.remove(number);
            stopped.remove(query);
            leaving.put(number, Optional.ofNullable(histories.remove(query)));
        }
        queryOf.values().removeIf(names::contains);
        return !gone.isEmpty();
    }

    /** What statements have changed until now is on disk: nothing brings back what was forgotten. */
    public synchronized void definitionsAreKept() {
        if (!leaving.isEmpty()) {
            leaving.values().forEach(history -> history.ifPresent(Histories::dropped));
            toEmpty.addAll(leaving.keySet());
            leaving.clear();
            emptyIfPossible();
        }
    }

    private synchronized List<Integer> numbered(Set<String> queries) {
        return numbers.entrySet().stream()
                .filter(entry -> queries.contains(entry.getValue()))
                .map(Map.Entry::getKey)
                .toList();
    }

    private synchronized void end(Set<String> queries) {
        List<Integer> gone = numbered(queries);
        Map<Integer, KnownLog> before = new TreeMap<>(logs);
        gone.forEach(logs::remove);
        try {
            keepLogs.run(); // from here on it is gone, even if its files stay
        } catch (RuntimeException | Error e) {
            logs.putAll(before);
            throw e;
        }
        gone.forEach(numbers::remove);
        toEmpty.addAll(gone);
        for (String query : queries) {
            stopped.remove(query);
            Optional.ofNullable(histories.remove(query)).ifPresent(Histories::dropped);
        }
        emptyIfPossible();
    }

    private static void dropped(QueryHistory history) {
        try {
            history.drop();
        } catch (MillraceException e) {
            LOG.warning("a history that was dropped did not end well", "reason", e.getMessage());
        }
    }

    private synchronized void emptyIfPossible() {
        try {
            emptyUnneeded();
        } catch (MillraceException e) {
            LOG.warning("files of dropped histories stay", "reason", e.getMessage());
        }
    }

    private synchronized void emptyUnneeded() {
        while (disk.isPresent() && images == 0 && !toEmpty.isEmpty()) {
            emptied(directory(toEmpty.first()));
            toEmpty.pollFirst();
        }
    }

    // ---- copying ---------------------------------------------------------------------------------------------------

    /**
     * All histories as they are on disk now, to be copied. To be closed.
     *
     * @throws MillraceException 58030 where they cannot be read
     */
    public synchronized HistoriesImage image() {
        List<FileImage> files = new ArrayList<>();
        List<LogImage> logs = new ArrayList<>();
        try {
            for (Map.Entry<Integer, String> each : numbers.entrySet()) {
                String name = each.getKey().toString();
                Optional<LogImage> log =
                        Optional.ofNullable(histories.get(each.getValue())).flatMap(history -> history.image());
                if (log.isPresent()) {
                    logs.add(log.get());
                    log.get().files().forEach(file -> files.add(file.in(name)));
                } else if (disk.isPresent()) { // it is stopped: its files stay as they are
                    for (String file : directory(each.getKey()).list()) {
                        files.add(FileImage.of(directory(each.getKey()), file).in(name));
                    }
                }
            }
        } catch (IOException e) {
            Closing.all(logs);
            throw DiskErrors.failed("read " + disk.orElseThrow().path(""), e);
        } catch (RuntimeException | Error e) {
            Closing.all(logs);
            throw e;
        }
        images++;
        return new HistoriesImage(files, () -> released(logs));
    }

    private synchronized void released(List<LogImage> logs) {
        images--;
        Closing.all(logs);
        emptyUnneeded();
    }

    /** All changes up to a time were seen. */
    public void acknowledge(String name, long micros) {
        running(name).kept().acknowledge(name, micros);
    }

    private QueryHistory running(String subscription) {
        String query = queryOf(subscription).orElseThrow(() -> undefined(subscription));
        Stopped before = stopped.get(query);
        if (before != null) {
            throw before.why().again();
        }
        return Optional.ofNullable(histories.get(query)).orElseThrow(() -> undefined(subscription));
    }

    /** Begins to read a subscription; see {@link QueryHistory#subscribe}. */
    public Subscription subscribe(String subscription, SubscriptionOptions options) {
        return running(subscription).subscribe(Optional.of(subscription), options);
    }

    /** Begins to read the changes of a query, if they are kept for a subscription. */
    public Optional<Subscription> subscribeTo(String query, SubscriptionOptions options) {
        return Optional.ofNullable(histories.get(query))
                .filter(kept -> !to(query).isEmpty())
                .map(history -> history.subscribe(Optional.empty(), options));
    }

    /** All subscriptions. */
    public List<Shown> all() {
        List<Shown> all = new ArrayList<>();
        new TreeMap<>(histories)
                .values()
                .forEach(history -> all.addAll(history.kept().shown()));
        new TreeMap<>(stopped)
                .forEach((query, before) -> before.subscriptions()
                        .values()
                        .forEach(each -> all.add(new Shown(
                                each,
                                query,
                                each.broken().isPresent() ? "broken" : "stopped",
                                each.broken().or(() -> Optional.of(before.why().getMessage())),
                                each.acknowledgedMicros(),
                                0))));
        return all;
    }

    /** Writes what has come, before the engine is closed. */
    @Override
    public synchronized void close() {
        List<QueryHistory> all = new ArrayList<>(histories.values());
        leaving.values().forEach(history -> history.ifPresent(all::add));
        Closing.all(all);
        logs(); // as they are left
        histories.clear();
        leaving.clear();
    }
}

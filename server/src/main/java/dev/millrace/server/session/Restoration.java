package dev.millrace.server.session;

import dev.millrace.engine.checkpoint.Resumption;
import dev.millrace.engine.runtime.Engine;
import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.dml.RestoredRows;
import dev.millrace.server.instance.CatalogStore;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.instance.NamesThen;
import dev.millrace.server.instance.Opening;
import dev.millrace.server.instance.Recovery;
import dev.millrace.server.journal.RowJournal;
import dev.millrace.server.log.EventLog;
import dev.millrace.server.role.Roles;
import dev.millrace.server.storage.CheckpointCatalog;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.KeptObject;
import dev.millrace.server.storage.SavedCheckpoint;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.time.Clock;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;

/**
 * Makes again, when a database is opened, all that its data directory keeps. On the thread that opens the database.
 *
 * <pre>
 *   the newest checkpoint: what it has is declared by the statements that are kept, and begins with the state that it had then, which is
 *   read while others go on; from here on sessions may read what is complete
 *   what came after it, as it came: rows are accepted once more, and between two of them what was made between them is made again, when
 *   all that the checkpoint has is there
 * </pre>
 *
 * What cannot be made is logged, stays kept, and can be dropped.
 *
 * <p>Long because it has the whole order in which things come back.
 */
final class Restoration {
    private static final EventLog LOG = EventLog.named("storage");
    private static final long TELL_NANOS = 2_000_000_000;

    /** What keeps nothing of its own: it is there as soon as anything may need it. */
    private static final Set<String> STATELESS = Set.of(
            ObjectKind.VIEW.sqlName(),
            ObjectKind.FUNCTION.sqlName(),
            ObjectKind.INDEX.sqlName(),
            ObjectKind.SCHEMA.sqlName());

    private final Database database;
    private final Instance instance;
    private final CatalogStore catalogStore;
    private final Clock clock;
    private final DatabaseOptions.Restoring progress;
    private final boolean sideBySide;
    private final List<KeptObject> waiting = new ArrayList<>(); // for something that was not there
    private final Map<String, String> anew = new HashMap<>(); // why, of what does not go on where it was
    private final List<String> restored = new ArrayList<>(); // what goes on where it was
    private RestoredStates states = RestoredStates.none();
    private Recovery.Way way = Recovery.Way.LOG; // of what is made
    private final Set<String> pausedWaiting = new HashSet<>(); // of those, what was paused meanwhile
    private int done;
    private int all;
    private long toldNanos;

    /**
     * What was done between two entries of the log.
     *
     * @param since the last before it
     * @param isOfQueries whether it begins with what queries have then
     */
    private record Event(long since, boolean isOfQueries, Runnable redo) {}

    /**
     * What the checkpoint has was not to be read side by side, though it is not damaged: read one by one, who does not find what it needs
     * begins anew, and the others go on.
     */
    static final class NotSideBySide extends RuntimeException {
        private static final long serialVersionUID = 1;

        NotSideBySide(MillraceException why) {
            super(why);
        }
    }

    /** @param sideBySide how a checkpoint is read */
    Restoration(Database database, DatabaseOptions.Restoring progress, boolean sideBySide) {
        this.sideBySide = sideBySide;
        this.database = database;
        this.instance = database.instance();
        this.catalogStore = instance.catalogStore();
        this.clock = instance.clock();
        this.progress = progress;
    }

    /** From here on the catalog store hears of changes, and keeps them when all is there. */
    void run() {
        instance.opening().restoresOnThisThread();
        catalogStore.follow(instance.catalog(), instance.systemSettings()::kept, instance::since);
        if (catalogStore.directory().isPresent()) {
            run(catalogStore.directory().get());
        } else {
            instance.recovery().cameAll(Map.of(), instance.catalog());
        }
    }

    private void run(DataDirectory from) {
        from.notices().forEach(notice -> LOG.warning("data directory", "directory", from.path(), "notice", notice));
        RowJournal journal = instance.journal();
        journal.notices().forEach(notice -> LOG.warning("log of rows", "directory", from.path(), "notice", notice));
        Optional<SavedCheckpoint> checkpoint = instance.checkpoints().newest();
        instance.definitionLock().lock();
        try (Session session = database.session();
                RestoredRows rows = new RestoredRows(instance)) {
            session.readLiterally();
            from.known(DataDirectory.ROWS).ifPresent(log -> log.requireLast(from.rows(), journal.appended()));
            checkpoint.ifPresent(saved -> requireOwnLog(from, saved.catalog(), journal));
            settle(from, checkpoint, journal);
            checkpoint.ifPresent(saved -> catchUp(from, saved.catalog()));
            checkpoint.ifPresent(
                    saved -> instance.retained().expect(saved.catalog().streams()));
            from.catalog().objects().forEach(object -> object.number().ifPresent(catalogStore::used));
            catalogStore.used(journal.kept().greatest());
            from.catalog().access().roles().forEach(statement -> run(session, statement));
            Map<String, String> settings = from.catalog().settings();
            settings.forEach((name, value) -> {
                if (!instance.systemSettings().isNarrower(name, value)) {
                    run(session, "ALTER SYSTEM SET " + name + " = " + Identifiers.quoteText(value));
                }
            });
            List<KeptObject> objects = List.copyOf(from.catalog().objects());
            all = objects.size();
            toldNanos = clock.nanoTime();
            progress.restored(done, all);
            long after = checkpoint.map(SavedCheckpoint::logNumber).orElse(0L);
            instance.retained().cameAgain(after);
            List<KeptObject> rest =
                    checkpoint.map(saved -> resume(session, objects, saved)).orElse(objects);
            List<String> grants = new ArrayList<>(from.catalog().access().grants());
            List<String> defaults = grants.stream().filter(Roles::isOfDefaults).toList();
            grants.removeAll(defaults); // for what is made when all is as it was
            grants.removeIf(statement -> runs(session, statement)); // others are of what is yet to be made
            begin(after, rest);
            goOn(after, events(session, after, objects, rest, rows), rows);
            states.await();
            reportLost();
            rows.end(restored);
            grants.forEach(statement -> run(session, statement));
            defaults.forEach(statement -> run(session, statement));
            instance.opening().hasAllDefinitions();
            journal.begin();
            catalogStore.begin(journal.appended());
            instance.histories().open(from.catalog().logs());
            instance.keepLogs();
            instance.retained().removeOthers(from.catalog().numbers());
            settings.forEach(this::narrow);
            dropTemporary(session);
            report(from, rows.rows());
        } catch (RuntimeException | Error e) {
            states.rethrow(); // what comes of that is not why
            throw e;
        } finally {
            instance.definitionLock().unlock();
            states.close();
            checkpoint.ifPresent(SavedCheckpoint::close);
        }
    }

    /** Has rows flow. */
    private void begin(long after, List<KeptObject> rest) {
        states.begin(instance.host().hasThreads());
        instance.opening().declared(after, rest.isEmpty());
    }

    /** Only when all is there: of a database that does not open, nobody could reset the limits. */
    private void narrow(String setting, String value) {
        try {
            instance.systemSettings().narrow(setting, value);
        } catch (MillraceException e) {
            LOG.warning("a setting was not restored", "name", setting, "reason", e.getMessage());
        }
    }

    private static void requireOwnLog(DataDirectory from, CheckpointCatalog checkpoint, RowJournal journal) {
        if (checkpoint.log().isPresent() && !checkpoint.log().equals(journal.identity())) {
            throw MillraceException.external(
                            SqlState.DATA_CORRUPTED,
                            from.checkpoints().path("") + " is of another database than "
                                    + from.rows().path("")
                                    + ": its checkpoint goes on with the log "
                                    + Long.toHexString(checkpoint.log().getAsLong()))
                    .withHint("put the directory back from a backup");
        }
    }

    /** What a transaction defined is there if its rows are: when the log of rows has its entry, or had it when a checkpoint was written. */
    private static void settle(DataDirectory from, Optional<SavedCheckpoint> checkpoint, RowJournal journal) {
        OptionalLong mark = from.doubtful();
        if (mark.isEmpty()) {
            return;
        }
        boolean isOfCheckpoint = checkpoint
                .filter(saved -> saved.catalog().record() >= from.lastRecord())
                .isPresent();
        if (isOfCheckpoint || journal.kept().last(mark.getAsLong()) > 0) {
            from.confirm();
        } else {
            LOG.info(
                    "a transaction is not committed",
                    "directory",
                    from.path(),
                    "reason",
                    "record " + from.lastRecord() + " of its definitions is there, and its rows are not");
            from.takeBack();
        }
    }

    /** Keeps what a statement made whose state the checkpoint has, and that was not kept yet. */
    private static void catchUp(DataDirectory from, CheckpointCatalog checkpoint) {
        long last = from.lastRecord();
        if (last == checkpoint.record() - 1 && checkpoint.ahead().isPresent()) {
            from.keep(checkpoint.ahead().get());
        } else if (last < checkpoint.record()) {
            throw MillraceException.external(
                    SqlState.DATA_CORRUPTED,
                    "catalog.log of " + from.path() + " ends with record " + last + ", and the checkpoint is of record "
                            + checkpoint.record());
        }
    }

    // ---- from the checkpoint ---------------------------------------------------------------------------------------

    /** Declares what the checkpoint has. @return what is still to be made */
    private List<KeptObject> resume(Session session, List<KeptObject> objects, SavedCheckpoint saved) {
        Set<Long> numbers = saved.catalog().numbers();
        numbers.forEach(catalogStore::used);
        List<KeptObject> rest = new ArrayList<>();
        List<KeptObject> toMake = new ArrayList<>();
        for (KeptObject object : objects) {
            boolean has = object.number().isPresent()
                    && numbers.contains(object.number().getAsLong());
            boolean isFirst = has || STATELESS.contains(object.kind()) && !(isIndex(object) && sideBySide);
            (isFirst ? toMake : rest).add(object); // an index would wait for the rows of its relation
        }
        way = Recovery.Way.CHECKPOINT;
        NamesThen names = new NamesThen(saved.catalog(), objects);
        saved.nameThen(names);
        Engine engine = instance.engine();
        Resumption resumption = sideBySide ? engine.restoreSideBySide(saved) : engine.restore(saved);
        states = RestoredStates.of(resumption);
        for (int before = Integer.MAX_VALUE; toMake.size() < before; ) {
            before = toMake.size(); // what reads a table that was altered is kept before it
            toMake.removeIf(object -> make(session, object));
        }
        resumption.failure().ifPresent(why -> {
            throw why; // else there would be a database without some of its rows
        });
        for (KeptObject lost : toMake) {
            if (!isTable(lost)) { // a table would come without its rows
                rest.add(lost);
                anew.put(lost.name(), why(lost));
                LOG.warning("does not go on from the checkpoint", "name", lost.name(), "reason", why(lost));
            }
        }
        Map<String, String> begunAnew = resumption.begunAnew();
        begunAnew.forEach((name, why) -> {
            LOG.warning("begins anew", "name", name, "reason", why);
            instance.recovery().came(name, new Recovery.Outcome(Recovery.Way.ANEW, catalogStore.numberOf(name), why));
        });
        objects.stream()
                .map(KeptObject::name)
                .filter(name -> instance.standing(name).isPresent() && !begunAnew.containsKey(name))
                .forEach(restored::add);
        way = Recovery.Way.LOG;
        for (KeptObject object : rest) {
            if (!STATELESS.contains(object.kind()) && object.since() <= saved.logNumber()) {
                anew.putIfAbsent(object.name(), "the checkpoint was written without it");
            }
        }
        pauseAsBefore(objects, saved.logNumber());
        saved.catalog().counters().forEach((then, columns) -> {
            String table = names.now(then);
            if (instance.catalog().object(table).isPresent()) {
                columns.forEach((column, value) -> instance.catalog().numbers().goOn(table, column, value));
            }
        });
        return rest;
    }

    /** What was paused or resumed right after the checkpoint, before a row came, is so again before one comes. */
    private void pauseAsBefore(List<KeptObject> objects, long checkpointed) {
        for (KeptObject object : objects) {
            if (object.paused().isPresent() && object.paused().getAsLong() <= checkpointed) {
                pause(object.name());
            } else if (object.paused().isEmpty()) {
                instance.standing(object.name())
                        .filter(query -> query.state() == QueryState.PAUSED)
                        .ifPresent(StandingQuery::resume);
            }
        }
    }

    // ---- what came after -------------------------------------------------------------------------------------------

    private Deque<Event> events(
            Session session, long after, List<KeptObject> objects, List<KeptObject> rest, RestoredRows rows) {
        List<Event> events = new ArrayList<>();
        for (KeptObject object : rest) {
            long since = STATELESS.contains(object.kind()) ? 0 : object.since();
            events.add(new Event(since, !isIndex(object), () -> makeInTime(session, object, rows)));
        }
        for (KeptObject object : objects) {
            OptionalLong since = object.paused();
            if (since.isPresent() && (rest.contains(object) || since.getAsLong() > after)) {
                events.add(new Event(since.getAsLong(), true, () -> pause(object.name())));
            }
        }
        events.sort(Comparator.comparingLong(Event::since)); // stable: what others read comes before these
        return new ArrayDeque<>(events);
    }

    private void goOn(long after, Deque<Event> events, RestoredRows rows) {
        instance.journal().kept().replay(after, (number, parts) -> {
            redo(events, number, rows);
            rows.take(number, parts);
            instance.retained().cameAgain(number);
            if (rows.isFlushed()) {
                instance.opening().took(number);
            }
            progress.cameAgain(rows.rows());
            if (clock.nanoTime() - toldNanos >= TELL_NANOS) {
                toldNanos = clock.nanoTime();
                LOG.info("restoring rows", "record", number, "rows", rows.rows());
            }
        });
        rows.flush();
        instance.opening().took(Opening.ALL);
        redo(events, Long.MAX_VALUE, rows);
        instance.retained().cameAgain(Long.MAX_VALUE);
    }

    /** What was done before an entry; queries have their state before others begin with what they have, and before they are paused. */
    private void redo(Deque<Event> events, long before, RestoredRows rows) {
        while (!events.isEmpty() && events.element().since() < before) {
            rows.flush();
            Event next = events.remove();
            if (next.isOfQueries()) {
                states.await();
            }
            next.redo().run();
        }
    }

    /**
     * Makes an object, and once more what failed before for want of it. A table of which rows came and went by stays lost, with its rows
     * on disk.
     */
    private void makeInTime(Session session, KeptObject object, RestoredRows rows) {
        if (!make(session, object)) {
            waiting.add(object);
            return;
        }
        for (int before = Integer.MAX_VALUE; waiting.size() < before; ) {
            before = waiting.size();
            waiting.removeIf(lost -> !(isTable(lost) && rows.passedBy(lost.number())) && makeLate(session, lost));
        }
    }

    private boolean makeLate(Session session, KeptObject object) {
        boolean there = make(session, object);
        if (there && pausedWaiting.contains(object.name())) {
            pause(object.name());
        }
        return there;
    }

    private static boolean isIndex(KeptObject object) {
        return object.kind().equals(ObjectKind.INDEX.sqlName());
    }

    private static boolean isTable(KeptObject object) {
        return object.kind().equals(ObjectKind.TABLE.sqlName());
    }

    /** @return whether it is there now */
    private boolean make(Session session, KeptObject object) {
        catalogStore.restoring(object, () -> restore(session, object));
        Optional<CatalogStore.NotRestored> lost =
                Optional.ofNullable(catalogStore.notRestored().get(object.name()));
        if (lost.isPresent() && lost.get().isDisks()) {
            throw lost.get().why(); // whoever opens it tries again
        }
        boolean there = lost.isEmpty();
        if (there && !STATELESS.contains(object.kind())) {
            boolean afresh = anew.containsKey(object.name());
            instance.recovery()
                    .came(
                            object.name(),
                            new Recovery.Outcome(
                                    afresh ? Recovery.Way.ANEW : way,
                                    catalogStore.numberOf(object.name()),
                                    anew.getOrDefault(object.name(), "")));
        }
        done += there ? 1 : 0;
        progress.restored(done, all);
        if (clock.nanoTime() - toldNanos >= TELL_NANOS) {
            toldNanos = clock.nanoTime();
            LOG.info("restoring definitions", "done", done, "of", all);
        }
        return there;
    }

    private void restore(Session session, KeptObject object) {
        session.execute(object.sql()).drain();
        Roles roles = instance.catalog().roles();
        if (roles.find(object.owner()).isPresent()) {
            roles.setOwner(object.name(), object.owner());
        }
    }

    private String why(KeptObject lost) {
        return Optional.ofNullable(catalogStore.notRestored().get(lost.name()))
                .map(found -> String.valueOf(found.why().getMessage()))
                .orElse("");
    }

    private void pause(String name) {
        instance.standing(name).ifPresentOrElse(StandingQuery::pause, () -> pausedWaiting.add(name));
    }

    private void reportLost() {
        for (CatalogStore.NotRestored lost : catalogStore.notRestored().values()) {
            LOG.warning(
                    "not restored",
                    "name",
                    lost.name(),
                    "kind",
                    lost.kind(),
                    "sqlstate",
                    lost.why().sqlState().code(),
                    "reason",
                    lost.why().getMessage());
        }
    }

    private void report(DataDirectory from, long rows) {
        int lost = catalogStore.notRestored().size();
        LOG.info(
                "definitions restored",
                "directory",
                from.path(),
                "objects",
                from.catalog().objects().size() - lost,
                "not_restored",
                lost,
                "changes_of_rows",
                rows);
    }

    /** Temporary relations whose sessions ended with the process: tables and views, as nothing else is temporary. */
    private void dropTemporary(Session session) {
        Map<String, String> left = new TreeMap<>();
        catalogStore.notRestored().values().forEach(lost -> left.put(lost.name(), lost.kind()));
        instance.catalog()
                .objects()
                .forEach(object -> left.put(object.name(), object.kind().sqlName()));
        left.forEach((name, kind) -> {
            boolean isTemporary = kind.equals(ObjectKind.TABLE.sqlName()) || kind.equals(ObjectKind.VIEW.sqlName());
            if (isTemporary && RelationNames.isOfSession(name)) {
                run(session, "DROP " + kind + " IF EXISTS " + RelationNames.quoted(name) + " CASCADE");
            }
        });
    }

    private static boolean runs(Session session, String statement) {
        try {
            session.execute(statement).drain();
            return true;
        } catch (MillraceException e) {
            return false; // it is tried again, and told then
        }
    }

    /** Runs a statement about roles, which may be about what could not be restored. */
    private static void run(Session session, String statement) {
        try {
            session.execute(statement).drain();
        } catch (MillraceException e) {
            LOG.warning(
                    "a privilege or setting was not restored",
                    "sqlstate",
                    e.sqlState().code(),
                    "reason",
                    e.getMessage());
        }
    }
}

package dev.millrace.server.instance;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.intake.Intakes;
import dev.millrace.server.planning.PlanBasis;
import dev.millrace.server.role.Roles;
import dev.millrace.server.role.ScramDecoys;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.storage.CatalogChange;
import dev.millrace.server.storage.CatalogRecord;
import dev.millrace.server.storage.CatalogRecord.Access;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.server.storage.KeptObject;
import dev.millrace.server.storage.KnownLog;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.CommentStatement;
import dev.millrace.sql.statement.Commented;
import dev.millrace.sql.statement.IndexStatement;
import dev.millrace.sql.statement.RenameStatement;
import dev.millrace.sql.statement.SchemaStatement;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.time.Clock;
import dev.millrace.type.PlainNumeric;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * Keeps definitions, roles and settings in the data directory, by which they are made again when a database is opened. Without
 * a directory it keeps nothing.
 *
 * <p>Changes are gathered while a statement, or a transaction, makes them, and written as one record when it is done. If that fails, what a
 * transaction did is undone; what a statement made is taken back; what was altered, dropped or paused stays so, and its record is owed: it is written before the next one, and who writes rows
 * that need it is answered when it is there. Under the definition lock,
 * but for {@link #notRestored}.
 *
 * <p>Long because what a statement is about to keep, what is owed and what could not be made again decide together what is written.
 */
public final class CatalogStore implements AutoCloseable, DatabaseCatalog.Listener, Intakes.Definitions {
    private final Optional<DataDirectory> directory;
    private final Clock clock;
    private final List<CatalogChange> pending = new ArrayList<>();
    private Optional<Map<String, KnownLog>> pendingLogs = Optional.empty(); // if the statement under way changes them
    private final Map<String, NotRestored> notRestored = new ConcurrentSkipListMap<>();
    private final Map<String, Long> numbers = new ConcurrentHashMap<>(); // by name
    private final Map<Long, String> relations = new ConcurrentHashMap<>(); // that are written to, by their numbers
    private final Map<String, Long> begins = new ConcurrentHashMap<>(); // of tables that are being altered
    private final Map<String, PlanBasis> bases = new ConcurrentHashMap<>(); // of queries that are being made
    private final Map<String, Long> ahead = new HashMap<>(); // of objects that are being made
    private final Set<Long> unkept = ConcurrentHashMap.newKeySet(); // of those, by the statement under way
    private long lastNumber;
    private Optional<DatabaseCatalog> catalog = Optional.empty();
    private Supplier<Map<String, String>> settings = Map::of;
    private ToLongFunction<String> since = name -> 0;
    private final Deque<CatalogRecord> owed =
            new ArrayDeque<>(); // in effect, or in a checkpoint, and not in the catalog's log
    private Optional<Runnable> awaited =
            Optional.empty(); // waits for the entry without which the last record does not count
    private Optional<KeptObject> restoring = Optional.empty();
    private boolean listening;
    private Object keptRoles = Access.NONE; // the version of roles and privileges that is kept

    /** An object that is kept but could not be made again, and why. */
    public record NotRestored(String name, String kind, String sql, MillraceException why) {
        /** Whether it has rows that nothing but the directory has. */
        boolean hasRows() {
            return kind.equals(ObjectKind.TABLE.sqlName())
                    || kind.equals(ObjectKind.STREAM.sqlName())
                            && sql.toLowerCase(Locale.ROOT).contains("retention");
        }

        /** Whether it is the disk's failure, which may pass, and there would be a database without some of its rows. */
        public boolean isDisks() {
            boolean passes = why.sqlState() == SqlState.IO_ERROR || why.sqlState() == SqlState.DISK_FULL;
            return passes && hasRows();
        }
    }

    /** A change that took effect but could not be kept, and the new objects that it made. */
    public record Failure(List<String> made, MillraceException why) {}

    private CatalogStore(Optional<DataDirectory> directory, Clock clock) {
        this.directory = directory;
        this.clock = clock;
        directory.ifPresent(kept ->
                kept.catalog().objects().forEach(object -> object.number().ifPresent(this::used)));
    }

    public static CatalogStore open(Optional<DataPlace> place, Clock clock) {
        return new CatalogStore(place.map(DataDirectory::open), clock);
    }

    /** Whether a statement may change what is kept. */
    public static boolean concerns(Statement statement) {
        return statement instanceof Statement.CreateStream
                || statement instanceof Statement.CreateStreamAs
                || statement instanceof Statement.CreateTable
                || statement instanceof Statement.CreateContinuousQuery
                || statement instanceof Statement.CreateMaterializedView
                || statement instanceof Statement.CreateView
                || statement instanceof Statement.CreateQueryTemplate
                || statement instanceof Statement.CreateTableAs
                || statement instanceof Statement.CreateSink
                || statement instanceof Statement.CreateFunction
                || statement instanceof Statement.AlterQuery
                || statement instanceof Statement.AlterOptions
                || statement instanceof Statement.Reprocess
                || statement instanceof Statement.ApplyReplacement
                || statement instanceof AlterTable
                || statement instanceof IndexStatement
                || statement instanceof SchemaStatement
                || statement instanceof RenameStatement
                || statement instanceof CommentStatement
                || statement instanceof Statement.Drop
                || statement instanceof Statement.Pause
                || statement instanceof Statement.Resume
                || statement instanceof Statement.RoleStatement
                || isForAll(statement);
    }

    private static boolean isForAll(Statement statement) {
        String policy = Setting.SCHEDULING_POLICY.settingName();
        return statement instanceof Statement.AlterSystem
                || statement instanceof Statement.SetSetting set && set.name().equalsIgnoreCase(policy)
                || statement instanceof Statement.ResetSetting reset
                        && reset.name().filter(policy::equalsIgnoreCase).isPresent();
    }

    // ---- changes ---------------------------------------------------------------------------------------------------

    @Override
    public void defined(CatalogObject object) {
        boolean takesPlace = notRestored.remove(object.name()) != null;
        if (directory.isEmpty()) {
            return;
        }
        long number = relations.containsValue(object.name()) // it has the number of its rows
                ? Objects.requireNonNull(numbers.get(object.name()))
                : Optional.ofNullable(ahead.remove(object.name())).orElseGet(this::newNumber);
        numbers.put(object.name(), number);
        if (!listening) {
            directory.get().catalog().wasMadeAgain(object.name(), object.text());
            return;
        }
        if (takesPlace) {
            pending.add(new CatalogChange.Drop(object.name())); // with what was said of that
        }
        Optional<UserFunction> code = catalog.orElseThrow()
                .userFunction(object.name())
                .filter(function ->
                        function.kind() != UserFunction.Kind.SQL && function.kind() != UserFunction.Kind.SQL_TABLE);
        pending.add(new CatalogChange.Define(new KeptObject(
                object.name(),
                object.kind().sqlName(),
                object.text(),
                object.createdMicros(),
                "",
                code.flatMap(function -> UserCode.file(function.code())),
                OptionalLong.of(number),
                Optional.ofNullable(begins.remove(object.name())).orElseGet(() -> since.applyAsLong(object.name())),
                Optional.ofNullable(bases.remove(object.name()))
                        .map(PlanBasis::told)
                        .orElse(Map.of()),
                OptionalLong.empty(),
                object.numeric())));
    }

    @Override
    public void removed(String name) {
        forget(name);
        if (listening) {
            pending.add(new CatalogChange.Drop(name));
        }
    }

    @Override
    public void commented(Commented on, Optional<String> text) {
        if (listening) {
            pending.add(new CatalogChange.Comment(on, text));
        }
    }

    @Override
    public void renamed(Map<String, CatalogObject> now) {
        if (directory.isEmpty()) {
            return;
        }
        Map<String, KeptObject> before = listening ? beingKept() : Map.of();
        Map<String, Long> moved = new HashMap<>();
        now.keySet().forEach(name -> moved.put(name, numberOf(name)));
        now.keySet().forEach(numbers::remove);
        Map<String, String> names = new HashMap<>();
        now.forEach((name, object) -> {
            long number = Objects.requireNonNull(moved.get(name));
            names.put(name, object.name());
            numbers.put(object.name(), number);
            relations.computeIfPresent(number, (of, relation) -> object.name());
        });
        if (!listening) {
            return;
        }
        now.forEach((name, object) -> {
            if (!name.equals(object.name())) {
                pending.add(new CatalogChange.Drop(name));
            }
        });
        now.forEach((name, object) -> {
            KeptObject kept = Objects.requireNonNull(before.get(name), name);
            pending.add(new CatalogChange.Define(
                    kept.renamed(object.name(), object.definition(), PlanBasis.renamed(kept.basis(), names))));
            if (kept.paused().isPresent()) {
                pending.add(new CatalogChange.Pause(object.name(), kept.paused()));
            }
        });
    }

    /** All that is on disk when what is owed to it, and pending, is there. */
    private Map<String, KeptObject> beingKept() {
        Map<String, KeptObject> kept = new HashMap<>();
        directory.orElseThrow().catalog().objects().forEach(object -> kept.put(object.name(), object));
        Stream.concat(owed.stream().flatMap(record -> record.changes().stream()), pending.stream())
                .forEach(change -> {
                    if (change instanceof CatalogChange.Define define) {
                        kept.put(define.object().name(), define.object());
                    } else if (change instanceof CatalogChange.Drop drop) {
                        kept.remove(drop.name());
                    } else if (change instanceof CatalogChange.Pause pause) {
                        kept.computeIfPresent(pause.name(), (name, object) -> object.withPaused(pause.since()));
                    }
                });
        return kept;
    }

    /**
     * A number for a relation that takes rows from now on, by which the log knows them: that of one that is being made again, else one
     * that none had; 0 where nothing is kept.
     */
    public long newRows() {
        if (directory.isEmpty()) {
            return 0;
        }
        long number = newNumber();
        if (listening) {
            unkept.add(number);
        }
        return number;
    }

    /** The number that an object will have that is being made; where something is kept. */
    public long numberAhead(String name) {
        long number = newNumber();
        ahead.put(name, number);
        return number;
    }

    private long newNumber() {
        return restoring.map(KeptObject::number).orElse(OptionalLong.empty()).orElseGet(() -> ++lastNumber);
    }

    /** Whether the statement that gave a relation this number is under way, and the number not on disk. On any thread. */
    @Override
    public boolean isUnkept(long number) {
        return !unkept.isEmpty() && unkept.contains(number);
    }

    /**
     * A table or stream has the rows of this number, from {@link #newRows}; what is remembered beside the rows of a stream has its number,
     * negated. 0 for none any more.
     */
    @Override
    public void hasRows(String relation, long number) {
        forget(relation);
        if (number != 0) {
            numbers.put(relation, number);
            relations.put(number, relation);
        }
    }

    /**
     * The same of a table that is about to be defined anew.
     *
     * @param behind a record of the log before those with the rows of this number
     */
    public void hasRows(String relation, long number, long behind) {
        hasRows(relation, number);
        if (listening) {
            begins.put(relation, behind);
        }
    }

    private void forget(String name) {
        Long before = numbers.remove(name);
        if (before != null) {
            relations.remove(before);
        }
    }

    /** The number of what has a name; 0 if nothing has. On any thread. */
    public long numberOf(String name) {
        return numbers.getOrDefault(name, 0L);
    }

    /** The table or stream that has the rows of a number; none if it was dropped or altered. On any thread. */
    public Optional<String> relationOf(long number) {
        return Optional.ofNullable(relations.get(number));
    }

    /** Whether the object that is being made is one that there was before. */
    public boolean isRestoring() {
        return restoring.isPresent();
    }

    /** The last number that was given. With the lock of definitions held. */
    public long lastNumber() {
        return lastNumber;
    }

    /** The numbers of all that has one now. On any thread. */
    public Set<Long> numbers() {
        return Set.copyOf(numbers.values());
    }

    /** Numbers up to this one were given, and something of what had them may be on disk still. */
    public void used(long number) {
        lastNumber = Math.max(lastNumber, number);
    }

    /** What the planner is told for a query that is being made: what it was told when it was made first. */
    public PlanBasis basis() {
        return restoring
                .map(KeptObject::basis)
                .filter(told -> !told.isEmpty())
                .map(PlanBasis::again)
                .orElseGet(PlanBasis::first);
    }

    /** Whether the planner of a query that is being made would be told what it was told of another. */
    boolean isPlannedAs(PlanBasis other) {
        return restoring
                .map(KeptObject::basis)
                .filter(told -> !told.isEmpty())
                .map(told -> PlanBasis.again(told).isLike(other))
                .orElse(true);
    }

    /** A query is about to be defined whose planner was told this. */
    public void plannedBy(String query, PlanBasis basis) {
        if (listening) {
            bases.put(query, basis);
        }
    }

    /** A query is about to be defined whose plan is that of another. */
    public void plannedAs(String query, String other) {
        directory
                .flatMap(kept -> kept.catalog().object(other))
                .ifPresent(kept -> plannedBy(query, PlanBasis.again(kept.basis())));
    }

    /** When an object that is being made was made first, in microseconds since 1970 UTC. */
    public long creationMicros() {
        return restoring.map(KeptObject::createdMicros).orElseGet(clock::epochMicros);
    }

    /** The jar of a function that is being made: the user's, of which a copy will be kept, or that copy. */
    public Path jar(Path given) {
        return restoring
                .flatMap(KeptObject::jar)
                .map(hash -> directory.orElseThrow().jar(hash))
                .orElse(given);
    }

    /** Keeps a copy of a function's jar, before the function is there. */
    public void keepJar(String hash, Path given) {
        if (restoring.isEmpty()) {
            directory.ifPresent(to -> to.keepJar(hash, given));
        }
    }

    /** Drops what could not be made again; false if there is no such object. */
    public boolean giveUp(String name) {
        if (notRestored.remove(name) == null) {
            return false;
        }
        pending.add(new CatalogChange.Drop(name));
        return true;
    }

    /**
     * Keeps what a statement did.
     *
     * @param done whether it succeeded; it may have changed something before it failed
     * @param checkpoint is given what will be kept; whether it is in a checkpoint then, which makes it kept whatever comes, and all is written that was
     *     {@linkplain #writeOwed owed} before
     * @return what went wrong; then nothing was kept
     */
    public Optional<Failure> keep(Statement statement, boolean done, Predicate<CatalogRecord> checkpoint) {
        try {
            return keepChanges(statement, done, checkpoint);
        } finally {
            retainUnkept();
        }
    }

    /** Rows have their definition on disk, but for those whose definition is still owed to it, or of a transaction under way. */
    private void retainUnkept() {
        Set<Long> left = new HashSet<>();
        Stream.concat(owed.stream().flatMap(record -> record.changes().stream()), pending.stream())
                .forEach(change -> {
                    if (change instanceof CatalogChange.Define define) {
                        define.object().number().ifPresent(left::add);
                    }
                });
        unkept.retainAll(left);
    }

    // ---- of a transaction ------------------------------------------------------------------------------------------

    /** How much its statements so far have changed that is not kept yet. */
    public int mark() {
        return pending.size();
    }

    /** Forgets what came after a mark, which was undone. */
    public void backTo(int mark) {
        if (mark < pending.size()) {
            pending.subList(mark, pending.size()).clear();
        }
        begins.clear();
        bases.clear();
        ahead.clear();
        retainUnkept();
    }

    /** What has a name now is what had it before, with the number that it had. */
    public void comesBack(String name, long number, boolean hasRows) {
        if (number != 0 && hasRows) {
            hasRows(name, number);
        } else if (number != 0) {
            ahead.put(name, number);
        }
    }

    /**
     * Keeps what all its statements did, in one record.
     *
     * @param mark without which in an entry of the log of rows it does not count; it is to be {@linkplain #confirm confirmed} or {@linkplain
     *     #takeBack taken back} then, before anything else is kept
     * @param accessMayChange whether roles or privileges may be others
     * @throws MillraceException 53100 or 58030; then nothing was kept
     */
    public void keepTogether(OptionalLong mark, boolean accessMayChange) {
        if (!listening) {
            pending.clear();
            return;
        }
        Roles roles = catalog.orElseThrow().roles();
        Object version = roles.version();
        Optional<Access> now = accessMayChange ? changedAccess(roles) : Optional.empty();
        CatalogRecord record = new CatalogRecord(changes(roles), now, Optional.empty(), Optional.empty(), mark);
        if (!record.isEmpty()) {
            writeOwed();
            directory.orElseThrow().keep(record);
        }
        keptRoles = accessMayChange ? version : keptRoles;
        pending.clear();
        retainUnkept();
    }

    /** Roles and privileges, if those that are kept are others. */
    private Optional<Access> changedAccess(Roles roles) {
        return Optional.of(access(roles)).filter(now -> !owed.isEmpty() || !now.equals(keptAccess()));
    }

    /** The entry is accepted without which the last record does not count: it is waited for before anything else is kept. */
    public void confirmAfter(Runnable awaitsEntry) {
        awaited = Optional.of(awaitsEntry);
    }

    /**
     * The last record counts, when this returns; of no effect where that is not in doubt.
     *
     * @throws MillraceException why that cannot be waited for: it will be, then, before anything else is kept
     */
    public void confirm() {
        awaited.ifPresent(Runnable::run);
        awaited = Optional.empty();
        directory.filter(kept -> kept.doubtful().isPresent()).ifPresent(DataDirectory::confirm);
    }

    /** There will be no entry without which the last record does not count. */
    public void takeBack() {
        directory.filter(kept -> kept.doubtful().isPresent()).ifPresent(DataDirectory::takeBack);
        keptRoles = Access.NONE; // no version: they are compared with what is kept
    }

    /** A number that no relation has. */
    public long newMark() {
        return ++lastNumber;
    }

    /** What the statements so far are about to keep; what they made and took back is not. */
    private List<CatalogChange> changes(Roles roles) {
        List<CatalogChange> changes = new ArrayList<>();
        for (CatalogChange change : pending) {
            if (!(change instanceof CatalogChange.Drop drop) || isKept(drop.name(), changes)) {
                changes.add(change instanceof CatalogChange.Define define ? owned(define, roles) : change);
            }
        }
        return changes;
    }

    // ---- of one statement ------------------------------------------------------------------------------------------

    /**
     * Tries once more to write down what took effect and could not be kept, if there is anything.
     *
     * @throws MillraceException 53100 or 58030 if it cannot be kept still
     */
    public void keepOwed() {
        try {
            writeOwed();
        } finally {
            retainUnkept();
        }
    }

    private Optional<Failure> keepChanges(Statement statement, boolean done, Predicate<CatalogRecord> checkpoint) {
        Optional<Map<String, KnownLog>> logs = pendingLogs;
        pendingLogs = Optional.empty();
        if (!listening) {
            pending.clear();
            return Optional.empty();
        }
        Roles roles = catalog.orElseThrow().roles();
        List<CatalogChange> changes = changes(roles);
        pending.clear();
        if (done && statement instanceof Statement.Pause pause) {
            changes.add(new CatalogChange.Pause(pause.name(), OptionalLong.of(since.applyAsLong(""))));
        } else if (done && statement instanceof Statement.Resume resume) {
            changes.add(new CatalogChange.Pause(resume.name(), OptionalLong.empty()));
        }
        boolean accessMayChange = statement instanceof Statement.RoleStatement
                || statement instanceof RenameStatement
                || (statement instanceof Statement.Drop || !changes.isEmpty()) && roles.version() != keptRoles;
        Object version = roles.version();
        Optional<Access> now = accessMayChange ? changedAccess(roles) : Optional.empty();
        CatalogRecord record = new CatalogRecord(
                changes, now, done && isForAll(statement) ? Optional.of(settings.get()) : Optional.empty(), logs);
        if (record.isEmpty()) {
            return Optional.empty();
        }
        List<String> made = newNames(changes);
        try {
            if (checkpoint.test(record)) {
                owed.add(record);
                writeOwed();
            } else {
                writeOwed();
                directory.orElseThrow().keep(record);
            }
            keptRoles = accessMayChange ? version : keptRoles;
            return Optional.empty();
        } catch (MillraceException e) {
            boolean isOwed =
                    owed.stream().anyMatch(each -> each == record); // another may say the same: PAUSE, RESUME, PAUSE
            if (made.isEmpty() && !isOwed) {
                owed.add(record);
                keptRoles = accessMayChange ? version : keptRoles;
            }
            return Optional.of(new Failure(made, e));
        }
    }

    private Access keptAccess() {
        return directory.orElseThrow().catalog().access();
    }

    /**
     * These are all logs from now on, by their directories.
     *
     * @throws MillraceException 53100 or 58030: then nothing was kept
     */
    public void keepLogs(Map<String, KnownLog> logs) {
        writeOwed();
        directory.ifPresent(to -> to.keepLogs(logs));
    }

    /** These are all logs when the statement under way is kept. */
    void changesLogs(Map<String, KnownLog> logs) {
        pendingLogs = Optional.of(Map.copyOf(logs));
    }

    /**
     * The same as {@link #keepOwed} within a statement, which goes on.
     *
     * @throws MillraceException 53100 or 58030 if it cannot be kept still
     */
    public void writeOwed() {
        confirm();
        while (!owed.isEmpty()) {
            directory.orElseThrow().keep(owed.element());
            owed.remove();
        }
    }

    private static CatalogChange owned(CatalogChange.Define define, Roles roles) {
        KeptObject object = define.object();
        return new CatalogChange.Define(object.withOwner(roles.owner(object.name())));
    }

    /** Whether an object of this name is on disk, is going to be, or is made by the same statement. */
    private boolean isKept(String name, List<CatalogChange> changes) {
        return defines(changes, name) || isKept(name);
    }

    /** Whether an object of this name is on disk when what is owed to it is there. */
    private boolean isKept(String name) {
        boolean kept = directory.orElseThrow().catalog().object(name).isPresent();
        for (CatalogRecord record : owed) {
            for (CatalogChange change : record.changes()) {
                if (change instanceof CatalogChange.Drop drop && drop.name().equals(name)) {
                    kept = false;
                } else {
                    kept |= defines(List.of(change), name);
                }
            }
        }
        return kept;
    }

    private static boolean defines(List<CatalogChange> changes, String name) {
        return changes.stream()
                .anyMatch(change -> change instanceof CatalogChange.Define define
                        && define.object().name().equals(name));
    }

    /** If all that changed is new objects, these. */
    private List<String> newNames(List<CatalogChange> changes) {
        List<String> names = new ArrayList<>();
        for (CatalogChange change : changes) {
            boolean isNew = change instanceof CatalogChange.Define define
                    && !isKept(define.object().name());
            if (!isNew) {
                return List.of();
            }
            names.add(((CatalogChange.Define) change).object().name());
        }
        return names;
    }

    private Access access(Roles roles) {
        Map<String, String> owners = new TreeMap<>();
        roles.owners().forEach((name, owner) -> {
            if (catalog.orElseThrow().object(name).isPresent()) {
                owners.put(name, owner);
            }
        });
        return new Access(roles.definitions(), owners, roles.privilegeDefinitions(name -> Optional.empty()));
    }

    /** Whether an object is kept, which may not be there yet when a database is being opened. On any thread before it is open. */
    public boolean keeps(String name) {
        return directory.filter(kept -> kept.catalog().object(name).isPresent()).isPresent();
    }

    /** Whose object is made again now. */
    public Optional<String> restoringOwner() {
        return restoring.map(KeptObject::owner);
    }

    // ---- when a database is opened ---------------------------------------------------------------------------------

    /** What is kept but could not be made again, by name. On any thread. */
    public Map<String, NotRestored> notRestored() {
        return notRestored;
    }

    /** Whether a table is among them, whose rows nothing but the log and the checkpoint have. On any thread. */
    public boolean hasLostTables() {
        return notRestored.values().stream().anyMatch(NotRestored::hasRows);
    }

    /** Where all is kept, if it is. */
    public Optional<DataDirectory> directory() {
        return directory;
    }

    /**
     * Hears of changes from here on.
     *
     * @param everybodys settings that are everybody's, by name
     * @param from the number of the last record of the log of rows before what has a name began; of what reads no rows, the last by now
     */
    public void follow(
            DatabaseCatalog changing, Supplier<Map<String, String>> everybodys, ToLongFunction<String> from) {
        catalog = Optional.of(changing);
        settings = everybodys;
        since = from;
        changing.addListener(this);
    }

    /** Has an object made again; one that cannot be is {@link #notRestored()}. */
    public void restoring(KeptObject object, Runnable makes) {
        restoring = Optional.of(object);
        try (PlainNumeric.Binding meaning = object.numeric().bind()) {
            makes.run();
        } catch (MillraceException e) {
            notRestored.put(object.name(), new NotRestored(object.name(), object.kind(), object.sql(), e));
        } finally {
            restoring = Optional.empty();
        }
    }

    /**
     * All that is kept is there, as far as it can be: keeps changes from here on.
     *
     * @param last the last record of the log of rows
     * @throws MillraceException 53100 or 58030 if what was found could not be kept as it is
     */
    public void begin(long last) {
        keptRoles = catalog.orElseThrow().roles().version();
        directory.ifPresent(this::restoreComments);
        listening = true;
        directory.ifPresent(to -> keepAsFound(to, last));
    }

    private void restoreComments(DataDirectory from) {
        DatabaseCatalog of = catalog.orElseThrow();
        from.catalog().comments().forEach((on, text) -> {
            boolean isObject = of.object(on.name()).isPresent();
            boolean isAlways = on.equals(Commented.DATABASE)
                    || RelationNames.isSchema(on.name()) && of.isSchema(RelationNames.shown(on.name()));
            if (isObject || isAlways) {
                of.comments().put(on, Optional.of(text));
            }
        });
    }

    /**
     * What a version kept that gave no numbers has one now; and what was made behind records of rows that nobody had an answer for, and that
     * a crash took, is behind the last one that is left: the next ones have the numbers of these.
     */
    private void keepAsFound(DataDirectory to, long last) {
        List<CatalogChange> changes = new ArrayList<>();
        for (KeptObject object : to.catalog().objects()) {
            Optional<Long> given = Optional.ofNullable(numbers.get(object.name()))
                    .filter(number -> object.number().isEmpty());
            if (given.isPresent() || object.isAheadOf(last)) {
                KeptObject there = object.notAheadOf(last);
                KeptObject found = given.map(there::withNumber).orElse(there);
                changes.add(new CatalogChange.Define(found));
                if (found.paused().isPresent()) {
                    changes.add(new CatalogChange.Pause(object.name(), found.paused()));
                }
            }
        }
        if (!changes.isEmpty()) {
            to.keep(new CatalogRecord(changes, Optional.empty(), Optional.empty()));
        }
    }

    /** What unknown roles' salts are made with: kept with the directory, where there is one. */
    public ScramDecoys decoys() {
        return directory
                .map(kept -> new ScramDecoys(kept.decoysKey(ScramDecoys.KEY_BYTES)))
                .orElseGet(ScramDecoys::new);
    }

    @Override
    public void close() {
        directory.ifPresent(DataDirectory::close);
    }
}

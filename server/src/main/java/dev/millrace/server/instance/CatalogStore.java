package dev.millrace.server.instance;

import dev.millrace.error.MillraceException;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.server.role.Roles;
import dev.millrace.server.role.ScramDecoys;
import dev.millrace.server.settings.Setting;
import dev.millrace.server.storage.CatalogChange;
import dev.millrace.server.storage.CatalogRecord;
import dev.millrace.server.storage.CatalogRecord.Access;
import dev.millrace.server.storage.DataDirectory;
import dev.millrace.server.storage.DataPlace;
import dev.millrace.server.storage.KeptObject;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.sql.statement.AlterTable;
import dev.millrace.sql.statement.IndexStatement;
import dev.millrace.sql.statement.Statement;
import dev.millrace.time.Clock;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Supplier;

/**
 * Keeps definitions, roles and settings in the data directory, by which they are made again when a database is opened. Without
 * a directory it keeps nothing.
 *
 * <p>Changes are gathered while a statement makes them, and written as one record when it is done. Under the definition lock,
 * but for {@link #notRestored}.
 */
public final class CatalogStore implements AutoCloseable, DatabaseCatalog.Listener {
    private final Optional<DataDirectory> directory;
    private final Clock clock;
    private final List<CatalogChange> pending = new ArrayList<>();
    private final Map<String, NotRestored> notRestored = new ConcurrentSkipListMap<>();
    private final Map<String, Long> rowNumbers = new ConcurrentHashMap<>(); // by table
    private final Map<Long, String> tables = new ConcurrentHashMap<>(); // by those numbers
    private final Set<Long> unkept = ConcurrentHashMap.newKeySet(); // of those numbers, by the statement under way
    private long lastRowNumber;
    private Optional<DatabaseCatalog> catalog = Optional.empty();
    private Supplier<String> schedulingPolicy = () -> "";
    private Optional<KeptObject> restoring = Optional.empty();
    private boolean listening;
    private Access access = Access.NONE;

    /** An object that is kept but could not be made again, and why. */
    public record NotRestored(String name, String kind, String sql, MillraceException why) {}

    /** A change that took effect but could not be kept, and the new objects that it made. */
    public record Failure(List<String> made, MillraceException why) {}

    private CatalogStore(Optional<DataDirectory> directory, Clock clock) {
        this.directory = directory;
        this.clock = clock;
        directory.ifPresent(
                kept -> kept.catalog().objects().forEach(object -> object.rows().ifPresent(this::usedRows)));
    }

    public static CatalogStore open(Optional<DataPlace> place, Clock clock) {
        return new CatalogStore(place.map(DataDirectory::open), clock);
    }

    /** Whether a statement may change what is kept. */
    public static boolean concerns(Statement statement) {
        return statement instanceof Statement.CreateStream
                || statement instanceof Statement.CreateTable
                || statement instanceof Statement.CreateContinuousQuery
                || statement instanceof Statement.CreateMaterializedView
                || statement instanceof Statement.CreateView
                || statement instanceof Statement.CreateTableAs
                || statement instanceof Statement.CreateSink
                || statement instanceof Statement.CreateFunction
                || statement instanceof Statement.AlterQuery
                || statement instanceof AlterTable
                || statement instanceof IndexStatement
                || statement instanceof Statement.Drop
                || statement instanceof Statement.Pause
                || statement instanceof Statement.Resume
                || statement instanceof Statement.RoleStatement
                || isForAll(statement);
    }

    private static boolean isForAll(Statement statement) {
        String policy = Setting.SCHEDULING_POLICY.settingName();
        return statement instanceof Statement.SetSetting set && set.name().equalsIgnoreCase(policy)
                || statement instanceof Statement.ResetSetting reset
                        && reset.name().filter(policy::equalsIgnoreCase).isPresent();
    }

    // ---- changes ---------------------------------------------------------------------------------------------------

    @Override
    public void defined(CatalogObject object) {
        notRestored.remove(object.name());
        if (!listening) {
            return;
        }
        Optional<UserFunction> code = catalog.orElseThrow()
                .userFunction(object.name())
                .filter(function ->
                        function.kind() != UserFunction.Kind.SQL && function.kind() != UserFunction.Kind.SQL_TABLE);
        pending.add(new CatalogChange.Define(new KeptObject(
                object.name(),
                object.kind().sqlName(),
                object.definition(),
                object.createdMicros(),
                "",
                code.map(function -> UserCode.jar(function.code())),
                rowsOf(object.name()),
                false)));
    }

    @Override
    public void removed(String name) {
        forgetRows(name);
        if (listening) {
            pending.add(new CatalogChange.Drop(name));
        }
    }

    /**
     * A number for the rows that a table has from now on, by which the log of rows knows them: that of a table that is being
     * made again, else one that none had; 0 where nothing is kept.
     */
    public long newRows() {
        if (directory.isEmpty()) {
            return 0;
        }
        OptionalLong kept = restoring.map(KeptObject::rows).orElse(OptionalLong.empty());
        if (kept.isPresent()) {
            return kept.getAsLong();
        }
        if (listening) {
            unkept.add(++lastRowNumber);
        } else {
            lastRowNumber++;
        }
        return lastRowNumber;
    }

    /** The greatest number that was given so far. */
    public long newestRows() {
        return lastRowNumber;
    }

    /** The numbers of rows that tables have by what is on disk. */
    public Set<Long> keptRows() {
        Set<Long> numbers = new HashSet<>();
        directory.ifPresent(
                kept -> kept.catalog().objects().forEach(object -> object.rows().ifPresent(numbers::add)));
        return numbers;
    }

    /** Whether the statement that gave rows this number is under way, and the number not on disk. On any thread. */
    public boolean isUnkept(long number) {
        return !unkept.isEmpty() && unkept.contains(number);
    }

    /** A table has the rows of this number, from {@link #newRows}. */
    public void hasRows(String table, long number) {
        forgetRows(table);
        rowNumbers.put(table, number);
        tables.put(number, table);
    }

    private void forgetRows(String table) {
        Long before = rowNumbers.remove(table);
        if (before != null) {
            tables.remove(before);
        }
    }

    /** The number of the rows that a table has now. On any thread. */
    public OptionalLong rowsOf(String table) {
        Long number = rowNumbers.get(table);
        return number == null ? OptionalLong.empty() : OptionalLong.of(number);
    }

    /** The table that has the rows of a number; none if it was dropped or altered. On any thread. */
    public Optional<String> tableOf(long number) {
        return Optional.ofNullable(tables.get(number));
    }

    /** Numbers up to this one were given to rows that may be in the log still. */
    public void usedRows(long number) {
        lastRowNumber = Math.max(lastRowNumber, number);
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
     * @return what went wrong; then nothing was kept
     */
    public Optional<Failure> keep(Statement statement, boolean done) {
        try {
            return keepChanges(statement, done);
        } finally {
            unkept.clear();
        }
    }

    private Optional<Failure> keepChanges(Statement statement, boolean done) {
        if (!listening) {
            pending.clear();
            return Optional.empty();
        }
        Roles roles = catalog.orElseThrow().roles();
        List<CatalogChange> changes = new ArrayList<>();
        for (CatalogChange change : pending) {
            changes.add(change instanceof CatalogChange.Define define ? owned(define, roles) : change);
        }
        pending.clear();
        if (done && statement instanceof Statement.Pause pause) {
            changes.add(new CatalogChange.Pause(pause.name(), true));
        } else if (done && statement instanceof Statement.Resume resume) {
            changes.add(new CatalogChange.Pause(resume.name(), false));
        }
        boolean accessMayChange = statement instanceof Statement.RoleStatement || statement instanceof Statement.Drop;
        Optional<Access> now =
                Optional.of(access).filter(before -> accessMayChange).map(before -> access(roles));
        CatalogRecord record = new CatalogRecord(
                changes,
                now.filter(it -> !it.equals(access)),
                done && isForAll(statement) ? Optional.of(settings()) : Optional.empty());
        if (record.isEmpty()) {
            return Optional.empty();
        }
        List<String> made = newNames(changes);
        try {
            directory.orElseThrow().keep(record);
            now.ifPresent(it -> access = it);
            return Optional.empty();
        } catch (MillraceException e) {
            return Optional.of(new Failure(made, e));
        }
    }

    private static CatalogChange owned(CatalogChange.Define define, Roles roles) {
        KeptObject object = define.object();
        return new CatalogChange.Define(new KeptObject(
                object.name(),
                object.kind(),
                object.sql(),
                object.createdMicros(),
                roles.owner(object.name()),
                object.jar(),
                object.rows(),
                false));
    }

    /** If all that changed is new objects, these. */
    private List<String> newNames(List<CatalogChange> changes) {
        List<String> names = new ArrayList<>();
        for (CatalogChange change : changes) {
            boolean isNew = change instanceof CatalogChange.Define define
                    && directory
                            .orElseThrow()
                            .catalog()
                            .object(define.object().name())
                            .isEmpty();
            if (!isNew) {
                return List.of();
            }
            names.add(((CatalogChange.Define) change).object().name());
        }
        return names;
    }

    private Access access(Roles roles) {
        Map<String, String> owners = new TreeMap<>();
        for (CatalogObject object : catalog.orElseThrow().objects()) {
            String owner = roles.owner(object.name());
            if (!owner.equals(Roles.OWNER)) {
                owners.put(object.name(), owner);
            }
        }
        return new Access(roles.definitions(), owners, roles.privilegeDefinitions(name -> Optional.empty()));
    }

    private Map<String, String> settings() {
        return Map.of(Setting.SCHEDULING_POLICY.settingName(), schedulingPolicy.get());
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

    /** Whether a table with rows is among them. On any thread. */
    public boolean hasLostTables() {
        return !notRestored.isEmpty()
                && directory.isPresent()
                && notRestored.keySet().stream()
                        .anyMatch(name -> directory.get().catalog().object(name).stream()
                                .anyMatch(object -> object.rows().isPresent()));
    }

    /** Where all is kept, if it is. */
    public Optional<DataDirectory> directory() {
        return directory;
    }

    /** Hears of changes from here on. @param policy the scheduling policy that holds */
    public void follow(DatabaseCatalog changing, Supplier<String> policy) {
        catalog = Optional.of(changing);
        schedulingPolicy = policy;
        changing.addListener(this);
    }

    /** Has an object made again; one that cannot be is {@link #notRestored()}. */
    public void restoring(KeptObject object, Runnable makes) {
        restoring = Optional.of(object);
        try {
            makes.run();
        } catch (MillraceException e) {
            notRestored.put(object.name(), new NotRestored(object.name(), object.kind(), object.sql(), e));
        } finally {
            restoring = Optional.empty();
        }
    }

    /** All that is kept is there, as far as it can be: keeps changes from here on. */
    public void begin() {
        access = access(catalog.orElseThrow().roles());
        listening = true;
        directory.ifPresent(this::keepNewNumbers);
    }

    /** Tables of a version that kept no rows have numbers now, under which rows will be logged. */
    private void keepNewNumbers(DataDirectory to) {
        List<CatalogChange> numbered = new ArrayList<>();
        for (KeptObject object : to.catalog().objects()) {
            Long number = rowNumbers.get(object.name());
            if (number != null && object.rows().isEmpty()) {
                numbered.add(new CatalogChange.Define(object.withRows(number)));
                if (object.paused()) {
                    numbered.add(new CatalogChange.Pause(object.name(), true));
                }
            }
        }
        if (!numbered.isEmpty()) {
            to.keep(new CatalogRecord(numbered, Optional.empty(), Optional.empty()));
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

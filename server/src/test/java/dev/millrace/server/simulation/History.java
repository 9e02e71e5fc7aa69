package dev.millrace.server.simulation;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.engine.runtime.SteppedEngine;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.memory.Memory;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.server.session.Database;
import dev.millrace.server.session.InsideDatabase;
import dev.millrace.server.session.Session;
import dev.millrace.storage.simulation.DiskFault;
import dev.millrace.storage.simulation.SimulatedCrash;
import dev.millrace.storage.simulation.SimulatedDisk;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.zip.CRC32C;

/**
 * One simulated life of a database, by a script: sessions define, write, read and subscribe, the disk is slow, fails and is full, the
 * process or the machine ends at any call of the disk, and the database is opened again. All that is read is compared with a model.
 *
 * <pre>
 *   running --a step--> running                     what is answered is in the model, as a whole
 *      |                    |
 *      | orderly            | a call of the disk ends the process, or the machine
 *      v                    v
 *    closed -----------> opening --fails, is killed--> opening
 *                           |
 *                           +--> all that is there is what the model had after some change from the last answered one on
 * </pre>
 *
 * <p>All on the calling thread. An {@link AssertionError} says what is not as it should be.
 *
 * <p>Long because it is all that can happen in a life.
 */
final class History {
    private static final int SESSIONS = 3;
    private static final int MOST_SUBSCRIBERS = 2;
    private static final int MOST_OPENINGS = 40;
    private static final int MOST_ROUNDS = 50;
    private static final int RETENTION_MILLIS = 61_000; // after which rows of streams are written to segments
    private static final long RETRY_MILLIS =
            5_000; // after which at the latest a disk that could not be read is read again
    private static final long HEAL_MILLIS = 5_000;
    private static final List<String> OLD = List.of( // version 3 does not say of how many workers its plans are
            "2-closed",
            "2-killed",
            "4-closed",
            "4-killed",
            "5-closed",
            "5-killed",
            "6-closed",
            "6-killed",
            "7-closed",
            "7-killed",
            "8-closed",
            "8-killed");
    private static final int OLD_ONE_IN = 8; // histories begins with a directory of an earlier version
    private static final int ORACLE_ONE_IN = 8; // is compared with DuckDB
    private static final Set<String> DISK = Set.of("53100", "58030");
    private static final Set<String> REFUSED = Set.of("2BP01", "55006", "0A000", "40001");
    private static final Set<String> NOT_YET = Set.of("55000", "42P16");
    private static final String LIMIT = "spill_limit";
    private static final String DEAD = "dead";
    private static final String DONE = "done";

    private final long seed;
    private final Consumer<String> out;
    private final CRC32C trace = new CRC32C();
    private final HistoryModel model = new HistoryModel();
    private final RandomHistoryChanges changes = new RandomHistoryChanges(model);
    private final RandomDefinitions definitions = new RandomDefinitions(model);
    private final SimulatedClock clock = new SimulatedClock(this::late);
    private final Map<String, Integer> seen = new TreeMap<>();
    private final List<Client> clients = new ArrayList<>();
    private final List<Subscriber> subscribers = new ArrayList<>();
    private final Map<Integer, DurableClient> readers = new TreeMap<>(); // by the numbers of their subscriptions
    private final PrintedLines printed = new PrintedLines();
    private final ModelRegisters secrets = new ModelRegisters();
    private final ModelRegisters settings = new ModelRegisters();
    private final Optional<OldDirectory> old;
    private SimulatedDisk disk;
    private int readErrors; // of the disk, when it was looked at last
    private SimulatedPlace place;
    private Database database;
    private Optional<Session> cancellable =
            Optional.empty(); // the statement under way, if its client may lose patience
    private final Set<Integer> owed = new HashSet<>(); // of tables' rows whose definition may not be on disk
    private String lastError = "";
    private int openings;

    /** A client and its transaction. */
    private static final class Client {
        final Session session;
        boolean isAsynchronous;
        Optional<ModelChange> transaction = Optional.empty();
        boolean isAborted;

        Client(Session session) {
            this.session = session;
        }
    }

    /** Who hears of each change of an answer; what it would take the answer to be by what it heard. */
    private record Subscriber(
            String view,
            Session session,
            StatementResults results,
            StatementResult.Changes changes,
            Map<String, Integer> rows) {
        void close() {
            results.close();
            session.close();
        }
    }

    /** @param out told what happens, line by line */
    History(long seed, Consumer<String> out) {
        this.seed = seed;
        this.out = out;
        disk = new SimulatedDisk(seed);
        Random random = new Random(seed * 0x9E3779B97F4A7C15L); // else those of seeds that are near begin alike
        old = random.nextInt(OLD_ONE_IN) == 0
                ? Optional.of(OldDirectory.named(OLD.get(random.nextInt(OLD.size()))))
                : Optional.empty();
        old.ifPresent(directory -> directory.putOnto(disk));
        disk.setSlowness(clock::advanceMillis);
    }

    /** Lives through a script. */
    void run(List<HistoryStep> script) {
        try {
            open(new Random(seed));
            for (HistoryStep step : script) {
                try {
                    run(step.kind(), new Random(step.seed()));
                } catch (SimulatedCrash | MillraceException e) {
                    if (!disk.isDead()) {
                        throw e;
                    }
                    tell("the process ended in " + step.kind());
                }
                if (disk.isDead()) {
                    died(new Random(step.seed() + 1));
                }
            }
            heal();
            endTransactions();
            checkAll();
            restart();
            open(new Random(seed + 1));
        } finally {
            close();
        }
    }

    /** A checksum of all that was asked, answered and written. */
    long traceChecksum() {
        return trace.getValue() ^ disk.writtenChecksum() << Integer.SIZE;
    }

    Map<DiskFault, Integer> faults() {
        return disk.happened();
    }

    /** How often what happened that is not the disk's doing. */
    Map<String, Integer> seen() {
        return seen;
    }

    private void count(String what) {
        seen.merge(what, 1, Integer::sum);
    }

    private void tell(String line) {
        trace.update((line + "\n").getBytes(StandardCharsets.UTF_8));
        out.accept(line);
    }

    private void run(HistoryStep.Kind kind, Random random) {
        switch (kind) {
            case CHANGE -> change(random);
            case BEGIN -> begin(random);
            case END -> end(clients.get(random.nextInt(SESSIONS)), random.nextInt(4) > 0, random);
            case DEFINE -> define(random);
            case SELECT -> select(random, false);
            case FLUSHED_SELECT -> select(random, true);
            case CHECKPOINT -> checkpoint(random);
            case SUBSCRIBE -> subscribe(random);
            case RECEIVE -> receive();
            case DURABLE -> durable(random);
            case PAUSE -> pause(random);
            case LEAVE_OUT -> leaveOut(random);
            case RETENTION -> maintainRetention(random);
            case REPROCESS -> reprocess(random);
            case SECRET -> secret(random);
            case SYSTEM -> system(random);
            case ASYNCHRONOUS -> asynchronous(random);
            case WORK -> work(random);
            case TIME -> clock.advanceMillis(random.nextInt(20_000));
            case WEATHER -> weather(random);
            case CAPACITY -> disk.setCapacity(disk.usedBytes() + random.nextInt(40_000));
            case CALM -> heal();
            case KILL_SOON -> disk.killIn(random.nextInt(60));
            case KILL -> disk.kill();
            case CRASH -> {
                disk = disk.crash();
                count("crash");
                abandon();
                open(random);
            }
            case RESTART -> {
                restart();
                open(random);
            }
        }
    }

    // ---- the disk --------------------------------------------------------------------------------------------------

    private void weather(Random random) {
        SimulatedDisk.Chances chances = disk.chances();
        chances.writeErrorOneIn = random.nextBoolean() ? 0 : 1 + random.nextInt(40);
        chances.forceErrorOneIn = random.nextBoolean() ? 0 : 1 + random.nextInt(40);
        chances.fullOneIn = random.nextBoolean() ? 0 : 1 + random.nextInt(20);
        chances.slowForceOneIn = random.nextBoolean() ? 0 : 1 + random.nextInt(10);
        chances.stallOneIn = random.nextBoolean() ? 0 : 1 + random.nextInt(20);
        chances.killAfterRenameOneIn = random.nextInt(4) > 0 ? 0 : 1 + random.nextInt(4);
        chances.readErrorOneIn = random.nextInt(3) > 0 ? 0 : 1 + random.nextInt(20);
    }

    private void heal() {
        disk.calm();
        disk.setCapacity(Long.MAX_VALUE);
    }

    /** Somebody waits for long: a client gives up, or somebody looks after the disk. */
    private void late() {
        if (cancellable.isPresent()) {
            cancellable.get().cancel();
            cancellable = Optional.empty();
            clock.alarmIn(HEAL_MILLIS);
        } else {
            heal();
            count("healed");
        }
    }

    /** The process has ended by a call of the disk. */
    private void died(Random random) {
        abandon();
        if (random.nextInt(3) == 0) {
            disk.revive();
            count("process killed");
        } else {
            disk = disk.crash();
            count("machine stopped");
        }
        open(random);
    }

    /** What is left of a process that has ended, of which nothing reaches the disk. */
    private void abandon() {
        clock.noAlarm();
        clients.clear();
        subscribers.clear();
        if (database != null && InsideDatabase.isReadingThePast(database)) {
            count("crash while the past was read");
        }
        Database dead = database;
        database = null;
        if (dead != null) {
            try {
                dead.close();
            } catch (RuntimeException | Error e) {
                count("closed dead");
            }
        }
    }

    private void restart() {
        clients.forEach(client -> client.session.close());
        clients.clear();
        closeSubscribers();
        Database closing = database;
        database = null;
        try {
            closing.close();
            if (!disk.isDead()) {
                model.allIsDurable();
            }
            count("closed");
        } catch (MillraceException e) {
            expect(DISK.contains(e.sqlState().code()), "close: " + e);
            count("close failed");
        } catch (SimulatedCrash e) {
            count("closed dead");
        }
        expect(disk.isDead() || !place.isTaken(), "the directory is still taken");
        if (disk.isDead()) {
            disk.revive();
        }
    }

    private void closeSubscribers() {
        subscribers.forEach(Subscriber::close);
        subscribers.clear();
    }

    private void close() {
        disk.calm();
        if (database != null) {
            try {
                clients.forEach(client -> client.session.close());
                closeSubscribers();
                database.close();
            } catch (RuntimeException | Error e) {
                count("closed dead");
            }
            database = null;
        }
    }

    // ---- opening ---------------------------------------------------------------------------------------------------

    private void open(Random random) {
        for (int tries = 0; ; tries++) {
            expect(tries < MOST_OPENINGS, "it does not open");
            if (tries > 2) {
                heal();
            } else if (random.nextInt(4) == 0) {
                disk.killIn(random.nextInt(60));
            }
            try {
                database = opened();
                if (!disk.isDead()) {
                    requireWhole();
                    break;
                }
            } catch (MillraceException e) {
                String code = e.sqlState().code();
                tell("opening: " + code + " " + e.getMessage());
                expect(disk.isDead() || DISK.contains(code), "opening: " + e);
                count("could not open");
            } catch (SimulatedCrash e) {
                count("killed while opening");
            }
            if (disk.isDead()) {
                abandon();
                if (random.nextInt(3) == 0) {
                    disk.revive();
                } else {
                    disk = disk.crash();
                }
            } else {
                expect(!place.isTaken(), "the directory is taken by who could not open it");
            }
        }
        disk.killIn(-1);
        heal();
        for (int i = 0; i < SESSIONS; i++) {
            Session session = database.session();
            session.execute("SET lock_timeout = '1ms'").drain();
            clients.add(new Client(session));
        }
        recognise();
        definitions.opened(openings);
        checkOutside();
        checkRegisters();
        old.ifPresent(this::checkOld);
    }

    /** What was there before this version is as it was. */
    private void checkOld(OldDirectory directory) {
        directory.answers().forEach((query, expected) -> {
            List<String> found = OldDirectory.lines(rows(query));
            expect(
                    found.equals(expected),
                    directory.name() + ": " + query + ": " + found + " and not " + expected + "; "
                            + rows("SELECT * FROM millrace.recovery"));
        });
        count("directory of an earlier version");
    }

    private void requireWhole() {
        List<String> lost = database.notRestored().stream()
                .filter(line -> old.isEmpty() || !OldDirectory.needsJar(line))
                .toList();
        expect(lost.isEmpty(), "not restored: " + lost);
    }

    private Database opened() {
        place = new SimulatedPlace(disk);
        return SimulatedHost.open(place, clock, seed * 31 + openings++, printed.stream());
    }

    /** What is there is what the model had after some change, and some statement without an answer or none. */
    private void recognise() {
        flush();
        List<String> differences = new ArrayList<>();
        for (Map<String, ModelObject> catalog : model.catalogsAfterRestart()) {
            if (!isDefined(catalog)) {
                continue;
            }
            List<Map<Integer, List<ModelRow>>> states = model.statesAfterRestart();
            for (int lost = 0; lost < states.size(); lost++) {
                Map<Integer, List<ModelRow>> state = states.get(states.size() - 1 - lost);
                String difference = difference(catalog, state);
                if (difference.isEmpty()) {
                    if (lost > 0) {
                        count("changes without an answer gone");
                    }
                    Set<Integer> unknown = unknownStreams(catalog, state, states.subList(0, states.size() - 1 - lost));
                    model.reopened(catalog, state);
                    dropStreams(unknown);
                    tell("opened; " + lost + " changes without an answer are gone; " + catalog.size() + " objects");
                    count("recognised");
                    return;
                }
                differences.add(difference);
            }
        }
        throw new AssertionError("after opening, of "
                + model.catalogsAfterRestart().stream().map(Map::keySet).toList() + " there are " + there() + ", and "
                + differences);
    }

    /** Streams of which no answer tells now which rows they have: another state would look the same. */
    private Set<Integer> unknownStreams(
            Map<String, ModelObject> catalog,
            Map<Integer, List<ModelRow>> state,
            List<Map<Integer, List<ModelRow>>> others) {
        Set<Integer> unknown = new HashSet<>();
        for (Map<Integer, List<ModelRow>> other : others) {
            if (difference(catalog, other).isEmpty()) {
                for (ModelObject object : catalog.values()) {
                    if (object instanceof ModelObject.Stream stream
                            && !other.getOrDefault(stream.rows(), List.of())
                                    .equals(state.getOrDefault(stream.rows(), List.of()))) {
                        unknown.add(stream.rows());
                    }
                }
            }
        }
        return unknown;
    }

    private void dropStreams(Set<Integer> rows) {
        for (ModelObject.Stream stream : model.all(ModelObject.Stream.class)) {
            if (rows.contains(stream.rows())) {
                try (Session session = database.session()) {
                    session.execute("DROP STREAM " + stream.name() + " CASCADE").drain();
                }
                model.define(model.without(stream.name()));
                tell("dropped " + stream.name() + ", whose rows are not known");
                count("stream of unknown rows");
            }
        }
    }

    private List<String> there() {
        return model.catalogsAfterRestart().stream()
                .flatMap(catalog -> catalog.values().stream())
                .filter(this::isDefined)
                .map(ModelObject::name)
                .distinct()
                .toList();
    }

    /** Whether just this is defined, of all that may be. */
    private boolean isDefined(Map<String, ModelObject> catalog) {
        return catalog.values().stream().allMatch(this::isDefined)
                && catalog.keySet().containsAll(there());
    }

    private boolean isDefined(ModelObject object) {
        if (object instanceof ModelObject.Index) {
            return database.catalog().index(object.name()).isPresent();
        } else if (object instanceof ModelObject.Durable durable) {
            String isGood =
                    " WHERE state = 'active' OR query IN (SELECT query FROM millrace.query_stats WHERE state = 'failed')";
            return rows("SELECT name, query FROM millrace.subscriptions" + isGood)
                    .contains(durable.name() + "|" + durable.view());
        }
        Optional<CatalogObject> found = database.catalog().object(object.name());
        if (object instanceof ModelObject.Table table) {
            List<String> columns = new ArrayList<>(List.of("k", "v"));
            columns.addAll(table.added());
            return found.filter(it -> it.schema().names().equals(columns)
                            && it.primaryKey().isEmpty() != table.isKeyed())
                    .isPresent();
        } else if (object instanceof ModelObject.Stream stream) { // another of its name may be in its place
            return found.filter(it -> String.join(", ", it.schema().names()).equals(stream.columns()))
                    .filter(it -> String.join("", rows("SHOW CREATE STREAM " + stream.name()))
                                    .contains("retention")
                            == stream.isRetained())
                    .isPresent();
        } else if (object instanceof ModelObject.Derived derived) {
            return found.filter(it -> it.definition().contains(derived.sql())).isPresent();
        } else if (object instanceof ModelObject.View view) {
            boolean isPaused = database.state(view.name()).equals(Optional.of(QueryState.PAUSED));
            return found.filter(it -> it.definition().contains(view.shape().sql(view.inputs(), view.number())))
                            .isPresent()
                    && (!view.isMaterialized() || isPaused == view.isPaused());
        }
        return found.isPresent();
    }

    /** What of tables and views is not as it should be if relations have these rows; nothing if all is. */
    private String difference(Map<String, ModelObject> catalog, Map<Integer, List<ModelRow>> rows) {
        HistoryModel as = model.as(catalog, rows);
        for (String name : as.catalog().keySet()) {
            if (as.isShown(name)) {
                List<String> wanted = ModelRow.texts(as.answer(name));
                List<String> found;
                try {
                    found = rows(as.query(name));
                } catch (MillraceException e) {
                    return name + ": " + e;
                }
                if (as.catalog().get(name) instanceof ModelObject.Derived && !wanted.isEmpty()) {
                    count("rows of a derived stream compared");
                }
                if (InsideDatabase.isShared(database, name)) {
                    count("view that shares what runs it, " + (wanted.isEmpty() ? "without rows" : "with rows"));
                }
                if (!wanted.equals(found)) {
                    return name + " has " + found + " and not " + wanted;
                }
            } else if (as.catalog().get(name) instanceof ModelObject.View view
                    && as.isStopped(view)
                    && !database.state(name).equals(Optional.of(QueryState.FAILED))) {
                return name + " goes on though a row failed";
            }
        }
        return "";
    }

    // ---- statements ------------------------------------------------------------------------------------------------

    private List<String> rows(String sql) {
        try (Session session = database.session()) {
            return rows(session, sql);
        }
    }

    /** The rows of an answer as text, sorted. */
    static List<String> rows(Session session, String sql) {
        try (StatementResults results = session.execute(sql)) {
            List<String> rows = new ArrayList<>();
            ((StatementResult.Rows) results.next()).forEach(batch -> {
                for (int row = 0; row < batch.rowCount(); row++) {
                    rows.add(text(batch, row));
                }
            });
            Collections.sort(rows);
            return rows;
        }
    }

    static String text(Batch batch, int row) {
        return String.join(
                "|",
                IntStream.range(0, batch.columnCount())
                        .mapToObj(column -> ValueText.format(batch, column, row).orElse(""))
                        .toList());
    }

    /** All that was accepted is on disk, and in all answers. */
    private void flush() {
        clock.alarmIn(HEAL_MILLIS);
        try (Session session = database.session()) {
            session.flush();
            if (old.isPresent() || mayKeepRows()) {
                catchUp(); // what begins in the past of a stream reads it when it is on disk, and nobody waits for that
                session.flush();
            }
        }
        clock.noAlarm();
        requireLife();
    }

    /** Whether a stream is there that keeps its rows, or may be. */
    private boolean mayKeepRows() {
        return model.catalogsAfterRestart().stream()
                .flatMap(catalog -> catalog.values().stream())
                .anyMatch(object -> object instanceof ModelObject.Stream stream && stream.isRetained());
    }

    /** Until nobody reads a past any more; from half of the rounds on the disk can be read. */
    private void catchUp() {
        SteppedEngine engine = (SteppedEngine) database.engine();
        for (int round = 0; round < MOST_ROUNDS && !disk.isDead(); round++) {
            engine.runUntilIdle();
            int errors = disk.happened().getOrDefault(DiskFault.READ_ERROR, 0);
            boolean mayWait = errors != readErrors || round == MOST_ROUNDS / 2;
            readErrors = errors;
            if (round == MOST_ROUNDS / 2) {
                disk.chances().readErrorOneIn = 0;
            }
            clock.advanceMillis(mayWait ? RETRY_MILLIS : 10);
        }
    }

    /** What a process said after it had ended counts for nothing. */
    private void requireLife() {
        if (disk.isDead()) {
            throw new SimulatedCrash();
        }
    }

    /** Executes a statement; how it ended: {@link #DONE}, {@link #DEAD} or the SQLSTATE of its error. */
    private String execute(Session session, String sql, Optional<String> input, boolean mayBeCancelled, Random random) {
        cancellable = mayBeCancelled && random.nextInt(3) == 0 ? Optional.of(session) : Optional.empty();
        clock.alarmIn(10 + random.nextInt(random.nextBoolean() ? 300 : 60_000));
        String outcome;
        String why = "";
        try (StatementResults results = session.execute(sql)) {
            while (results.hasNext()) {
                StatementResult result = results.next();
                if (result instanceof StatementResult.CopyIn copy) {
                    copy(session, copy, input.orElseThrow());
                } else if (result instanceof StatementResult.Rows rows) {
                    rows.forEach(batch -> {});
                }
            }
            outcome = DONE;
        } catch (MillraceException e) {
            outcome = e.sqlState().code();
            why = " " + e.getMessage();
        } catch (SimulatedCrash e) {
            outcome = DEAD;
        } finally {
            cancellable = Optional.empty();
            clock.noAlarm();
        }
        outcome = disk.isDead() ? DEAD : outcome;
        lastError = why;
        tell(clientOf(session) + sql
                + input.map(text -> " <- " + text.replace("\n", " ")).orElse("") + " => " + outcome + why);
        count(sql.substring(0, sql.indexOf(' ') < 0 ? sql.length() : sql.indexOf(' ')) + " " + outcome);
        return outcome;
    }

    private String clientOf(Session session) {
        int client = 0;
        while (clients.get(client).session != session) {
            client++;
        }
        return client + (clients.get(client).isAsynchronous ? " (asynchronous): " : ": ");
    }

    private static void copy(Session session, StatementResult.CopyIn copy, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        long address = Memory.allocate(bytes.length);
        try (copy) {
            Memory.copyIn(bytes, 0, address, bytes.length);
            session.goOn(() -> {
                copy.write(address, bytes.length);
                return copy.finish();
            });
        } catch (MillraceException e) {
            session.fail();
            throw e;
        } finally {
            Memory.free(address);
            session.endStatement();
        }
    }

    private void expect(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }

    private boolean anyTransaction() {
        return clients.stream().anyMatch(client -> client.transaction.isPresent());
    }

    private void change(Random random) {
        Client client = clients.get(random.nextInt(SESSIONS));
        if (client.isAborted) {
            return;
        }
        Optional<HistoryStatement> next = changes.next(random, client.transaction);
        if (next.isEmpty()) {
            return;
        }
        HistoryStatement statement = next.get();
        boolean mayBeCancelled = client.transaction.isEmpty() && concernsTables(statement.change());
        String outcome = execute(client.session, statement.sql(), statement.input(), mayBeCancelled, random);
        if (client.transaction.isPresent() && !outcome.equals(DEAD)) {
            if (outcome.equals(DONE)) {
                expect(statement.error().isEmpty(), statement.sql() + " must fail with " + statement.error());
                client.transaction = Optional.of(client.transaction.get().then(statement.change()));
            } else {
                expect(isAllowed(outcome, statement), statement.sql() + " failed with " + outcome);
                client.isAborted = true;
            }
            return;
        }
        ended(outcome, statement, client.transaction.isPresent() ? ModelChange.NOTHING : statement.change(), client);
    }

    private boolean concernsTables(ModelChange change) {
        return change.of().keySet().stream()
                .allMatch(number ->
                        model.all(ModelObject.Table.class).stream().anyMatch(table -> table.rows() == number));
    }

    private boolean isAllowed(String outcome, HistoryStatement statement) {
        return statement.error().filter(outcome::equals).isPresent()
                || DISK.contains(outcome)
                || outcome.equals("55P03") && anyTransaction();
    }

    /** What a statement that takes effect at once has changed. */
    private void ended(String outcome, HistoryStatement statement, ModelChange change, Client client) {
        switch (outcome) {
            case DONE -> {
                expect(statement.error().isEmpty(), statement.sql() + " must fail with " + statement.error());
                model.accept(change);
                model.tell(change);
                if (!client.isAsynchronous && model.isWrittenDown(change)) {
                    model.allIsDurable();
                    if (change.of().keySet().stream().anyMatch(owed::contains)) {
                        model.define(model.catalog()); // rows are there with the definition that they need
                        owed.clear();
                    }
                }
            }
            case DEAD -> model.accept(change);
            case "57014" -> resolve(change);
            default -> {
                expect(isAllowed(outcome, statement), statement.sql() + " failed with " + outcome);
                if (lastError.contains("catalog.log")) {
                    model.accept(change); // written down, but for a definition that it needs
                    count("change whose definition is not on disk");
                }
            }
        }
    }

    /** Whether a change took effect of which its client was not told: all of it or nothing. */
    private void resolve(ModelChange change) {
        heal();
        flush();
        model.allIsShown();
        if (difference(model.catalog(), model.now()).isEmpty()) {
            tell("it was not accepted");
            return;
        }
        model.accept(change);
        model.allIsShown();
        String difference = difference(model.catalog(), model.now());
        expect(difference.isEmpty(), "neither with nor without what was cancelled: " + difference);
        tell("it was accepted");
        count("accepted though cancelled");
    }

    private void begin(Random random) {
        Client client = clients.get(random.nextInt(SESSIONS));
        if (client.transaction.isEmpty()) {
            execute(client.session, "BEGIN", Optional.empty(), false, random);
            client.transaction = Optional.of(ModelChange.NOTHING);
        }
    }

    private void end(Client client, boolean commits, Random random) {
        if (client.transaction.isEmpty()) {
            return;
        }
        ModelChange change = commits && !client.isAborted ? client.transaction.get() : ModelChange.NOTHING;
        client.transaction = Optional.empty();
        client.isAborted = false;
        String sql = commits ? "COMMIT" : "ROLLBACK";
        String outcome = execute(client.session, sql, Optional.empty(), commits && concernsTables(change), random);
        ended(outcome, HistoryStatement.change(sql, change), change, client);
        if (change.of().size() > 1) {
            count("transaction over several relations " + outcome);
        }
    }

    private void endTransactions() {
        clients.forEach(client -> end(client, true, new Random(seed)));
    }

    private void define(Random random) {
        if (random.nextInt(3) == 0) {
            flush();
            model.allIsShown();
            checkLateRows();
        }
        Set<Integer> held = new HashSet<>();
        clients.forEach(client ->
                client.transaction.ifPresent(change -> held.addAll(change.of().keySet())));
        definitions.next(random, held).ifPresent(statement -> define(statement, random));
    }

    private void define(HistoryStatement statement, Random random) {
        Client client = clients.get(random.nextInt(SESSIONS));
        if (client.transaction.isPresent()) {
            return;
        }
        String outcome = execute(client.session, statement.sql(), Optional.empty(), false, random);
        Map<String, ModelObject> after = statement.catalog().orElseThrow();
        if (outcome.equals(DONE)) {
            model.accept(statement.change());
            if (!statement.change().of().isEmpty()) {
                model.allIsDurable();
            }
            List<Map<String, ModelObject>> possible = model.possibleCatalogs();
            Map<String, ModelObject> before = model.catalog();
            model.define(after);
            if (statement.sql().contains(" SUBSCRIPTION ")) { // which need not be written where other definitions are
                possible.forEach(other -> model.mayDefine(changed(other, before, after)));
            }
            closeSubscribersOfNothing();
        } else if (outcome.equals(DEAD)) {
            model.accept(statement.change());
            model.mayDefine(after);
        } else if (DISK.contains(outcome) && statement.sql().startsWith("DROP") && isDefined(model.catalog())) {
            count("DROP refused before it began");
        } else if (DISK.contains(outcome) && isInEffect(statement.sql())) {
            model.accept(statement.change());
            inEffect(after);
        } else if (DISK.contains(outcome) && lastError.contains("catalog.log")) {
            model.accept(statement.change()); // of something that may be there after a crash, and is not now
            model.mayDefine(after);
        } else {
            expect(DISK.contains(outcome) || REFUSED.contains(outcome), statement.sql() + " failed with " + outcome);
        }
    }

    /** What becomes of a catalog by what made one of another. */
    private static Map<String, ModelObject> changed(
            Map<String, ModelObject> other, Map<String, ModelObject> before, Map<String, ModelObject> after) {
        Map<String, ModelObject> changed = new LinkedHashMap<>(other);
        changed.keySet().removeIf(name -> before.containsKey(name) && !after.containsKey(name));
        after.forEach((name, object) -> {
            if (!before.containsKey(name)) {
                changed.put(name, object);
            }
        });
        return changed;
    }

    /** Whether a statement that failed by the disk came as far as writing down what it had changed. */
    private boolean isInEffect(String sql) {
        return !sql.startsWith("CREATE")
                && !sql.startsWith("REPROCESS")
                && !sql.startsWith("DROP SUBSCRIPTION")
                && lastError.contains("catalog.log");
    }

    /** What changes definitions that are there is in effect when it cannot be written down, and is written when that works. */
    private void inEffect(Map<String, ModelObject> after) {
        Map<String, ModelObject> before = model.catalog();
        List<Map<String, ModelObject>> possible = model.possibleCatalogs();
        model.define(after);
        possible.forEach(model::mayDefine);
        model.mayDefine(before);
        closeSubscribersOfNothing();
        model.all(ModelObject.Table.class).forEach(table -> {
            if (!before.containsValue(table)) {
                owed.add(table.rows());
            }
        });
        count("definition in effect and not on disk");
    }

    private void closeSubscribersOfNothing() {
        subscribers.removeIf(subscriber -> {
            boolean isGone = !model.catalog().containsKey(subscriber.view);
            if (isGone) {
                subscriber.close();
            }
            return isGone;
        });
    }

    private void select(Random random, boolean flushed) {
        List<String> shown = model.catalog().keySet().stream()
                .filter(model::isShown)
                .filter(name -> flushed
                        || !(model.catalog().get(name) instanceof ModelObject.View
                                || model.catalog().get(name) instanceof ModelObject.Derived))
                .toList();
        Client client = clients.get(random.nextInt(SESSIONS));
        if (shown.isEmpty() || client.transaction.isPresent()) {
            return;
        }
        if (flushed) {
            flush();
            model.allIsShown();
            checkLateRows();
        }
        String name = shown.get(random.nextInt(shown.size()));
        Optional<ModelObject.Table> table = model.table(name);
        Optional<Long> key =
                table.isPresent() && random.nextBoolean() ? Optional.of(changes.anyKey(random)) : Optional.empty();
        String query =
                model.query(name) + key.map(value -> " WHERE k = " + value).orElse("");
        boolean mayFail = InsideDatabase.isRefusingRows(database);
        clock.alarmIn(HEAL_MILLIS);
        List<String> found;
        try {
            found = rows(client.session, query);
        } catch (MillraceException e) {
            boolean isPast = model.catalog().get(name) instanceof ModelObject.Stream
                    || model.catalog().get(name) instanceof ModelObject.Derived;
            expect(disk.isDead() || isPast && DISK.contains(e.sqlState().code()), query + ": " + e);
            clock.noAlarm();
            requireLife();
            return;
        }
        clock.noAlarm();
        requireLife();
        tell(query + " => " + found);
        if (model.catalog().get(name) instanceof ModelObject.Stream) {
            count("past of a stream read");
        }
        if (model.catalog().get(name) instanceof ModelObject.Derived) {
            count(found.isEmpty() ? "derived stream without a row read" : "derived stream read");
        }
        mayFail |= InsideDatabase.isRefusingRows(database);
        int first = mayFail ? 0 : table.map(model::firstSeen).orElse(0);
        if (first > 0) {
            count("table read that somebody was told of");
        }
        List<Map<Integer, List<ModelRow>>> states = model.states();
        for (int state = first; state < states.size(); state++) {
            HistoryModel as = model.as(model.catalog(), states.get(state));
            List<ModelRow> rows = as.answer(name).stream()
                    .filter(row -> key.isEmpty() || row.key() == key.get())
                    .toList();
            if (ModelRow.texts(rows).equals(found)) {
                model.seen(state);
                return;
            }
        }
        throw new AssertionError(
                query + " gives " + found + " and " + name + " has " + ModelRow.texts(model.answer(name)));
    }

    private void checkAll() {
        flush();
        model.allIsShown();
        String difference = difference(model.catalog(), model.now());
        expect(difference.isEmpty(), difference);
        checkOutside();
        checkLateRows();
        if (seed % ORACLE_ONE_IN == 0) {
            checkByOracle();
        }
        List.copyOf(subscribers).forEach(this::receive);
        model.all(ModelObject.Durable.class).forEach(subscription -> read(subscription, false, true));
    }

    /** Sinks have written each row of their stream, some again after a crash. */
    private void checkOutside() {
        for (ModelObject.Sink sink : model.all(ModelObject.Sink.class)) {
            List<ModelRow> all = model.answer(sink.stream());
            Map<String, Integer> wanted = new TreeMap<>();
            all.subList(Math.min(sink.since(), all.size()), all.size())
                    .forEach(row -> wanted.merge(sink.prefix() + row.key() + "," + row.value(), 1, Integer::sum));
            wanted.forEach((line, times) -> {
                int found = printed.times(line);
                expect(found >= times, "'" + line + "' was printed " + found + " times and not " + times);
                count(found > times ? "row printed again" : "row printed");
            });
        }
    }

    /** What came too late for windows is counted; by each process, of what it saw. */
    private void checkLateRows() {
        for (ModelObject.View view : model.all(ModelObject.View.class)) {
            if (view.shape().hasLateRows() && view.bornIn() == openings && !view.isPaused()) {
                String found = rows("SELECT late_rows FROM millrace.query_stats WHERE query = '" + view.name() + "'")
                        .get(0);
                long late = model.lateRows(view);
                expect(found.equals("" + late), found + " late rows of " + view.name() + ", and not " + late);
                count(late > 0 ? "late rows counted" : "no row was late");
            }
        }
    }

    private void checkByOracle() {
        try (DuckAnswers oracle = new DuckAnswers(model)) {
            for (ModelObject.View view : model.all(ModelObject.View.class)) {
                if (model.isShown(view.name())) {
                    List<String> wanted = oracle.rows(view);
                    List<String> found = rows(model.query(view.name()));
                    expect(found.equals(wanted), view.name() + " has " + found + ", and DuckDB " + wanted);
                    count("answer of DuckDB");
                }
            }
        }
    }

    private void checkRegisters() {
        if (settings.names().isEmpty()) {
            settings.isSet(LIMIT, rows("SHOW " + LIMIT).get(0));
        }
        for (String name : secrets.names()) {
            secrets.isFound(name, InsideDatabase.secret(database, name).orElse(""));
        }
        for (String name : settings.names()) {
            settings.isFound(name, rows("SHOW " + name).get(0));
        }
    }

    private void secret(Random random) {
        Client client = clients.get(random.nextInt(SESSIONS));
        if (client.transaction.isPresent()) {
            return;
        }
        String name = "secret" + random.nextInt(2);
        boolean isDropped = random.nextInt(4) == 0;
        String value = isDropped ? "" : "text " + random.nextInt(1000);
        String sql = isDropped
                ? "DROP SECRET IF EXISTS " + name
                : "CREATE OR REPLACE SECRET " + name + " AS '" + value + "'";
        set(secrets, name, value, execute(client.session, sql, Optional.empty(), false, random), sql);
        if (!disk.isDead()) {
            secrets.isSeen(name, InsideDatabase.secret(database, name).orElse(""));
        }
    }

    private void system(Random random) {
        Client client = clients.get(random.nextInt(SESSIONS));
        if (client.transaction.isPresent()) {
            return;
        }
        String value = 64 + 16 * random.nextInt(4) + "MB";
        String sql = "ALTER SYSTEM SET " + LIMIT + " = '" + value + "'";
        set(settings, LIMIT, value, execute(client.session, sql, Optional.empty(), false, random), sql);
    }

    private void set(ModelRegisters registers, String name, String value, String outcome, String sql) {
        if (outcome.equals(DONE)) {
            registers.isSet(name, value);
            count(registers == secrets ? "secret kept" : "setting kept");
        } else {
            expect(outcome.equals(DEAD) || DISK.contains(outcome), sql + " failed with " + outcome);
            registers.maybeSet(name, value);
        }
    }

    /** What looks after streams where there are threads. */
    private void maintainRetention(Random random) {
        if (random.nextBoolean()) {
            clock.advanceMillis(RETENTION_MILLIS);
        }
        try {
            InsideDatabase.maintainRetention(database);
            count("streams maintained");
        } catch (MillraceException e) {
            expect(disk.isDead() || DISK.contains(e.sqlState().code()), "retention: " + e);
        }
    }

    // ---- asking again ----------------------------------------------------------------------------------------------

    /** A view is asked again, another takes its place, or one that reads the past stands still, or goes on. */
    private void reprocess(Random random) {
        int kind = random.nextInt(8);
        if (kind < 3) {
            boolean ends = random.nextInt(4) == 0;
            if (ends) {
                flush();
                model.allIsShown();
                clock.advanceMillis(1);
            }
            definitions.reprocess(random, ends).ifPresent(statement -> define(statement, random));
            clock.advanceMillis(1);
        } else if (kind < 7) {
            replace(random);
        } else {
            List<ModelObject.View> views = model.all(ModelObject.View.class).stream()
                    .filter(view -> !view.shape().mayStop() && !view.ends() && model.readsOnlyThePast(view))
                    .toList();
            if (!views.isEmpty()) {
                pause(views.get(random.nextInt(views.size())), random);
            }
        }
    }

    /** ALTER .. APPLY REPLACEMENT: at rest it succeeds, else when all is as it must be. */
    private void replace(Random random) {
        List<ModelObject.View> nexts = model.all(ModelObject.View.class).stream()
                .filter(model::beganInThePast)
                .toList();
        Client client = clients.get(random.nextInt(SESSIONS));
        if (nexts.isEmpty() || client.transaction.isPresent()) {
            return;
        }
        List<ModelObject.View> meant =
                nexts.stream().filter(view -> !view.replaces().isEmpty()).toList();
        List<ModelObject.View> from = meant.isEmpty() || random.nextInt(4) == 0 ? nexts : meant;
        ModelObject.View next = from.get(random.nextInt(from.size()));
        List<ModelObject.View> olds = model.all(ModelObject.View.class).stream()
                .filter(view -> view.isMaterialized() && view != next)
                .filter(view -> next.replaces().isEmpty() || view.name().equals(next.replaces()))
                .toList();
        if (olds.isEmpty()) {
            return;
        }
        ModelObject.View old = olds.get(random.nextInt(olds.size()));
        boolean isAtRest = random.nextInt(3) > 0;
        if (isAtRest) {
            heal();
            flush();
            model.allIsShown();
            checkLateRows();
            List.copyOf(subscribers).forEach(this::receive);
        } else if (model.mayStop(old.name())) {
            return; // its subscribers would have to hear first that it stopped
        }
        String sql = "ALTER MATERIALIZED VIEW " + old.name() + " APPLY REPLACEMENT " + next.name();
        boolean mayBe = mayReplace(old, next);
        String outcome = execute(client.session, sql, Optional.empty(), false, random);
        Map<String, ModelObject> after = new LinkedHashMap<>(model.with(next.inPlaceOf(old.name())));
        after.remove(next.name());
        if (outcome.equals(DONE)) {
            expect(mayBe, sql + " must fail");
            model.define(after);
            closeSubscribersOfNothing();
            count(next.bornIn() < openings ? "replaced after a crash" : "replaced");
        } else if (outcome.equals(DEAD)) {
            if (mayBe) {
                model.mayDefine(after);
            }
        } else if (DISK.contains(outcome)) {
            inEffect(after);
        } else {
            expect(!(mayBe && isAtRest && model.isUpToDate(next.name())), sql + " failed with " + outcome + lastError);
            expect(REFUSED.contains(outcome) || NOT_YET.contains(outcome), sql + " failed with " + outcome + lastError);
            count(mayBe ? "not replaced yet" : "must not be replaced");
        }
    }

    private boolean mayReplace(ModelObject.View old, ModelObject.View next) {
        boolean isRead = model.catalog().values().stream()
                .anyMatch(object -> !(object instanceof ModelObject.Durable durable
                                && durable.view().equals(old.name()))
                        && object != next
                        && (object.requires().contains(old.name())
                                || object.requires().contains(next.name())));
        return !isRead
                && !next.inputs().contains(old.name())
                && !old.isPaused()
                && !next.isPaused()
                && !next.ends()
                && !model.isStopped(next);
    }

    /** A view that a row stopped goes on without it. */
    private void leaveOut(Random random) {
        flush();
        model.allIsShown();
        checkLateRows();
        List<ModelObject.View> stopped = model.all(ModelObject.View.class).stream()
                .filter(model::isStopped)
                .toList();
        Client client = clients.get(random.nextInt(SESSIONS));
        if (stopped.isEmpty() || client.transaction.isPresent()) {
            return;
        }
        ModelObject.View view = stopped.get(random.nextInt(stopped.size()));
        count("view stopped by a row");
        if (random.nextInt(3) == 0) {
            String sql = "RESUME MATERIALIZED VIEW " + view.name();
            String outcome = execute(client.session, sql, Optional.empty(), false, random);
            expect(Set.of("22012", DEAD).contains(outcome), sql + " ended with " + outcome);
            return;
        }
        String sql = "ALTER MATERIALIZED VIEW " + view.name() + " RESUME SKIP ROW";
        int stream = ((ModelObject.Stream) model.catalog().get(view.inputs().get(0))).rows();
        Map<String, ModelObject> after =
                model.with(view.leavingOut(model.rows(stream).size()));
        String outcome = execute(client.session, sql, Optional.empty(), false, random);
        if (outcome.equals(DONE)) {
            model.define(after);
        } else if (outcome.equals(DEAD)) {
            model.mayDefine(after);
        } else {
            expect(DISK.contains(outcome), sql + " failed with " + outcome);
            inEffect(after);
        }
    }

    private void checkpoint(Random random) {
        Client client = clients.get(random.nextInt(SESSIONS));
        if (client.transaction.isEmpty()) {
            int before = model.accepted();
            disk.setMeanwhile(file -> meanwhile(file, client, random));
            String outcome;
            try {
                outcome = execute(client.session, "CHECKPOINT", Optional.empty(), false, random);
            } finally {
                disk.setMeanwhile(file -> {});
            }
            expect(outcome.equals(DONE) || outcome.equals(DEAD) || DISK.contains(outcome), "CHECKPOINT: " + outcome);
            if (outcome.equals(DONE)) {
                model.seen(before);
            }
        }
    }

    /** Others insert while a checkpoint is written. */
    private void meanwhile(String file, Client busy, Random random) {
        Client client = clients.get(random.nextInt(SESSIONS));
        boolean mayWrite = file.startsWith("checkpoints/") && client != busy && client.transaction.isEmpty();
        if (!mayWrite || disk.isDead() || random.nextInt(3) > 0) {
            return;
        }
        disk.setMeanwhile(other -> {});
        changes.insertion(random).ifPresent(statement -> {
            ended(
                    execute(client.session, statement.sql(), statement.input(), false, random),
                    statement,
                    statement.change(),
                    client);
            count("inserted while a checkpoint was written");
        });
        disk.setMeanwhile(other -> meanwhile(other, busy, random));
        clock.alarmIn(HEAL_MILLIS);
    }

    private void pause(Random random) {
        List<ModelObject.View> views = model.all(ModelObject.View.class).stream()
                .filter(ModelObject.View::isMaterialized)
                .filter(view -> !model.readsStream(view.name()))
                .toList();
        if (!views.isEmpty()) {
            pause(views.get(random.nextInt(views.size())), random);
        }
    }

    private void pause(ModelObject.View view, Random random) {
        Client client = clients.get(random.nextInt(SESSIONS));
        if (client.transaction.isPresent()) {
            return;
        }
        String sql = (view.isPaused() ? "RESUME" : "PAUSE") + " MATERIALIZED VIEW " + view.name();
        String outcome = execute(client.session, sql, Optional.empty(), false, random);
        Map<String, ModelObject> after = model.with(view.paused(!view.isPaused()));
        if (outcome.equals(DONE)) {
            model.define(after);
        } else if (outcome.equals(DEAD)) {
            model.mayDefine(after);
        } else {
            expect(DISK.contains(outcome), sql + " failed with " + outcome);
            inEffect(after);
        }
    }

    private void asynchronous(Random random) {
        Client client = clients.get(random.nextInt(SESSIONS));
        if (client.transaction.isEmpty()) {
            client.isAsynchronous = !client.isAsynchronous;
            String value = client.isAsynchronous ? "off" : "on";
            execute(client.session, "SET synchronous_commit = " + value, Optional.empty(), false, random);
        }
    }

    /** The engine and the log go on while clients do nothing. */
    private void work(Random random) {
        SteppedEngine engine = (SteppedEngine) database.engine();
        for (int i = random.nextInt(30); i > 0 && !disk.isDead(); i--) {
            engine.step();
        }
    }

    // ---- subscribers -----------------------------------------------------------------------------------------------

    private void subscribe(Random random) {
        List<ModelObject.View> views = model.all(ModelObject.View.class).stream()
                .filter(view -> view.isMaterialized() && !view.ends() && model.isShown(view.name()))
                .toList();
        if (views.isEmpty() || subscribers.size() >= MOST_SUBSCRIBERS) {
            return;
        }
        String view = views.get(random.nextInt(views.size())).name();
        Session session = database.session();
        clock.alarmIn(HEAL_MILLIS);
        StatementResults results = session.execute("SUBSCRIBE TO " + view + " WITH (SNAPSHOT)");
        subscribers.add(
                new Subscriber(view, session, results, (StatementResult.Changes) results.next(), new TreeMap<>()));
        clock.noAlarm();
        requireLife();
        tell("SUBSCRIBE TO " + view);
    }

    private void receive() {
        if (!subscribers.isEmpty()) {
            flush();
            model.allIsShown();
            clock.alarmIn(HEAL_MILLIS);
            List.copyOf(subscribers).forEach(this::receive);
            clock.noAlarm();
            requireLife();
        }
    }

    /** What was heard, added up, is the answer. */
    private void receive(Subscriber subscriber) {
        while (true) {
            Optional<EpochChanges> next;
            try {
                next = subscriber.changes.next(0);
            } catch (MillraceException e) {
                expect(
                        model.mayStop(subscriber.view) && e.sqlState().code().equals("22012"),
                        subscriber.view + ": " + e);
                subscribers.remove(subscriber);
                subscriber.close();
                count("subscriber told of a row that failed");
                return;
            }
            if (next.isEmpty()) {
                break;
            }
            try (EpochChanges epoch = next.get()) {
                epoch.batches().forEach(batch -> DurableClient.add(batch, subscriber.rows));
            }
            expect(
                    subscriber.rows.values().stream().allMatch(weight -> weight > 0),
                    "a subscriber of " + subscriber.view + " heard of a row that goes, and not that it came: "
                            + subscriber.rows);
        }
        if (model.isShown(subscriber.view)) {
            List<String> heard = new ArrayList<>();
            subscriber.rows.forEach((row, weight) -> heard.addAll(Collections.nCopies(weight, row)));
            List<String> wanted = ModelRow.texts(model.answer(subscriber.view));
            expect(
                    heard.equals(wanted),
                    "a subscriber of " + subscriber.view + " heard " + heard + " and not " + wanted);
            tell("heard " + heard);
            count("subscriber heard all");
        }
    }

    /** A client of a durable subscription makes it, reads it, or says what it has seen. */
    private void durable(Random random) {
        List<ModelObject.Durable> all = model.all(ModelObject.Durable.class);
        if (all.isEmpty() || random.nextInt(6) == 0) {
            subscribeDurably(random);
            return;
        }
        ModelObject.Durable subscription = all.get(random.nextInt(all.size()));
        if (random.nextInt(3) == 0) {
            acknowledge(subscription, random);
        } else {
            boolean flushed = random.nextBoolean();
            if (flushed) {
                flush();
                model.allIsShown();
            }
            read(subscription, random.nextBoolean(), flushed);
        }
    }

    private void subscribeDurably(Random random) {
        flush();
        model.allIsShown();
        definitions.createSubscription(random).ifPresent(statement -> {
            ModelObject.Durable subscription = statement.catalog().orElseThrow().values().stream()
                    .filter(ModelObject.Durable.class::isInstance)
                    .map(ModelObject.Durable.class::cast)
                    .reduce((first, last) -> last)
                    .orElseThrow();
            readers.put(subscription.number(), new DurableClient(ModelRow.texts(model.answer(subscription.view()))));
            define(statement, random);
        });
    }

    private DurableClient clientOf(ModelObject.Durable subscription) {
        DurableClient client = readers.get(subscription.number());
        String found =
                rows("SELECT CAST(extract(epoch FROM acknowledged) * 1000000 AS BIGINT) FROM millrace.subscriptions"
                                + " WHERE name = '" + subscription.name() + "'")
                        .get(0);
        client.isAcknowledged(Long.parseLong(found));
        return client;
    }

    private void acknowledge(ModelObject.Durable subscription, Random random) {
        DurableClient client = clientOf(subscription);
        OptionalLong micros = client.anyMicros(random);
        Client by = clients.get(random.nextInt(SESSIONS));
        if (micros.isPresent() && by.transaction.isEmpty()) {
            client.acknowledges(micros.getAsLong());
            String sql = "ALTER SUBSCRIPTION " + subscription.name() + " ACKNOWLEDGE "
                    + DurableClient.literal(micros.getAsLong());
            String outcome = execute(by.session, sql, Optional.empty(), true, random);
            if (outcome.equals(DONE)) {
                client.isAcknowledged(micros.getAsLong());
                count("acknowledged");
            } else {
                expect(Set.of(DEAD, "57014").contains(outcome), sql + " failed with " + outcome);
            }
        }
    }

    /**
     * A client of a durable subscription reads all that there is: what it adds up to is an answer, or the one that there must be.
     *
     * @param behindAll says that it has seen all that it was told, and goes on there
     * @param flushed whether it must be told all
     */
    private void read(ModelObject.Durable subscription, boolean behindAll, boolean flushed) {
        if (model.mayStop(subscription.view()) && !model.isUpToDate(subscription.view())) {
            return; // nobody is told of it before it goes on
        }
        DurableClient client = clientOf(subscription);
        OptionalLong seen = behindAll ? client.seenMicros() : OptionalLong.empty();
        seen.ifPresent(client::acknowledges);
        clock.alarmIn(HEAL_MILLIS);
        try (Session session = database.session();
                StatementResult.Changes changes = session.subscribe("SUBSCRIBE TO " + subscription.name(), seen)) {
            requireLife();
            seen.ifPresent(client::isAcknowledged);
            client.begins();
            for (Optional<EpochChanges> next = changes.next(0); next.isPresent(); next = changes.next(0)) {
                try (EpochChanges epoch = next.get()) {
                    requireLife();
                    count(client.isTold(epoch) ? "change told again" : "change told");
                }
            }
            requireLife();
        }
        clock.noAlarm();
        List<String> answer = client.answer();
        tell("SUBSCRIBE TO " + subscription.name() + " => " + answer);
        if (!model.isShown(subscription.view())) {
            return;
        }
        List<Map<Integer, List<ModelRow>>> states = flushed ? List.of(model.now()) : model.states();
        for (int state = 0; state < states.size(); state++) {
            HistoryModel as = model.as(model.catalog(), states.get(state));
            if (ModelRow.texts(as.answer(subscription.view())).equals(answer)) {
                model.seen(flushed ? 0 : state);
                count("durable subscription read");
                return;
            }
        }
        expect(
                !flushed,
                subscription.name() + " was told " + answer + " and not "
                        + ModelRow.texts(model.answer(subscription.view())));
    }
}

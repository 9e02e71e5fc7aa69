package dev.millrace.server.ddl;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.Index;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.retention.Backfill;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.catalog.TableRules;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.type.PlainNumeric;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * REPROCESS, which makes another query beside the one that there is, and ALTER .. APPLY REPLACEMENT, by which it takes its place:
 *
 * <pre>
 *   the other reads the past, and goes on with what comes; both are as any query
 *   when the other has all: the one stands still; the other reads what this was shown last
 *   the name goes over, with the difference of the answers to subscribers; the one ends
 * </pre>
 */
public final class Reprocessing {
    private static final String SUFFIX = "_reprocessed";
    private static final long MOST_STILL_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final Instance database;
    private final Indexes indexes;

    public Reprocessing(Instance database, Indexes indexes) {
        this.database = database;
        this.indexes = indexes;
    }

    /** The name under which the new answer is made. */
    public static String nameOf(Statement.Reprocess reprocess) {
        return reprocess.beside().orElse(reprocess.name() + SUFFIX);
    }

    /** What NUMERIC without digits means in the other query. */
    public PlainNumeric numeric(Statement.Reprocess reprocess) {
        return reprocess.queryText().isPresent()
                ? PlainNumeric.current()
                : require(reprocess.kind(), reprocess.name()).numeric();
    }

    /** The statement that makes the other query. */
    public String definition(Statement.Reprocess reprocess) {
        CatalogObject object = require(reprocess.kind(), reprocess.name());
        String name = nameOf(reprocess);
        if (reprocess.stop().isPresent() && reprocess.beside().isEmpty()) {
            throw ends();
        }
        Map<String, String> options = new TreeMap<>(object.options());
        options.remove("stop");
        options.remove(CatalogObject.REPLACES);
        options.put("start", reprocess.start());
        options.putAll(new EdgeWindowStreams(database).ofPast(object));
        reprocess.stop().ifPresent(stop -> options.put("stop", stop));
        if (reprocess.beside().isEmpty()) {
            requireItself(object);
            Optional<CatalogObject> other = database.catalog()
                    .object(name)
                    .filter(each -> each.options().containsKey(CatalogObject.REPLACES));
            if (other.isPresent()) {
                throw MillraceException.user(
                                SqlState.OBJECT_IN_USE, "\"" + object.name() + "\" is being reprocessed already")
                        .withHint("DROP " + sqlName(object) + " " + RelationNames.quoted(name)
                                + " ends that; millrace.backfills says how far it is");
            }
            requireNoDependents(object, name);
            options.put(CatalogObject.REPLACES, object.name());
        }
        return CatalogObject.queryDefinition(
                object.kind(), name, options, reprocess.queryText().orElseGet(object::queryText));
    }

    private static MillraceException ends() {
        return MillraceException.user(
                        SqlState.FEATURE_NOT_SUPPORTED,
                        "an answer that ends cannot take the place of one that is kept current")
                .withHint("REPROCESS .. TO .. AS name keeps it beside; without TO it goes on with what comes");
    }

    /** What is to take the place of another would no longer do so. */
    private static void requireItself(CatalogObject object) {
        Optional<String> replaced = Optional.ofNullable(object.options().get(CatalogObject.REPLACES));
        if (replaced.isPresent()) {
            throw MillraceException.user(
                            SqlState.OBJECT_IN_USE,
                            "\"" + object.name() + "\" is to take the place of \"" + replaced.get() + "\"")
                    .withHint("DROP " + sqlName(object) + " " + RelationNames.quoted(object.name()) + ", and REPROCESS "
                            + RelationNames.quoted(replaced.get()) + " again; or keep the new answer beside: REPROCESS"
                            + " .. AS name");
        }
    }

    private static String sqlName(CatalogObject object) {
        return object.kind().sqlName().toUpperCase(Locale.ROOT);
    }

    private CatalogObject require(ObjectKind kind, String name) {
        CatalogObject object = database.catalog().require(kind, name);
        if (object.kind() != ObjectKind.CONTINUOUS_QUERY && object.kind() != ObjectKind.MATERIALIZED_VIEW) {
            throw MillraceException.user(
                    SqlState.WRONG_OBJECT_TYPE,
                    "\"" + name + "\" is a " + object.kind().sqlName()
                            + "; a continuous query and a materialized view read the past of streams");
        }
        return object;
    }

    private void requireNoDependents(CatalogObject object, String but) {
        List<String> others = database.catalog().dependents(object.name()).stream()
                .filter(other -> !other.equals(but))
                .toList();
        if (!others.isEmpty()) {
            throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "nothing can take the place of \"" + object.name() + "\" because other objects read it: "
                                    + String.join(", ", others))
                    .withHint(
                            "REPROCESS .. AS name keeps the new answer beside it; or drop them, and create them again");
        }
    }

    /** ALTER .. APPLY REPLACEMENT. */
    public Command apply(Statement.ApplyReplacement apply) {
        database.lockDefinitions();
        try {
            CatalogObject object = require(apply.kind(), apply.name());
            CatalogObject by = database.catalog().require(object.kind(), apply.replacement());
            StandingQuery old = database.standing(object.name()).orElseThrow();
            StandingQuery next = database.standing(by.name()).orElseThrow();
            requireReady(object, by, old, next);
            database.replacements().begins(object.name());
            boolean stands = old.state() == QueryState.RUNNING;
            try {
                if (stands) {
                    old.pause();
                }
                awaitAll(by, next);
                replace(object, by, old, next);
            } catch (RuntimeException | Error e) {
                if (stands) {
                    old.resume();
                }
                throw e;
            } finally {
                database.replacements().ended(object.name());
            }
            define(object, by);
            return Command.of("ALTER " + apply.kind().sqlName().toUpperCase(Locale.ROOT));
        } finally {
            database.definitionLock().unlock();
        }
    }

    private void requireReady(CatalogObject object, CatalogObject by, StandingQuery old, StandingQuery next) {
        if (object.name().equals(by.name())) {
            throw MillraceException.user(
                    SqlState.INVALID_PARAMETER_VALUE, "\"" + by.name() + "\" is no replacement of itself");
        }
        if (by.options().containsKey("stop")) {
            throw ends();
        }
        requireNoDependents(object, by.name());
        requireNoDependents(by, "");
        if (!database.catalog().indexes(by.name()).isEmpty()
                || !database.histories().to(by.name()).isEmpty()) {
            throw MillraceException.user(
                            SqlState.DEPENDENT_OBJECTS_STILL_EXIST,
                            "\"" + by.name() + "\" has indexes or durable subscriptions, which would lose it")
                    .withHint("drop them: those of \"" + object.name() + "\" stay");
        }
        if (by.reads().contains(object.name())) {
            throw MillraceException.user(
                    SqlState.INVALID_TABLE_DEFINITION, "\"" + object.name() + "\" would read itself");
        }
        requireState(object, old.state() != QueryState.PAUSED, "paused");
        requireRunning(by, next);
        List<Backfill> backfills = database.retained().backfillsOf(by.name());
        if (backfills.isEmpty()) {
            throw MillraceException.notAvailableYet("a query that reads no past of a stream in the place of another");
        }
        for (Backfill backfill : backfills) {
            if (!backfill.isOver()) {
                int percent = (int) (backfill.progress().fraction() * 100);
                throw MillraceException.user(
                                SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                                "\"" + by.name() + "\" has " + percent + " % of the past of \""
                                        + backfill.progress().stream() + "\"")
                        .withHint("millrace.backfills says when it has all");
            }
        }
    }

    private static void requireRunning(CatalogObject object, StandingQuery query) {
        QueryState state = query.state();
        requireState(object, state == QueryState.RUNNING, state.name().toLowerCase(Locale.ROOT));
    }

    private static void requireState(CatalogObject object, boolean runs, String state) {
        if (!runs) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE, "\"" + object.name() + "\" is " + state)
                    .withHint("RESUME it first");
        }
    }

    /** Waits until the one that comes has, and shows, all that was accepted before the other stood still. */
    private void awaitAll(CatalogObject by, StandingQuery next) {
        List<Backfill> backfills = database.retained().backfillsOf(by.name());
        List<Long> accepted = new ArrayList<>();
        backfills.forEach(backfill -> accepted.add(backfill.lastAccepted()));
        long end = database.clock().nanoTime() + MOST_STILL_NANOS;
        boolean[] hasAll = {false};
        long epoch = next.awaitReaders(() -> {
            hasAll[0] = Backfill.haveAll(backfills, accepted);
            return hasAll[0] || database.clock().nanoTime() - end >= 0;
        });
        if (!hasAll[0]) {
            throw MillraceException.user(
                            SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE,
                            "\"" + by.name() + "\" is "
                                    + (next.state() == QueryState.RUNNING
                                            ? "too far behind"
                                            : next.state().name().toLowerCase(Locale.ROOT)))
                    .withHint("try again when it has caught up");
        }
        database.engine().awaitEpoch(epoch, List.of(by.name()));
        requireRunning(by, next); // not so if one of these rows failed
    }

    private void replace(CatalogObject object, CatalogObject by, StandingQuery old, StandingQuery next) {
        Starts starts = new Starts(database);
        Map<String, String> renamed = new HashMap<>();
        PlanNode plan = starts.renamed(by.name(), object.name(), next.plan(), renamed);
        Set<String> dropped = starts.own(object.name(), old.plan());
        StandingQuery now = database.engine().replace(object.name(), by.name(), plan, dropped, renamed);
        database.queries().put(object.name(), now);
        database.queries().remove(by.name());
        database.retained().forgetReaders(object.name());
        database.retained().renameReaders(by.name(), object.name());
    }

    private void define(CatalogObject object, CatalogObject by) {
        Map<String, String> options = new TreeMap<>(by.options());
        options.remove(CatalogObject.REPLACES);
        CatalogObject after = new CatalogObject(
                object.name(),
                object.kind(),
                by.schema(),
                by.appendOnly(),
                by.primaryKey(),
                by.eventTime(),
                by.input(),
                by.reads(),
                options,
                CatalogObject.queryDefinition(object.kind(), object.name(), options, by.queryText()),
                by.createdMicros(),
                TableRules.NONE,
                by.numeric());
        List<Index> with = indexes.altered(object, after);
        database.catalogStore().plannedAs(object.name(), by.name());
        database.catalog().remove(by.name());
        database.catalog().roles().forget(by.name());
        database.catalog().replace(after);
        database.replacements().forget(by.name());
        indexes.replace(after, with);
    }
}

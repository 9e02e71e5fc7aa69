package dev.millrace.server.dml;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.lookup.GivenValues;
import dev.millrace.server.lookup.PreparedLookupRows;
import dev.millrace.server.names.SessionCatalog;
import dev.millrace.server.planning.OpenAnalyses;
import dev.millrace.server.planning.SessionUse;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.OnConflict;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * INSERT, UPDATE and DELETE with parameters: analysed and planned once, for other values of their parameters as long as the
 * catalog stays as it is, where the rows are found by their key or made of nothing but values.
 *
 * <p>Belongs to the session's thread. Whatever is not of this kind is left to who analyses each statement with its values,
 * errors in values included.
 */
public final class PreparedChanges implements AutoCloseable {
    private static final int REMEMBERED = 250;

    /** What was found out under one version of the catalog; neither of the two where each execution has to be analysed. */
    private record Known(long version, List<DataType> declared, Optional<Found> found, Optional<Open> open) {}

    /** A statement that was analysed without values, and has parameters nowhere but in the query for its rows. */
    private record Open(Statement statement, Query query) {}

    private record Found(Statement statement, PreparedLookupRows rows, List<PreparedLookupRows.Place> places) {}

    private final Cache<ParsedStatement, Known> known = CacheBuilder.newBuilder()
            .weakKeys()
            .maximumSize(REMEMBERED)
            .<ParsedStatement, Known>removalListener(
                    removed -> removed.getValue().found.ifPresent(found -> found.rows.close()))
            .build();
    private final Instance database;
    private final SessionCatalog names;
    private final Queries queries;
    private final Transactions transactions;
    private final Writes writes;
    private final OpenAnalyses analyses;

    public PreparedChanges(
            Instance database,
            SessionCatalog names,
            Queries queries,
            Transactions transactions,
            Writes writes,
            OpenAnalyses analyses) {
        this.analyses = analyses;
        this.database = database;
        this.names = names;
        this.queries = queries;
        this.transactions = transactions;
        this.writes = writes;
    }

    /** Whether a statement may be one of those that are executed here. */
    public static boolean concerns(ParsedStatement parsed) {
        return parsed.parameterCount() > 0
                && (parsed.syntax() instanceof Syntax.Insert
                        || parsed.syntax() instanceof Syntax.Update
                        || parsed.syntax() instanceof Syntax.Delete);
    }

    /** Whether a statement was looked at, as the catalog is now, and is executed here with some values at least. */
    public boolean knows(ParsedStatement parsed) {
        Known before = known.getIfPresent(parsed);
        return before != null && before.version == names.version() && before.found.isPresent();
    }

    /** Executes a statement, if that can be done here. */
    public Optional<StatementResult> execute(ParsedStatement parsed, Parameters parameters) {
        if (parsed.parameterCount() > parameters.values().map(List::size).orElse(0) || !queries.hasNoneAtHand()) {
            return Optional.empty();
        }
        Known before = known.getIfPresent(parsed);
        if (before == null
                || before.version != names.version()
                || !before.declared.equals(parameters.declaredTypes())) {
            before = findOut(parsed, parameters);
            known.put(parsed, before);
        }
        if (before.found.isEmpty()) {
            return Optional.empty();
        }
        Found found = before.found.get();
        GivenValues values = new GivenValues(parameters);
        if (!values.fit(found.places)) {
            return Optional.empty();
        }
        transactions.check(found.statement);
        names.permissions().require(found.statement, parsed.syntax());
        try {
            return Optional.of(change(
                    found.statement, query -> found.rows.rows(query, values).orElseThrow(NotToBeHad::new)));
        } catch (NotToBeHad e) {
            return Optional.empty();
        }
    }

    /**
     * Executes a statement that {@link #execute} does not, by what was found when it was analysed without values; empty if it has
     * to be analysed with them.
     */
    public Optional<StatementResult> executeGiven(ParsedStatement parsed, Parameters parameters) {
        Known before = known.getIfPresent(parsed);
        if (before == null
                || before.version != names.version()
                || !before.declared.equals(parameters.declaredTypes())
                || before.open.isEmpty()
                || !queries.hasNoneAtHand()) {
            return Optional.empty();
        }
        Open open = before.open.get();
        Optional<Query> given = queries.planned(open.query, parameters, parsed.parameterCount());
        if (given.isEmpty()) {
            return Optional.empty();
        }
        transactions.check(open.statement);
        names.permissions().require(open.statement, parsed.syntax());
        return Optional.of(change(open.statement, query -> queries.rows(given.get())));
    }

    /** The rows are not to be had in the way that was planned: too many, or one that cannot be computed. Nothing is changed. */
    private static final class NotToBeHad extends RuntimeException {
        private static final long serialVersionUID = 1L;

        NotToBeHad() {
            super("", null, false, false);
        }
    }

    private StatementResult change(Statement statement, Function<Query, StatementResult.Rows> rows) {
        if (statement instanceof Statement.Insert insert) {
            return writes.insert(insert, rows);
        } else if (statement instanceof Statement.Update update) {
            return writes.update(update, rows);
        }
        return writes.delete((Statement.Delete) statement, rows);
    }

    private Known findOut(ParsedStatement parsed, Parameters parameters) {
        long version = names.version();
        List<DataType> declared = parameters.declaredTypes();
        try {
            SessionUse used = new SessionUse(names);
            Statement statement = analyses.takeOpen(parsed, declared)
                    .orElseGet(
                            () -> queries.offload().run(() -> database.plans().analyzeOpen(parsed, used, declared)));
            Optional<Query> query =
                    used.isOwn() ? Optional.empty() : query(statement).filter(one -> !one.isRecursive());
            if (query.isPresent()) {
                PlanNode plan = queries.plan(query.get()).root();
                List<PreparedLookupRows.Place> places = PreparedLookupRows.places(plan);
                return new Known(
                        version,
                        declared,
                        (PreparedLookupRows.hasAll(places, parsed.parameterCount())
                                        ? rows(statement, plan)
                                        : Optional.<PreparedLookupRows>empty())
                                .map(rows -> new Found(statement, rows, places)),
                        Optional.of(new Open(statement, query.get())));
            }
        } catch (MillraceException | IllegalArgumentException e) {
            Interrupt.checkCurrent();
            // with its values the statement may be right; if not, its error is told by who executes it
        }
        return new Known(version, declared, Optional.empty(), Optional.empty());
    }

    private Optional<PreparedLookupRows> rows(Statement statement, PlanNode plan) {
        return statement instanceof Statement.Insert
                ? MadeRows.of(plan, database.engine().allocator(), queries.statementClock())
                        .map(rows -> rows)
                : queries.keys().plan(plan).map(found -> new FoundByKey(queries, found));
    }

    /** The query for the rows of a statement that has parameters nowhere else. */
    private static Optional<Query> query(Statement statement) {
        if (statement instanceof Statement.Insert insert
                && !(insert.onConflict() instanceof OnConflict.Update)
                && insert.source() instanceof Query query
                && isPlain(insert.returning())) {
            return Optional.of(query);
        } else if (statement instanceof Statement.Update update && !update.joined() && isPlain(update.returning())) {
            return Optional.of(update.changes());
        } else if (statement instanceof Statement.Delete delete && !delete.joined() && isPlain(delete.returning())) {
            return Optional.of(delete.rows());
        }
        return Optional.empty();
    }

    @Override
    public void close() {
        known.invalidateAll();
    }

    private static boolean isPlain(Optional<Statement.Returning> returning) {
        return returning.isEmpty() || !returning.get().columns().isEmpty();
    }
}

package dev.millrace.server.query;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.lookup.GivenValues;
import dev.millrace.server.lookup.KeyPlan;
import dev.millrace.server.lookup.KeyQuery;
import dev.millrace.server.lookup.KeyRows;
import dev.millrace.server.lookup.PreparedLookupRows;
import dev.millrace.server.lookup.RangePlan;
import dev.millrace.server.names.SessionCatalog;
import dev.millrace.server.planning.OpenAnalyses;
import dev.millrace.server.planning.SessionUse;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.transaction.Transaction;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Answers SELECTs by key from an index, on the thread that asks: no task is made and nobody waited for. What was found out
 * about a statement is kept with it, for other values of its parameters, as long as the catalog stays as it is.
 *
 * <p>Belongs to the session's thread. Whatever it cannot answer is left to {@link Queries}, errors included.
 */
public final class KeyReads implements AutoCloseable {
    private static final int REMEMBERED = 250;

    private static final class Known {
        final long version;
        final List<DataType> declared;
        final Optional<Found> found;
        final Optional<Ranged> ranged; // where there is no key
        final Optional<Statement.Select> open; // analysed without values

        Known(
                long version,
                List<DataType> declared,
                Optional<Found> found,
                Optional<Ranged> ranged,
                Optional<Statement.Select> open) {
            this.version = version;
            this.declared = declared;
            this.found = found;
            this.ranged = ranged;
            this.open = open;
        }
    }

    /** A statement that is answered from an ordered index. */
    private record Ranged(Statement.Select select, RangePlan plan, List<PreparedLookupRows.Place> places) {}

    private static final class Found implements AutoCloseable {
        final Statement.Select select;
        final KeyQuery query;
        final List<PreparedLookupRows.Place> places;
        boolean goesOn = true; // whether all rows were found each time

        Found(Statement.Select select, KeyPlan plan) {
            this.select = select;
            this.query = new KeyQuery(plan);
            this.places = PreparedLookupRows.places(plan.whole());
        }

        @Override
        public void close() {
            query.close();
        }
    }

    private final Cache<ParsedStatement, Known> known = CacheBuilder.newBuilder()
            .weakKeys()
            .maximumSize(REMEMBERED)
            .<ParsedStatement, Known>removalListener(
                    removed -> removed.getValue().found.ifPresent(Found::close))
            .build();
    /** What was asked for last, which is what is asked for next as a rule. */
    private record Last(ParsedStatement parsed, Known known) {}

    private Optional<Last> last = Optional.empty();
    private final Instance database;
    private final SessionCatalog names;
    private final Queries queries;
    private final KeyRows rows;
    private final OpenAnalyses analyses;

    public KeyReads(Instance database, SessionCatalog names, Queries queries, OpenAnalyses analyses) {
        this.analyses = analyses;
        this.database = database;
        this.names = names;
        this.queries = queries;
        this.rows = queries.keys();
    }

    private @Nullable Known known(ParsedStatement parsed) {
        if (last.isEmpty() || last.get().parsed != parsed) {
            Known found = known.getIfPresent(parsed);
            last = Optional.ofNullable(found).map(there -> new Last(parsed, there));
            return found;
        }
        return last.get().known;
    }

    /** Whether a statement may be one of those that are answered here. */
    public static boolean concerns(Syntax syntax) {
        return syntax instanceof Syntax.Select;
    }

    /** Whether a statement was answered from here, and will be again without waiting for anybody. */
    public boolean answersAtOnce(ParsedStatement parsed) {
        Known before = known(parsed);
        return before != null
                && before.version == names.version()
                && before.found
                        .filter(found -> found.goesOn && found.query.lookup().isPresent() && found.query.isShort())
                        .isPresent()
                && queries.readsAtOnce(before.found.get().query.plan().relation());
    }

    /** Whether a statement was looked at, as the catalog is now, and is answered here with some values at least. */
    public boolean knows(ParsedStatement parsed) {
        Known before = known(parsed);
        return before != null && before.version == names.version() && before.found.isPresent();
    }

    /** The answer to a statement, if it is to be had here. */
    public Optional<StatementResult> read(ParsedStatement parsed, Parameters parameters) {
        boolean complete =
                parsed.parameterCount() <= parameters.values().map(List::size).orElse(0);
        if (!complete || !queries.hasNoneAtHand()) {
            return Optional.empty();
        }
        Known before = known(parsed);
        if (before == null
                || before.version != names.version()
                || !before.declared.equals(parameters.declaredTypes())) {
            before = findOut(parsed, parameters);
            known.put(parsed, before);
            last = Optional.empty();
        }
        return before.ranged.isPresent()
                ? answer(before.ranged.get(), parsed, parameters)
                : before.found.flatMap(found -> answer(found, parsed, parameters));
    }

    /**
     * The answer to a statement that {@link #read} has none to, from what was found when it was analysed without values; empty
     * if it has to be analysed with them.
     */
    public Optional<StatementResult> readGiven(ParsedStatement parsed, Parameters parameters) {
        Known before = known(parsed);
        if (before == null
                || before.version != names.version()
                || !before.declared.equals(parameters.declaredTypes())
                || before.open.isEmpty()
                || !queries.hasNoneAtHand()) {
            return Optional.empty();
        }
        Optional<Query> given = queries.planned(before.open.get().query(), parameters, parsed.parameterCount());
        given.ifPresent(query -> names.permissions().require(before.open.get(), parsed.syntax()));
        return given.map(queries::rows);
    }

    private Known findOut(ParsedStatement parsed, Parameters parameters) {
        long version = names.version();
        try {
            SessionUse used = new SessionUse(names);
            boolean open = parsed.parameterCount() > 0;
            Statement statement = analyses.takeOpen(parsed, parameters.declaredTypes())
                    .orElseGet(() -> queries.offload()
                            .run(() -> open
                                    ? database.plans().analyzeOpen(parsed, used, parameters.declaredTypes())
                                    : database.plans().analyze(parsed, names, parameters)));
            if (statement instanceof Statement.Select select
                    && !used.isOwn()
                    && select.query().files().isEmpty()
                    && !select.query().isRecursive()) {
                PlanNode root = queries.plan(select.query()).root();
                Optional<Found> found = rows.plan(root).map(plan -> new Found(select, plan));
                Optional<Ranged> ranged = found.isPresent() ? Optional.empty() : ranged(select, root, parsed);
                return new Known(
                        version,
                        parameters.declaredTypes(),
                        found,
                        ranged,
                        Optional.of(select).filter(given -> open));
            }
        } catch (MillraceException | IllegalArgumentException e) {
            Interrupt.checkCurrent();
            // with its values the statement may be right; if not, its error is told by who executes it
        }
        return new Known(version, parameters.declaredTypes(), Optional.empty(), Optional.empty(), Optional.empty());
    }

    private Optional<Ranged> ranged(Statement.Select select, PlanNode root, ParsedStatement parsed) {
        List<PreparedLookupRows.Place> places = PreparedLookupRows.places(root);
        return queries.ranges()
                .plan(root)
                .filter(plan -> plan.answer().isPresent() && PreparedLookupRows.hasAll(places, parsed.parameterCount()))
                .map(plan -> new Ranged(select, plan, places));
    }

    private Optional<StatementResult> answer(Ranged ranged, ParsedStatement parsed, Parameters parameters) {
        GivenValues values = new GivenValues(parameters);
        Query query = ranged.select.query();
        if (!values.fit(ranged.places)) {
            return Optional.empty();
        }
        names.permissions().require(ranged.select, parsed.syntax());
        boolean changed = queries.prepareToReadByKey(query)
                .filter(own -> !own.changes(ranged.plan.scan().relation()).isEmpty())
                .isPresent();
        if (changed) {
            return Optional.empty();
        }
        try {
            return queries.ranges()
                    .answer(ranged.plan, query.schema(), values)
                    .map(answer -> queries.asBegun(query, answer));
        } catch (MillraceException e) {
            Interrupt.checkCurrent();
            return Optional.empty(); // with its values as constants the statement says why in other words
        }
    }

    private Optional<StatementResult> answer(Found found, ParsedStatement parsed, Parameters parameters) {
        GivenValues values = new GivenValues(parameters);
        if (!values.fit(found.places)) {
            return Optional.empty();
        }
        Query query = found.select.query();
        names.permissions().require(found.select, parsed.syntax());
        Optional<Transaction> own = queries.prepareToReadByKey(query);
        found.goesOn = rows.find(found.query, values);
        return found.goesOn
                ? rows.rows(found.query, query.schema(), values, own).map(answer -> queries.asBegun(query, answer))
                : Optional.empty();
    }

    @Override
    public void close() {
        last = Optional.empty();
        known.invalidateAll();
        rows.close();
    }
}

package dev.millrace.server.session;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.millrace.engine.view.ViewLookup;
import dev.millrace.error.MillraceException;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.Parameters;
import dev.millrace.sql.statement.Query;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;

/**
 * Answers SELECTs by key from an index, on the thread that asks: no task is made and nobody waited for. What was found out
 * about a statement is kept with it, for other values of its parameters, as long as the catalog stays as it is.
 *
 * <p>Belongs to the session's thread. Whatever it cannot answer is left to {@link Queries}, errors included.
 */
final class KeyReads implements AutoCloseable {
    private static final int REMEMBERED = 250;

    private static final class Known {
        final long version;
        final List<DataType> declared;
        final Optional<Found> found;

        Known(long version, List<DataType> declared, Optional<Found> found) {
            this.version = version;
            this.declared = declared;
            this.found = found;
        }
    }

    private static final class Found {
        final Statement.Select select;
        final KeyPlan plan;
        Optional<ViewLookup> lookup = Optional.empty();
        boolean goesOn = true; // whether all rows were found each time

        Found(Statement.Select select, KeyPlan plan) {
            this.select = select;
            this.plan = plan;
        }
    }

    private final Cache<ParsedStatement, Known> known =
            CacheBuilder.newBuilder().weakKeys().maximumSize(REMEMBERED).build();
    private final Database database;
    private final SessionCatalog names;
    private final Queries queries;
    private final KeyRows rows;

    KeyReads(Database database, SessionCatalog names, Queries queries) {
        this.database = database;
        this.names = names;
        this.queries = queries;
        this.rows = queries.keys();
    }

    /** Whether a statement may be one of those that are answered here. */
    static boolean concerns(Syntax syntax) {
        return syntax instanceof Syntax.Select;
    }

    /** Whether a statement was answered from here, and will be again without waiting for anybody. */
    boolean answersAtOnce(ParsedStatement parsed) {
        Known before = known.getIfPresent(parsed);
        return before != null
                && before.version == database.catalog().version()
                && before.found
                        .filter(found -> found.goesOn && found.lookup.isPresent() && found.plan.isShort())
                        .isPresent()
                && queries.readsAtOnce();
    }

    /** The answer to a statement, if it is to be had here. */
    Optional<StatementResult> read(ParsedStatement parsed, Parameters parameters) {
        boolean complete =
                parsed.parameterCount() <= parameters.values().map(List::size).orElse(0);
        if (!complete || !queries.readsCommitted()) {
            return Optional.empty();
        }
        Known before = known.getIfPresent(parsed);
        if (before == null
                || before.version != database.catalog().version()
                || !before.declared.equals(parameters.declaredTypes())) {
            before = findOut(parsed, parameters);
            known.put(parsed, before);
        }
        return before.found.flatMap(found -> answer(found, parsed, parameters));
    }

    private Known findOut(ParsedStatement parsed, Parameters parameters) {
        long version = database.catalog().version();
        try {
            SessionUse used = new SessionUse(names);
            boolean open = parsed.parameterCount() > 0;
            Statement statement = open
                    ? database.frontend().analyze(parsed, used, Parameters.toDescribe(parameters.declaredTypes()))
                    : database.plans().analyze(parsed, names, parameters);
            if (statement instanceof Statement.Select select && !used.isOwn()) {
                Optional<KeyPlan> plan =
                        rows.plan(database.plans().pull(select.query()).root());
                return new Known(version, parameters.declaredTypes(), plan.map(found -> new Found(select, found)));
            }
        } catch (MillraceException | IllegalArgumentException e) {
            // with its values the statement may be right; if not, its error is told by who executes it
        }
        return new Known(version, parameters.declaredTypes(), Optional.empty());
    }

    private Optional<StatementResult> answer(Found found, ParsedStatement parsed, Parameters parameters) {
        Query query = found.select.query();
        names.permissions().require(found.select, parsed.syntax());
        queries.prepareToRead(query);
        Optional<ViewLookup> lookup = rows.find(found.plan, parameters, found.lookup);
        found.goesOn = lookup.isPresent();
        found.lookup = lookup;
        return lookup.map(there -> rows.answer(found.plan, query.schema(), parameters, there));
    }

    @Override
    public void close() {
        known.invalidateAll();
        rows.close();
    }
}

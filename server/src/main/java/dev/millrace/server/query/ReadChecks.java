package dev.millrace.server.query;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.catalog.StreamInput;
import dev.millrace.server.instance.Instance;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;

/** What a statement may read, and why not what it may not. Belongs to the session's thread. */
public final class ReadChecks {
    private final Instance database;
    private long begunVersion; // of the catalog, when the statement under way was begun

    ReadChecks(Instance database) {
        this.database = database;
    }

    /** A statement begins. */
    void begin() {
        begunVersion = database.catalog().version();
    }

    /**
     * Fails if a relation is not what it was when the statement began: what was made of the statement may have other columns in
     * mind.
     *
     * @throws MillraceException 40001
     */
    public void requireAsBegun(Collection<String> relations) {
        for (String name : relations) {
            if (!database.catalog().isAsOf(name, begunVersion)) {
                throw MillraceException.user(
                                SqlState.SERIALIZATION_FAILURE, "\"" + name + "\" was altered or dropped meanwhile")
                        .withHint("try the statement again");
            }
        }
    }

    /** What a SELECT cannot be answered from, with what to do instead. */
    void requireReadable(String name) {
        Optional<CatalogObject> found = database.catalog().object(name);
        if (found.isEmpty()) {
            return; // a system relation
        }
        CatalogObject object = found.get();
        if (object.input().filter(StreamInput::isDerived).isEmpty()) { // which has what came before its query failed
            requireHealthy(object);
        }
        if (object.kind() == ObjectKind.CONTINUOUS_QUERY) {
            throw MillraceException.user(
                            SqlState.WRONG_OBJECT_TYPE,
                            "continuous query \"" + name + "\" does not keep its rows, so there is nothing to SELECT")
                    .withHint("SUBSCRIBE TO " + name
                            + " shows them as they come; CREATE MATERIALIZED VIEW keeps the current answer");
        }
        if (object.kind() == ObjectKind.STREAM && !object.input().orElseThrow().finite()) {
            StreamInput input = object.input().orElseThrow();
            throw MillraceException.user(
                            SqlState.WRONG_OBJECT_TYPE,
                            "stream \"" + name + "\" (" + input.connector()
                                    + ") has no end and does not keep its rows, so there is nothing to SELECT")
                    .withHint("SUBSCRIBE TO " + name
                            + " shows rows as they come; CREATE MATERIALIZED VIEW ... AS SELECT ... FROM " + name
                            + " keeps an answer current");
        }
    }

    /** An answer that stopped being current is not given: says what failed, here or further up. */
    void requireHealthy(CatalogObject object) {
        Optional<StandingQuery> query = database.standing(object.name());
        Optional<MillraceException> failure = query.flatMap(StandingQuery::failure);
        if (failure.isPresent()) {
            MillraceException cause = failure.get();
            if (query.get().state() != QueryState.FAILED) {
                throw MillraceException.user(
                                cause.sqlState(),
                                object.kind().sqlName() + " \"" + object.name()
                                        + "\" has a row that cannot be computed: " + cause.getMessage())
                        .withHint("it answers again when the rows that this comes from are changed or deleted, or by "
                                + skipping(object));
            }
            throw MillraceException.user(
                            cause.sqlState(),
                            object.kind().sqlName() + " \"" + object.name() + "\" failed: " + cause.getMessage())
                    .withHint(hint(object, query.get(), cause));
        }
        object.reads().stream()
                .flatMap(read -> database.catalog().object(read).stream())
                .forEach(this::requireHealthy);
    }

    private static String hint(CatalogObject object, StandingQuery failed, MillraceException cause) {
        if (failed.isStopped()) {
            return "it has all else, and goes on by " + skipping(object) + ", which leaves out the rows that fail";
        }
        if (failed.whyStopped().isPresent()) {
            return "it has all else, and goes on with what it reads; SHOW MATERIALIZED VIEWS says what that waits for";
        }
        return cause.hint()
                .orElse(
                        "its answer stopped at the last whole epoch; DROP it, or create it again with a query that can take"
                                + " such rows");
    }

    private static String skipping(CatalogObject object) {
        return "RESUME " + object.kind().sqlName().toUpperCase(Locale.ROOT) + " " + RelationNames.quoted(object.name())
                + " SKIP ROW";
    }

    /** What the system says about itself is computed when asked; it does not tell when it changes. */
    public void requireStreaming(Collection<String> relations, String statement) {
        requireAsBegun(relations);
        for (String name : relations) {
            if (database.catalog().systemRelation(name).isPresent()) {
                throw MillraceException.user(
                        SqlState.WRONG_OBJECT_TYPE,
                        statement + " cannot follow system relation \"" + name + "\"; it can only be SELECTed");
            }
        }
    }
}

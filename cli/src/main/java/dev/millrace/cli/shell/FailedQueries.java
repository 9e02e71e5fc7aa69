package dev.millrace.cli.shell;

import dev.millrace.engine.runtime.StandingQuery;
import dev.millrace.engine.statistic.QueryState;
import dev.millrace.error.MillraceException;
import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.session.Database;
import dev.millrace.sql.statement.Statement.ObjectKind;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Standing queries that have failed while nobody looked: a full disk under a sink must not be found out by chance. Each is
 * told once; one that an error of a statement has named already is not told again. For the shell's thread.
 */
final class FailedQueries {
    private final Database database;
    private final Set<StandingQuery> told = Collections.newSetFromMap(new IdentityHashMap<>());

    FailedQueries(Database database) {
        this.database = database;
    }

    boolean hasSinks() {
        return !database.catalog().objects(ObjectKind.SINK).isEmpty();
    }

    /** Takes note of an error that was shown. */
    void toldOf(MillraceException error) {
        failed().stream()
                .filter(query -> error.getMessage().contains("\"" + query.name() + "\""))
                .forEach(told::add);
    }

    /** The failures not told yet, in words that name the query. */
    List<MillraceException> untold() {
        return failed().stream().filter(told::add).map(this::failure).toList();
    }

    private List<StandingQuery> failed() {
        return database.engine().queries().stream()
                .filter(query -> query.state() == QueryState.FAILED)
                .toList();
    }

    private MillraceException failure(StandingQuery query) {
        String kind = database.catalog()
                .object(query.name())
                .map(CatalogObject::kind)
                .map(ObjectKind::sqlName)
                .orElse("query");
        Optional<MillraceException> cause = query.failure();
        return cause.orElseThrow().in(kind + " \"" + query.name() + "\" failed");
    }
}

package dev.millrace.server.ddl;

import dev.millrace.connector.Options;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.error.MillraceException;
import dev.millrace.server.group.KnownForm;
import dev.millrace.server.group.KnownQuery;
import dev.millrace.server.instance.GroupedDefinitions;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.names.SessionCatalog;
import dev.millrace.server.query.Queries;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResult.Command;
import dev.millrace.server.settings.SessionSettings;
import dev.millrace.server.transaction.Transactions;
import dev.millrace.sql.LiftedQuery;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.Statement.ObjectKind;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.text.DateStyle;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * CREATE CONTINUOUS QUERY and MATERIALIZED VIEW of known forms, as a session may: what it says of rights, limits and transactions is asked each time. Belongs to the session's thread.
 */
public final class GroupedQueries {
    private final Instance database;
    private final SessionSettings settings;
    private final SessionCatalog names;
    private final Queries queries;
    private final Transactions transactions;

    public GroupedQueries(
            Instance database,
            SessionSettings settings,
            SessionCatalog names,
            Queries queries,
            Transactions transactions) {
        this.database = database;
        this.settings = settings;
        this.names = names;
        this.queries = queries;
        this.transactions = transactions;
    }

    /** The text of a statement with its constants lifted, if it is one that may be known. */
    public Optional<LiftedQuery> lifted(ParsedStatement parsed) {
        return parsed.syntax() instanceof Syntax.CreateQuery create
                        && create.options().isEmpty()
                ? LiftedQuery.of(parsed.text())
                : Optional.empty();
    }

    /**
     * Makes a query.
     *
     * @return empty if it has to be made by its text: nothing was done then
     * @throws MillraceException 25006, 42501, 53100, 58030, or why the statement was stopped
     */
    public Optional<StatementResult> make(KnownQuery query) {
        return make(List.of(query)).get(0).map(Supplier::get);
    }

    /**
     * Makes queries, one after the other.
     *
     * @return of each what gives its result or throws its failure; empty from the first on that has to be made by its text
     * @throws MillraceException as above, of the first
     */
    public List<Optional<Supplier<StatementResult>>> make(List<KnownQuery> all) {
        QueryOptions how = how(ObjectKind.CONTINUOUS_QUERY);
        QueryOptions howViews = how(ObjectKind.MATERIALIZED_VIEW);
        long plain = all.stream()
                .takeWhile(query ->
                        query.form().how().equals(query.kind() == ObjectKind.CONTINUOUS_QUERY ? how : howViews))
                .count();
        if (!isPlain() || plain == 0) {
            return Collections.nCopies(all.size(), Optional.empty());
        }
        List<KnownQuery> queries = all.subList(0, permitted(all.subList(0, (int) plain)));
        List<Optional<Supplier<StatementResult>>> results = new ArrayList<>();
        for (GroupedDefinitions.Outcome outcome :
                database.groupedDefinitions().make(queries, names.identity().current())) {
            outcome.made().ifPresent(query -> this.queries.epochs().wrote(query.firstEpoch()));
            results.add(result(outcome, queries.get(results.size()).kind()));
        }
        results.addAll(Collections.nCopies(all.size() - results.size(), Optional.empty()));
        return results;
    }

    /** How many of them, from the first on, the session may make. @throws MillraceException if not the first */
    private int permitted(List<KnownQuery> all) {
        for (int i = 0; i < all.size(); i++) {
            KnownForm form = all.get(i).form();
            if (i == 0 || form != all.get(i - 1).form()) {
                try {
                    transactions.check(form.statement());
                    names.permissions().require(form.statement(), form.syntax());
                } catch (MillraceException e) {
                    if (i == 0) {
                        throw e;
                    }
                    return i; // whoever comes to it is told
                }
            }
        }
        return all.size();
    }

    private static Optional<Supplier<StatementResult>> result(GroupedDefinitions.Outcome outcome, ObjectKind kind) {
        if (outcome.failure().isPresent()) {
            return Optional.of(() -> {
                throw outcome.failure().get();
            });
        }
        return outcome.made()
                .map(query -> () -> Command.of("CREATE " + kind.sqlName().toUpperCase(Locale.ROOT)));
    }

    /** A query was made of a text. */
    public void learn(LiftedQuery lifted, Statement statement, Syntax syntax) {
        if (isPlain()) {
            database.knownForms().learn(lifted, statement, syntax, names, how(lifted.kind()));
        }
    }

    /** Whether the session has nothing to be told of its style, names nothing of its own, undoes nothing, and its queries may share what runs them. */
    private boolean isPlain() {
        return !transactions.isExplicit()
                && settings.timeZone().isEmpty()
                && settings.timeStyle().dates().order() == DateStyle.Order.MDY
                && !settings.numericIsLimited()
                && !names.hasOwnNames()
                && names.permissions().hasRoomForAny()
                && queries.limits().mayShare();
    }

    /** How a query without options runs. */
    private QueryOptions how(ObjectKind kind) {
        QueryOptions basic = kind == ObjectKind.MATERIALIZED_VIEW ? QueryOptions.view() : QueryOptions.streaming();
        return queries.limits().limited(basic, new Options(Map.of()));
    }
}

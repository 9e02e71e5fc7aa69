package dev.millrace.server.ddl;

import dev.millrace.connector.Options;
import dev.millrace.engine.runtime.QueryOptions;
import dev.millrace.server.group.KnownForm;
import dev.millrace.server.group.KnownQuery;
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
import java.util.Map;
import java.util.Optional;

/**
 * CREATE CONTINUOUS QUERY of known forms, as a session may: what it says of rights, limits and transactions is asked each time. Belongs to the session's thread.
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
                        && create.kind() == ObjectKind.CONTINUOUS_QUERY
                        && create.options().isEmpty()
                ? LiftedQuery.of(parsed.text())
                : Optional.empty();
    }

    /**
     * Makes a query.
     *
     * @return empty if it has to be made by its text: nothing was done then
     * @throws dev.millrace.error.MillraceException 25006, 42501, 53100, 58030, or why the statement was stopped
     */
    public Optional<StatementResult> make(KnownQuery query) {
        if (!isPlain() || !how().equals(query.form().how())) {
            return Optional.empty();
        }
        KnownForm form = query.form();
        transactions.check(form.statement());
        names.permissions().require(form.statement(), form.syntax());
        return database.groupedDefinitions()
                .make(query, names.identity().current())
                .map(made -> {
                    queries.epochs().wrote(made.firstEpoch());
                    return Command.of("CREATE CONTINUOUS QUERY");
                });
    }

    /** A query was made of a text. */
    public void learn(LiftedQuery lifted, Statement statement, Syntax syntax) {
        if (isPlain() && statement instanceof Statement.CreateContinuousQuery create) {
            database.knownForms().learn(lifted, create, syntax, names, how());
        }
    }

    /** Whether the session has nothing to be told of its style, names nothing of its own, and its queries may share what runs them. */
    private boolean isPlain() {
        return settings.timeZone().isEmpty()
                && settings.timeStyle().dates().order() == DateStyle.Order.MDY
                && !names.hasTemporaryRelations()
                && names.permissions().hasRoomForAny()
                && queries.limits().mayShare();
    }

    /** How a query without options runs. */
    private QueryOptions how() {
        return queries.limits().limited(QueryOptions.streaming(), new Options(Map.of()));
    }
}

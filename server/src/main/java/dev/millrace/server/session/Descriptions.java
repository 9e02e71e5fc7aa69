package dev.millrace.server.session;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.names.SessionCatalog;
import dev.millrace.server.planning.SessionUse;
import dev.millrace.server.planning.StatementKinds;
import dev.millrace.server.result.Description;
import dev.millrace.server.result.StatementResult;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Merge;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.WithChanges;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Optional;

/** Finds what prepared statements take and give. */
final class Descriptions {
    private static final int REMEMBERED = 250;

    /** What drivers ask for at each execution that prepare without a name. */
    private record Known(long version, List<DataType> declared, Description description) {}

    private final Cache<ParsedStatement, Known> known =
            CacheBuilder.newBuilder().weakKeys().maximumSize(REMEMBERED).build();
    private final Instance database;
    private final SessionCatalog names;
    private final Execution execution;

    Descriptions(Instance database, SessionCatalog names, Execution execution) {
        this.database = database;
        this.names = names;
        this.execution = execution;
    }

    /** @param declaredTypes as far as the client declares them, {@link DataType#NULL} for those to be inferred */
    Description describe(ParsedStatement parsed, List<DataType> declaredTypes) {
        names.files().begin();
        long version = names.version();
        Known before = known.getIfPresent(parsed);
        if (before != null && before.version == version && before.declared.equals(declaredTypes)) {
            return before.description;
        }
        SessionUse used = new SessionUse(names);
        Frontend.Open open = execution.queries().offload().run(() -> analyze(parsed, used, declaredTypes));
        Statement statement = open.statement();
        Description description = new Description(open.parameterTypes(), columns(statement, parsed));
        if (used.isForNext()) {
            execution.analyses().keep(parsed, version, declaredTypes, statement);
        }
        boolean stands = statement instanceof Statement.Select || StatementKinds.changesRows(statement);
        if (stands && parsed.parameterCount() > 0 && !used.isOwn()) {
            known.put(parsed, new Known(version, List.copyOf(declaredTypes), description));
        }
        return description;
    }

    private Frontend.Open analyze(ParsedStatement parsed, SessionUse used, List<DataType> declaredTypes) {
        return parsed.parameterCount() == 0
                ? new Frontend.Open(
                        database.plans().analyze(parsed, used, Parameters.toDescribe(declaredTypes)), List.of())
                : database.plans().describe(parsed, used, declaredTypes);
    }

    /** Finds what is wrong with a statement that holds another, as EXPLAIN does. */
    void check(ParsedStatement parsed, List<DataType> declaredTypes) {
        execution.queries().offload().run(() -> analyze(parsed, new SessionUse(names), declaredTypes));
    }

    /** Whether a statement holds one that is analysed when it is prepared. */
    static boolean holdsAnalyzed(Syntax syntax) {
        return syntax instanceof Syntax.Explain explain && isAnalyzed(explain.statement())
                || syntax instanceof Syntax.ExplainAnalyze analyze && isAnalyzed(analyze.statement())
                || syntax instanceof Syntax.DeclareCursor declare && isAnalyzed(declare.source());
    }

    /** Whether what a statement takes and gives is found by analysing it, and so when it is prepared. */
    static boolean isAnalyzed(Syntax syntax) {
        return syntax instanceof Syntax.Select || syntax instanceof Syntax.Subscribe || syntax.changesRows();
    }

    private Optional<Schema> columns(Statement statement, ParsedStatement parsed) {
        if (statement instanceof Statement.Select select) {
            return Optional.of(select.query().schema());
        } else if (statement instanceof Statement.Subscribe subscribe) {
            return Optional.of(execution.subscriptions().form(subscribe).schema());
        } else if (statement instanceof Statement.Insert insert) {
            return insert.returning().map(returning -> returning.query().schema());
        } else if (statement instanceof Statement.Update update) {
            return update.returning().map(returning -> returning.query().schema());
        } else if (statement instanceof Statement.Delete delete) {
            return delete.returning().map(returning -> returning.query().schema());
        } else if (statement instanceof Merge merge) {
            return merge.returning().map(returning -> returning.query().schema());
        } else if (statement instanceof WithChanges with) {
            return columns(with.main(), parsed);
        } else if (statement instanceof Statement.Fetch fetch && !fetch.move()) {
            return Optional.of(execution.cursors().schema(fetch.cursor()));
        } else if (statement instanceof Statement.ExecutePrepared execute
                && execution.prepared().contains(execute.name())) {
            ParsedStatement prepared = execution.prepared().statement(execute.name());
            return columns(
                    database.plans()
                            .analyze(prepared, names, execution.prepared().parameters(execute)),
                    prepared);
        } else if (tells(statement)) {
            try (StatementResult result = execution.execute(parsed, Parameters.none())) {
                return result instanceof StatementResult.Rows rows ? Optional.of(rows.schema()) : Optional.empty();
            }
        }
        return Optional.empty();
    }

    /** Whether a statement only tells what is there: cheap, and without effect. */
    private static boolean tells(Statement statement) {
        return statement instanceof Statement.Show
                || statement instanceof Statement.ShowCreate
                || statement instanceof Statement.ShowSetting
                || statement instanceof Statement.Describe
                || statement instanceof Statement.Explain
                || statement instanceof Statement.ExplainRunning;
    }
}

package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.server.instance.Instance;
import dev.millrace.server.instance.Opening;
import dev.millrace.server.names.SessionCatalog;
import dev.millrace.server.planning.SessionUse;
import dev.millrace.server.query.Queries;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Has statements wait for a database that is being opened: a SELECT for what it reads, what concerns the session alone for nothing, and
 * all others until all is there. What cannot be understood yet may be of what is yet to be made, and waits, too. Belongs to the session's
 * thread.
 */
final class EarlyStatements {
    private final Instance database;
    private final Opening opening;
    private final SessionCatalog names;
    private final Queries queries;

    EarlyStatements(Instance database, SessionCatalog names, Queries queries) {
        this.database = database;
        this.opening = database.opening();
        this.names = names;
        this.queries = queries;
    }

    /** Whether the calling thread's statements have nothing to wait for. */
    boolean areOver() {
        return opening.letsPass();
    }

    /**
     * Before a statement is executed.
     *
     * @throws MillraceException why the database does not open, or why the statement is stopped
     */
    void await(ParsedStatement parsed, Parameters parameters) {
        if (!areOver() && !isOfSession(parsed.syntax()) && !reads(parsed, parameters)) {
            opening.await();
        }
    }

    /** Before a statement is described, which needs no rows: until what it is about is declared. */
    void awaitToDescribe(ParsedStatement parsed, List<DataType> types) {
        if (!areOver() && !opening.isCatalogComplete() && !isKnown(parsed, types)) {
            opening.await();
        }
    }

    /** Before what is no statement, and writes. */
    void awaitAll() {
        if (!areOver()) {
            opening.await();
        }
    }

    private static boolean isOfSession(Syntax syntax) {
        return syntax instanceof Syntax.Complete complete
                && (complete.statement() instanceof Statement.Begin
                        || complete.statement() instanceof Statement.Commit
                        || complete.statement() instanceof Statement.Rollback
                        || complete.statement() instanceof Statement.SetTransaction
                        || complete.statement() instanceof Statement.ShowSetting
                        || complete.statement() instanceof Statement.Deallocate);
    }

    private boolean reads(ParsedStatement parsed, Parameters parameters) {
        Optional<Statement> statement = parsed.syntax() instanceof Syntax.Select && hasPath()
                ? understood(parsed, () -> database.plans().analyze(parsed, names, parameters))
                : Optional.empty();
        return statement.isPresent()
                && statement.get() instanceof Statement.Select select
                && opening.awaitReadable(select.query().relations());
    }

    /** Whether names mean what they will: else one may be found in a schema before it is in another that is looked in first. */
    private boolean hasPath() {
        return opening.isCatalogComplete()
                || names.path().said().stream()
                        .noneMatch(schema -> database.catalogStore().keeps(RelationNames.ofSchema(schema)));
    }

    private boolean isKnown(ParsedStatement parsed, List<DataType> types) {
        return hasPath()
                && understood(
                                parsed,
                                () -> parsed.parameterCount() == 0
                                        ? database.plans().analyze(parsed, names, Parameters.toDescribe(types))
                                        : database.plans()
                                                .describe(parsed, new SessionUse(names), types)
                                                .statement())
                        .filter(Statement.Select.class::isInstance)
                        .isPresent();
    }

    private Optional<Statement> understood(ParsedStatement parsed, Supplier<Statement> analysis) {
        try {
            Statement statement = queries.offload().run(analysis);
            names.permissions().require(statement, parsed.syntax());
            return Optional.of(statement);
        } catch (MillraceException | IllegalArgumentException e) {
            Interrupt.checkCurrent();
            return Optional.empty(); // it may be told otherwise when all is there
        }
    }
}

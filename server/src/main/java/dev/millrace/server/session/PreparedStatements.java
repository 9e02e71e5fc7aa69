package dev.millrace.server.session;

import dev.millrace.error.MillraceException;
import dev.millrace.server.names.PreparedTexts;
import dev.millrace.server.names.ProtocolPortals;
import dev.millrace.server.names.SessionObjects;
import dev.millrace.server.result.Description;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * What messages of a protocol prepare in a session, beside what PREPARE and DECLARE do: statements, which are described before they
 * are executed, and the portals and cursors by which their rows are read. A protocol keeps what it makes of them itself; here are
 * their names, which SQL sees. Belongs to the session's thread.
 */
public final class PreparedStatements {
    private final SessionObjects objects;
    private final Steps steps;
    private final Execution execution;
    private final Descriptions descriptions;

    PreparedStatements(SessionObjects objects, Steps steps, Execution execution, Descriptions descriptions) {
        this.objects = objects;
        this.steps = steps;
        this.execution = execution;
        this.descriptions = descriptions;
    }

    /**
     * Analyses a statement that a message prepares, as PostgreSQL does then: SELECT, SUBSCRIBE and what changes rows, and EXPLAIN
     * and DECLARE of those. Others are looked at when they are executed.
     *
     * @param declaredTypes as for {@link #describe}
     * @return what the statement takes and gives, where that was found
     * @throws MillraceException if it is wrong; the transaction under way has failed then
     */
    public Optional<Description> analyze(ParsedStatement given, List<DataType> declaredTypes) {
        ParsedStatement statement = execution.zones().here(given);
        try {
            requireUsable(statement);
            if (Descriptions.isAnalyzed(statement.syntax())) {
                return Optional.of(describe(statement, declaredTypes));
            }
            if (Descriptions.holdsAnalyzed(statement.syntax())) {
                steps.look(statement, () -> {
                    execution.early().awaitToDescribe(statement, declaredTypes);
                    descriptions.check(statement, declaredTypes);
                    return true;
                });
            }
            return Optional.empty();
        } catch (MillraceException e) {
            steps.statementFails();
            throw e;
        } finally {
            steps.planningEnds();
        }
    }

    /**
     * What a statement takes and gives, as the catalog is now.
     *
     * @param declaredTypes of the parameters, as far as they are known; {@link DataType#NULL} for those to be inferred
     */
    public Description describe(ParsedStatement given, List<DataType> declaredTypes) {
        ParsedStatement statement = execution.zones().here(given);
        return steps.look(statement, () -> {
            execution.early().awaitToDescribe(statement, declaredTypes);
            return descriptions.describe(statement, declaredTypes);
        });
    }

    /**
     * Refuses what a transaction that failed does not take any more.
     *
     * @throws MillraceException 25P02
     */
    public void requireUsable(ParsedStatement statement) {
        execution.transactions().requireUsable(statement.syntax());
    }

    /** Keeps a statement that a message prepared, under a name that is free. */
    public void keep(String name, Optional<ParsedStatement> statement, String text, List<DataType> types) {
        objects.prepared().prepare(name, statement, text, types);
    }

    /** Whether a statement of that name is prepared, by SQL or by a message. */
    public boolean contains(String name) {
        return objects.prepared().contains(name);
    }

    /** A statement of PREPARE, without that word, and the types that it declares. */
    public Optional<BySql> bySql(String name) {
        return objects.prepared()
                .named(name)
                .filter(PreparedTexts.Prepared::fromSql)
                .map(found -> new BySql(found.statement().orElseThrow(), found.types()));
    }

    /** See {@link #bySql}. */
    public record BySql(ParsedStatement statement, List<DataType> types) {}

    /** Forgets a prepared statement if there is one of that name. */
    public void deallocate(String name) {
        objects.prepared().drop(name);
    }

    /** Has the protocol hear of each prepared statement that is forgotten, by whatever way. */
    public void onDeallocate(Consumer<String> listener) {
        objects.prepared().onForget(listener);
    }

    /** Has SQL see the protocol's portals. */
    public void portals(ProtocolPortals portals) {
        objects.portals(portals);
    }

    /** Whether DECLARE made a cursor of that name, which is still open. */
    public boolean hasCursor(String name) {
        return execution.cursors().contains(name);
    }

    /** Closes a cursor if there is one of that name, also in a transaction that failed. */
    public void closeCursor(String name) {
        execution.cursors().drop(name);
    }
}

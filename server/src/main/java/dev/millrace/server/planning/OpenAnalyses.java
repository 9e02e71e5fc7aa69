package dev.millrace.server.planning;

import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.statement.WithChanges;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * What was found of the statement that was prepared or described last, for its first execution: a statement that a client
 * prepares and executes is analysed once. Only what holds for every session is kept, and only as long as the catalog stays as it
 * is. Belongs to the session's thread.
 */
public final class OpenAnalyses {
    private record Kept(ParsedStatement parsed, long version, List<DataType> declared, Statement statement) {}

    private final LongSupplier version;
    private Optional<Kept> kept = Optional.empty();

    /** @param version of the catalog */
    public OpenAnalyses(LongSupplier version) {
        this.version = version;
    }

    /** @param version of the catalog when it was found */
    public void keep(ParsedStatement parsed, long version, List<DataType> declared, Statement statement) {
        boolean stands = statement instanceof Statement.Select
                || statement instanceof WithChanges
                || StatementKinds.changesRows(statement);
        kept = stands ? Optional.of(new Kept(parsed, version, List.copyOf(declared), statement)) : Optional.empty();
    }

    /** What was found of a statement without parameters, if it was kept; it is kept no longer. */
    public Optional<Statement> take(ParsedStatement parsed) {
        return parsed.parameterCount() == 0 ? taken(parsed).map(Kept::statement) : Optional.empty();
    }

    /** What was found of a statement whose parameters were declared so and had no values; it is kept no longer. */
    public Optional<Statement> takeOpen(ParsedStatement parsed, List<DataType> declared) {
        return parsed.parameterCount() == 0
                ? Optional.empty()
                : taken(parsed).filter(found -> found.declared.equals(declared)).map(Kept::statement);
    }

    private Optional<Kept> taken(ParsedStatement parsed) {
        Optional<Kept> found =
                kept.filter(one -> one.parsed == parsed).filter(one -> one.version == version.getAsLong());
        if (found.isPresent()) {
            kept = Optional.empty();
        }
        return found;
    }
}

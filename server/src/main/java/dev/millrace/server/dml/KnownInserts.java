package dev.millrace.server.dml;

import dev.millrace.server.catalog.DatabaseCatalog;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.statement.LiteralText;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * What INSERTs of constants had before their rows, and what that meant: a text that begins so is not parsed, as only its rows are new.
 * Belongs to the session's thread.
 *
 * <pre>
 *   INSERT INTO t (a, b) VALUES (1, 'x'), (2, NULL)
 *   +------- known ------------++---- scanned ----+
 * </pre>
 */
public final class KnownInserts {
    private static final int MOST = 8;
    private static final int LONGEST = 1_000; // characters

    private final Frontend frontend;
    private final DatabaseCatalog catalog;
    private final Deque<Known> all = new ArrayDeque<>(); // the one that was used last is the first

    /** What a beginning of a text means, as long as the catalog has this version. */
    private record Known(String start, long version, List<DataType> types, Statement.Insert insert, Syntax syntax) {}

    /**
     * A statement whose rows are found.
     *
     * @param syntax of an earlier one that begins with the same words
     */
    public record Found(Statement.Insert insert, Syntax syntax) {}

    public KnownInserts(Frontend frontend, DatabaseCatalog catalog) {
        this.frontend = frontend;
        this.catalog = catalog;
    }

    /** The statement of a text, if its beginning is known and its rows are plain. */
    public Optional<Found> find(String sql) {
        return known(sql).flatMap(known -> frontend.constants(
                        sql, known.start.length(), known.types)
                .map(rows -> new Found(with(known.insert, rows), known.syntax)));
    }

    private static Statement.Insert with(Statement.Insert insert, LiteralText rows) {
        return new Statement.Insert(
                insert.relation(), insert.columns(), rows, insert.onConflict(), insert.returning());
    }

    private Optional<Known> known(String sql) {
        for (Known known : all) {
            if (sql.startsWith(known.start) && known.version == catalog.version()) {
                if (known != all.getFirst()) {
                    all.remove(known);
                    all.addFirst(known);
                }
                return Optional.of(known);
            }
        }
        return Optional.empty();
    }

    /**
     * Remembers how a statement begins that was executed by its constants alone.
     *
     * @param version of the catalog before it was analysed
     */
    public void learn(ParsedStatement parsed, Statement.Insert insert, long version) {
        if (parsed.offset() > 0 || known(parsed.source()).isPresent()) {
            return;
        }
        int length = frontend.startOfRows(parsed.source());
        Optional<List<DataType>> types = catalog.object(insert.relation())
                .map(target -> insert.columns().stream().map(target.schema()::type).toList());
        if (length > LONGEST || types.isEmpty() || version != catalog.version()) {
            return;
        }
        String start = parsed.source().substring(0, length);
        all.removeIf(known -> known.start.equals(start)); // of an earlier version
        if (all.size() == MOST) {
            all.removeLast();
        }
        all.addFirst(new Known(start, version, types.get(), insert, parsed.syntax()));
    }
}

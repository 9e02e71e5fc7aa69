package dev.millrace.server.dml;

import dev.millrace.server.catalog.CatalogObject;
import dev.millrace.server.names.SessionCatalog;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.LiteralRows;
import dev.millrace.sql.statement.RowSource;
import dev.millrace.sql.statement.Statement;
import dev.millrace.sql.syntax.Syntax;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * INSERTs of values that were executed, for those that differ from one of them in its values only: a text that begins as one did up to
 * its rows, which are scanned, or the same statement with other parameters. Neither is parsed or analysed. Belongs to the session's thread.
 *
 * <pre>
 *   INSERT INTO t (a, b) VALUES (1, 'x'), (2, NULL)
 *   +------- known ------------++---- scanned ----+
 * </pre>
 */
public final class KnownInserts {
    private static final int MOST = 8;
    private static final int LONGEST = 1_000; // characters before the rows

    private final Frontend frontend;
    private final SessionCatalog names;
    private final Recent<Begun> begun = new Recent<>();
    private final Recent<Prepared> prepared = new Recent<>();

    /**
     * What a statement means, as long as names have this version.
     *
     * @param types of the columns that it gives
     */
    private record Meaning(
            long version, Schema relation, List<DataType> types, Statement.Insert insert, Syntax syntax) {
        Found with(RowSource rows) {
            return new Found(
                    new Statement.Insert(
                            insert.relation(), insert.columns(), rows, insert.onConflict(), insert.returning()),
                    syntax);
        }
    }

    /** @param start of the text, up to its rows */
    private record Begun(String start, Meaning meaning) {}

    private record Prepared(ParsedStatement parsed, LiteralRows rows, Meaning meaning) {}

    /**
     * A statement whose rows are found.
     *
     * @param syntax of an earlier one that has other values
     */
    public record Found(Statement.Insert insert, Syntax syntax) {}

    /** The last few of something; what was used last is the first. */
    private static final class Recent<T> {
        private final Deque<T> all = new ArrayDeque<>();

        Optional<T> find(Predicate<T> which) {
            for (T one : all) {
                if (which.test(one)) {
                    if (one != all.getFirst()) {
                        all.remove(one);
                        all.addFirst(one);
                    }
                    return Optional.of(one);
                }
            }
            return Optional.empty();
        }

        void add(T one) {
            if (all.size() == MOST) {
                all.removeLast();
            }
            all.addFirst(one);
        }
    }

    public KnownInserts(Frontend frontend, SessionCatalog names) {
        this.frontend = frontend;
        this.names = names;
    }

    /** The statement of a text, if its beginning is known and its rows are plain. */
    public Optional<Found> find(String sql) {
        return begun(sql)
                .flatMap(known -> frontend.constants(sql, known.start.length(), known.meaning.types)
                        .map(known.meaning::with));
    }

    private Optional<Begun> begun(String sql) {
        long version = names.version();
        return begun.find(known -> known.meaning.version == version && sql.startsWith(known.start));
    }

    /** A statement with values for its parameters, if it is known and they are as plain as those before. */
    public Optional<Found> find(ParsedStatement parsed, Parameters parameters) {
        if (parameters.values().map(List::size).orElse(0) < parsed.parameterCount()) {
            return Optional.empty();
        }
        return prepared(parsed)
                .flatMap(
                        known -> frontend.constants(known.rows, known.meaning.relation, known.meaning.types, parameters)
                                .map(known.meaning::with));
    }

    private Optional<Prepared> prepared(ParsedStatement parsed) {
        long version = names.version();
        return prepared.find(known -> known.parsed == parsed && known.meaning.version == version);
    }

    /**
     * Remembers how a text begins that was executed by its constants alone.
     *
     * @param version of the catalog before it was analysed
     */
    public void learn(ParsedStatement parsed, Statement.Insert insert, long version) {
        if (parsed.offset() > 0 || begun(parsed.source()).isPresent()) {
            return;
        }
        int length = frontend.startOfRows(parsed.source());
        if (length <= LONGEST) {
            String start = parsed.source().substring(0, length);
            meaning(parsed, insert, version).ifPresent(meaning -> begun.add(new Begun(start, meaning)));
        }
    }

    /** Remembers a statement with parameters that was executed by their values alone. */
    public void learnPrepared(ParsedStatement parsed, Statement.Insert insert, long version) {
        Optional<LiteralRows> rows = ((Syntax.Insert) parsed.syntax()).literals();
        if (rows.isPresent() && prepared(parsed).isEmpty()) {
            meaning(parsed, insert, version)
                    .ifPresent(meaning -> prepared.add(new Prepared(parsed, rows.get(), meaning)));
        }
    }

    private Optional<Meaning> meaning(ParsedStatement parsed, Statement.Insert insert, long version) {
        Optional<Schema> schema = names.catalog().object(insert.relation()).map(CatalogObject::schema);
        return schema.filter(found -> version == names.version())
                .map(found -> new Meaning(
                        version,
                        found,
                        insert.columns().stream().map(found::type).toList(),
                        insert,
                        parsed.syntax()));
    }
}

package dev.millrace.server.planning;

import com.google.common.cache.Cache;
import com.google.common.cache.CacheBuilder;
import com.google.errorprone.annotations.concurrent.GuardedBy;
import dev.millrace.error.MillraceException;
import dev.millrace.sql.Frontend;
import dev.millrace.sql.LiftedText;
import dev.millrace.sql.ParsedStatement;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * Statements without parameters that come again and again with other constants: texts that are alike share one statement
 * with parameters, which is parsed, analysed and planned once. From the second of them on, since many texts come but once;
 * and only where it reads or changes rows by their key, as far as was seen under this version of the catalog: what depends on
 * its constants in other ways is planned with them. Safe on any thread.
 */
public final class AdHocStatements {
    private static final long MOST_BYTES = 16L << 20;
    private static final int BYTES_EACH = 16 << 10; // what a small statement, its analysis and its plan take, some more
    private static final int BYTES_PER_CHARACTER = 64;

    /** What is known of a shape. */
    private static final class Shape {
        @GuardedBy("this") private Optional<ParsedStatement> statement = Optional.empty(); // from the second text on

        @GuardedBy("this") private boolean broken; // no statement

        private volatile long refused = -1; // the version of the catalog under which it was of no use
    }

    private final Cache<String, Shape> shapes = CacheBuilder.newBuilder()
            .maximumWeight(MOST_BYTES)
            .<String, Shape>weigher((text, shape) -> BYTES_EACH + BYTES_PER_CHARACTER * text.length())
            .build();
    private final Frontend frontend;
    private final LongSupplier version;
    private final LongAdder hits = new LongAdder();
    private final LongAdder misses = new LongAdder();

    /** @param version of the catalog */
    public AdHocStatements(Frontend frontend, LongSupplier version) {
        this.frontend = frontend;
        this.version = version;
    }

    /** What {@link #find} gives where that is at hand: nothing is parsed, and nothing remembered. */
    public Optional<AdHoc> known(String sql) {
        Optional<LiftedText> lifted = LiftedText.of(sql);
        Shape shape = lifted.map(text -> shapes.getIfPresent(key(text))).orElse(null);
        if (shape == null || shape.refused == version.getAsLong()) {
            return Optional.empty();
        }
        synchronized (shape) {
            return shape.statement.map(statement -> adHoc(statement, lifted.get(), shape));
        }
    }

    private AdHoc adHoc(ParsedStatement statement, LiftedText lifted, Shape shape) {
        return new AdHoc(statement, lifted.parameters(), () -> refuse(shape));
    }

    /** A statement for a text that is not known itself, if such texts came before. */
    public Optional<AdHoc> find(String sql) {
        Optional<LiftedText> lifted = frontend.remembered(sql).isPresent() ? Optional.empty() : LiftedText.of(sql);
        if (lifted.isEmpty()) {
            return Optional.empty();
        }
        String key = key(lifted.get());
        Shape shape = shapes.getIfPresent(key);
        if (shape == null) {
            shapes.put(key, new Shape());
            misses.increment();
            return Optional.empty();
        }
        if (shape.refused == version.getAsLong()) {
            misses.increment();
            return Optional.empty();
        }
        return statement(shape, lifted.get()).map(statement -> adHoc(statement, lifted.get(), shape));
    }

    /** Constants of other types make another statement. */
    private static String key(LiftedText lifted) {
        StringBuilder key = new StringBuilder(lifted.shape());
        lifted.parameters()
                .declaredTypes()
                .forEach(type -> key.append('\0').append(type.kind().ordinal()));
        return key.toString();
    }

    private Optional<ParsedStatement> statement(Shape shape, LiftedText lifted) {
        synchronized (shape) {
            if (shape.statement.isEmpty() && !shape.broken) {
                try {
                    List<ParsedStatement> parsed = frontend.parse(lifted.shape());
                    int count = lifted.parameters().declaredTypes().size();
                    shape.statement = parsed.stream().findFirst().filter(one -> one.parameterCount() == count);
                } catch (MillraceException | StackOverflowError e) {
                    // as it is written it may be right; if not, who executes it says so
                }
                shape.broken = shape.statement.isEmpty();
            }
            return shape.statement;
        }
    }

    /** A text was executed by way of the statement that it shares. */
    public void used() {
        hits.increment();
    }

    private void refuse(Shape shape) {
        shape.refused = version.getAsLong();
        misses.increment();
    }

    public long entries() {
        return shapes.size();
    }

    /** Texts that were executed by way of a statement they share with others. */
    public long hits() {
        return hits.sum();
    }

    /** Texts with constants that were not. */
    public long misses() {
        return misses.sum();
    }
}

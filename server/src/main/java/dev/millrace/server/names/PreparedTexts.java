package dev.millrace.server.names;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.constant.ConstantFolder;
import dev.millrace.plan.expression.Expression;
import dev.millrace.server.heap.KeptHeap;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.type.Parameters;
import dev.millrace.sql.statement.Statement;
import dev.millrace.time.Clock;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.ToLongFunction;

/** What PREPARE and messages of the protocol prepared, by name, for EXECUTE and the protocol. Belongs to the session's thread. */
public final class PreparedTexts {
    private static final int MOST = 10_000;

    /**
     * A prepared statement.
     *
     * @param statement empty for a text without one
     * @param fromSql whether PREPARE made it, and not a message of the protocol
     */
    public record Prepared(
            Optional<ParsedStatement> statement,
            String text,
            List<DataType> types,
            boolean fromSql,
            long epochMicros) {}

    private record Kept(Prepared prepared, long bytes) {}

    private final Clock clock;
    private final ToLongFunction<String> size;
    private final KeptHeap heap;
    private final Map<String, Kept> prepared = new LinkedHashMap<>();
    private Consumer<String> onForget = name -> {};

    /**
     * @param size bytes of the Java heap that the statement of a text takes
     * @param heap where they are counted
     */
    public PreparedTexts(Clock clock, ToLongFunction<String> size, KeptHeap heap) {
        this.clock = clock;
        this.size = size;
        this.heap = heap;
    }

    /** Who keeps more of a statement than is kept here is told its name when it is forgotten. */
    public void onForget(Consumer<String> listener) {
        onForget = listener;
    }

    public void prepare(Statement.Prepare prepare, ParsedStatement statement, String text) {
        add(prepare.name(), new Prepared(Optional.of(statement), text, prepare.types(), true, clock.epochMicros()));
    }

    /** A message of the protocol prepared it. */
    public void prepare(String name, Optional<ParsedStatement> statement, String text, List<DataType> types) {
        add(name, new Prepared(statement, text, types, false, clock.epochMicros()));
    }

    private void add(String name, Prepared one) {
        if (prepared.containsKey(name)) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_PREPARED_STATEMENT, "prepared statement \"" + name + "\" already exists");
        }
        if (prepared.size() >= MOST) {
            throw MillraceException.resources(
                    SqlState.CONFIGURATION_LIMIT_EXCEEDED, "a session has at most " + MOST + " prepared statements");
        }
        long bytes = size.applyAsLong(one.text());
        heap.keep(bytes);
        prepared.put(name, new Kept(one, bytes));
    }

    /** All of them in the order in which they were prepared. */
    public Map<String, Prepared> all() {
        Map<String, Prepared> all = new LinkedHashMap<>();
        prepared.forEach((name, kept) -> all.put(name, kept.prepared));
        return all;
    }

    public boolean contains(String name) {
        return prepared.containsKey(name);
    }

    public ParsedStatement statement(String name) {
        return find(name)
                .statement()
                .orElseThrow(() -> MillraceException.user(
                        SqlState.FEATURE_NOT_SUPPORTED, "prepared statement \"" + name + "\" is empty"));
    }

    public Optional<Prepared> named(String name) {
        return Optional.ofNullable(prepared.get(name)).map(Kept::prepared);
    }

    /** Forgets a statement if there is one of that name. */
    public void drop(String name) {
        Kept gone = prepared.remove(name);
        if (gone != null) {
            heap.forget(gone.bytes);
            onForget.accept(name);
        }
    }

    private Prepared find(String name) {
        return named(name)
                .orElseThrow(() -> MillraceException.user(
                        SqlState.INVALID_SQL_STATEMENT_NAME, "prepared statement \"" + name + "\" does not exist"));
    }

    /** The values that EXECUTE gives, as the statement's parameters. */
    public Parameters parameters(Statement.ExecutePrepared execute) {
        Prepared found = find(execute.name());
        int ofText = found.statement().map(ParsedStatement::parameterCount).orElse(0);
        int wanted = Math.max(ofText, found.types().size());
        if (execute.arguments().size() != wanted) {
            throw MillraceException.user(
                    SqlState.SYNTAX_ERROR,
                    "wrong number of parameters for prepared statement \"" + execute.name() + "\": " + wanted
                            + " expected but " + execute.arguments().size() + " given");
        }
        List<Optional<String>> texts = new ArrayList<>();
        for (Expression argument : execute.arguments()) {
            Expression text = ConstantFolder.evaluate(new Expression.Cast(argument, DataType.TEXT));
            texts.add(
                    text instanceof Expression.Literal literal
                            ? Optional.of((String) literal.value())
                            : Optional.empty());
        }
        return Parameters.of(found.types(), texts);
    }

    public void deallocate(String name) {
        find(name);
        drop(name);
    }

    public void deallocateAll() {
        List.copyOf(prepared.keySet()).forEach(this::drop);
    }
}

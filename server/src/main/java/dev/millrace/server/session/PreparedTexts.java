package dev.millrace.server.session;

import dev.millrace.engine.calc.ConstantFolder;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression;
import dev.millrace.sql.ParsedStatement;
import dev.millrace.sql.bind.Parameters;
import dev.millrace.sql.statement.Statement;
import dev.millrace.type.DataType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What PREPARE prepared, by name, for EXECUTE. Belongs to the session's thread. */
final class PreparedTexts {
    private static final int MOST = 10_000;

    private record Prepared(ParsedStatement statement, List<DataType> types) {}

    private final Map<String, Prepared> prepared = new HashMap<>();

    void prepare(Statement.Prepare prepare, ParsedStatement statement) {
        if (prepared.containsKey(prepare.name())) {
            throw MillraceException.user(
                    SqlState.DUPLICATE_PREPARED_STATEMENT,
                    "prepared statement \"" + prepare.name() + "\" already exists");
        }
        if (prepared.size() >= MOST) {
            throw MillraceException.resources(
                    SqlState.CONFIGURATION_LIMIT_EXCEEDED, "a session has at most " + MOST + " prepared statements");
        }
        prepared.put(prepare.name(), new Prepared(statement, prepare.types()));
    }

    boolean contains(String name) {
        return prepared.containsKey(name);
    }

    ParsedStatement statement(String name) {
        return find(name).statement();
    }

    private Prepared find(String name) {
        Prepared found = prepared.get(name);
        if (found == null) {
            throw MillraceException.user(
                    SqlState.INVALID_SQL_STATEMENT_NAME, "prepared statement \"" + name + "\" does not exist");
        }
        return found;
    }

    /** The values that EXECUTE gives, as the statement's parameters. */
    Parameters parameters(Statement.ExecutePrepared execute) {
        Prepared found = find(execute.name());
        int wanted = Math.max(found.statement().parameterCount(), found.types().size());
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

    void deallocate(String name) {
        find(name);
        prepared.remove(name);
    }

    void deallocateAll() {
        prepared.clear();
    }
}

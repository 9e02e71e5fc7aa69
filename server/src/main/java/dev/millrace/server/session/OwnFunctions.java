package dev.millrace.server.session;

import dev.millrace.expressions.user.UserCode;
import dev.millrace.plan.expression.Expression;
import dev.millrace.sql.catalog.UserFunction;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.udf.ScalarFunction;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Functions that a session has for itself, which know whose they are whatever they are given. Safe on any thread. */
final class OwnFunctions implements AutoCloseable {
    private final Map<String, UserFunction> provided = new ConcurrentHashMap<>();

    /** The function of a name, which is called for each row, by the threads that make rows. */
    UserFunction provided(String name, List<Field> parameters, DataType result, ScalarFunction code) {
        return provided.computeIfAbsent(
                name,
                function -> new UserFunction(
                        name,
                        UserFunction.Kind.SCALAR,
                        parameters,
                        result,
                        UserCode.provide(name, code) + Expression.EACH_TIME));
    }

    @Override
    public void close() {
        provided.values().forEach(function -> UserCode.withdraw(function.code().replace(Expression.EACH_TIME, "")));
        provided.clear();
    }
}

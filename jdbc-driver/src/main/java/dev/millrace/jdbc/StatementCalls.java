package dev.millrace.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGStatement;

/** Answers the calls to a statement: those of a SUBSCRIBE go to a connection of its own, all others to pgjdbc. */
class StatementCalls implements InvocationHandler {
    private final Statement postgresql;
    private final Connection connection;
    private final Endpoint endpoint;
    private volatile Optional<JdbcSubscription> subscription =
            Optional.empty(); // written by its user, read by who cancels

    StatementCalls(Statement postgresql, Connection connection, Endpoint endpoint) {
        this.postgresql = postgresql;
        this.connection = connection;
        this.endpoint = endpoint;
    }

    static Statement wrap(Statement postgresql, Connection connection, Endpoint endpoint) {
        return wrap(new StatementCalls(postgresql, connection, endpoint));
    }

    static Statement wrap(StatementCalls calls) {
        Class<?> type = calls.postgresql instanceof CallableStatement
                ? CallableStatement.class
                : calls.postgresql instanceof PreparedStatement ? PreparedStatement.class : Statement.class;
        return (Statement) Proxy.newProxyInstance(
                StatementCalls.class.getClassLoader(), new Class<?>[] {type, PGStatement.class}, calls);
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "executeQuery":
                return isSubscribe(arguments)
                        ? subscribe((Statement) proxy, (String) arguments[0])
                        : passAnew(method, arguments);
            case "execute":
                if (isSubscribe(arguments)) {
                    subscribe((Statement) proxy, (String) arguments[0]);
                    return true;
                }
                return passAnew(method, arguments);
            case "executeUpdate", "executeLargeUpdate":
                return passAnew(method, arguments);
            case "getResultSet":
                return subscription.isPresent()
                        ? subscription.get().result()
                        : ProxyCalls.pass(postgresql, method, arguments);
            case "getUpdateCount":
                return subscription.isPresent() ? -1 : ProxyCalls.pass(postgresql, method, arguments);
            case "getMoreResults":
                if (subscription.isPresent()) {
                    endSubscription();
                    return false;
                }
                return ProxyCalls.pass(postgresql, method, arguments);
            case "cancel":
                if (subscription.isPresent()) {
                    subscription.get().cancel();
                    return null;
                }
                return ProxyCalls.pass(postgresql, method, arguments);
            case "close":
                endSubscription();
                return ProxyCalls.pass(postgresql, method, arguments);
            case "getConnection":
                return connection;
            default:
                return ProxyCalls.passOrAnswer(postgresql, proxy, method, arguments);
        }
    }

    private static boolean isSubscribe(Object[] arguments) {
        return arguments != null && arguments.length == 1 && JdbcSubscription.isSubscribe((String) arguments[0]);
    }

    private ResultSet subscribe(Statement self, String sql) throws SQLException {
        endSubscription();
        JdbcSubscription opened = JdbcSubscription.open(endpoint, sql);
        try {
            opened.statement().setFetchSize(postgresql.getFetchSize());
            opened.statement().setQueryTimeout(postgresql.getQueryTimeout());
            opened.statement().setMaxRows(postgresql.getMaxRows());
            ResultSet result = opened.start(self, true);
            subscription = Optional.of(opened);
            return result;
        } catch (SQLException e) {
            opened.close();
            throw e;
        }
    }

    private Object passAnew(Method method, Object[] arguments) throws Throwable {
        endSubscription();
        return ProxyCalls.pass(postgresql, method, arguments);
    }

    private void endSubscription() throws SQLException {
        Optional<JdbcSubscription> ended = subscription;
        subscription = Optional.empty();
        if (ended.isPresent()) {
            ended.get().close();
        }
    }
}

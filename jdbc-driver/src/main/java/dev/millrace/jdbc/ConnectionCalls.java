package dev.millrace.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.Optional;
import org.postgresql.PGConnection;
import org.postgresql.jdbc.PgConnection;

/** Answers the calls to a connection: most are pgjdbc's, statements are wrapped, the meta data is ours. */
final class ConnectionCalls implements InvocationHandler {
    private final Connection postgresql;
    private final Endpoint endpoint;
    private final MillraceUrl url;
    private final Runnable onClose;

    private ConnectionCalls(Connection postgresql, Endpoint endpoint, MillraceUrl url, Runnable onClose) {
        this.postgresql = postgresql;
        this.endpoint = endpoint;
        this.url = url;
        this.onClose = onClose;
    }

    /** @param onClose runs after each close of the connection; the first counts */
    static Connection wrap(Connection postgresql, Endpoint endpoint, MillraceUrl url, Runnable onClose) {
        return (Connection) Proxy.newProxyInstance(
                ConnectionCalls.class.getClassLoader(),
                new Class<?>[] {Connection.class, PGConnection.class},
                new ConnectionCalls(postgresql, endpoint, url, onClose));
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        Connection self = (Connection) proxy;
        switch (method.getName()) {
            case "createStatement":
                Statement statement = (Statement) ProxyCalls.pass(postgresql, method, arguments);
                return StatementCalls.wrap(statement, self, endpoint);
            case "prepareStatement":
                return prepare(self, method, arguments);
            case "getMetaData":
                return new MillraceMetaData(postgresql.unwrap(PgConnection.class), self, url);
            case "close", "abort":
                try {
                    return ProxyCalls.pass(postgresql, method, arguments);
                } finally {
                    onClose.run();
                }
            default:
                return ProxyCalls.passOrAnswer(postgresql, proxy, method, arguments);
        }
    }

    private Object prepare(Connection self, Method method, Object[] arguments) throws Throwable {
        String sql = (String) arguments[0];
        if (JdbcSubscription.isSubscribe(sql)) {
            return SubscribingCalls.wrap(self, JdbcSubscription.open(endpoint, sql));
        }
        PreparedStatement statement = (PreparedStatement) ProxyCalls.pass(postgresql, method, arguments);
        // With more than the text, generated keys or another kind of result are asked for, which COPY does not give.
        Optional<InsertAsCopy> copy = arguments.length == 1 && !(statement instanceof CallableStatement)
                ? InsertAsCopy.of(sql)
                : Optional.empty();
        return copy.isPresent()
                ? InsertCalls.wrap(statement, self, endpoint, copy.get())
                : StatementCalls.wrap(statement, self, endpoint);
    }
}

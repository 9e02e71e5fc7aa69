package dev.millrace.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGStatement;

/** Answers the calls to a prepared SUBSCRIBE, whose parameters and settings are those of the subscription's statement. */
final class SubscribingCalls implements InvocationHandler {
    private final Connection connection;
    private final JdbcSubscription subscription;

    private SubscribingCalls(Connection connection, JdbcSubscription subscription) {
        this.connection = connection;
        this.subscription = subscription;
    }

    /** @param subscription taken over */
    static PreparedStatement wrap(Connection connection, JdbcSubscription subscription) {
        return (PreparedStatement) Proxy.newProxyInstance(
                SubscribingCalls.class.getClassLoader(),
                new Class<?>[] {PreparedStatement.class, PGStatement.class},
                new SubscribingCalls(connection, subscription));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        boolean withoutText = arguments == null;
        switch (method.getName()) {
            case "executeQuery":
                return withoutText
                        ? subscription.start((Statement) proxy, false)
                        : ProxyCalls.pass(subscription.statement(), method, arguments);
            case "execute":
                if (withoutText) {
                    subscription.start((Statement) proxy, false);
                    return true;
                }
                return ProxyCalls.pass(subscription.statement(), method, arguments);
            case "getResultSet":
                return subscription.result();
            case "cancel":
                subscription.cancel();
                return null;
            case "close":
                subscription.close();
                return null;
            case "getConnection":
                return connection;
            default:
                return ProxyCalls.passOrAnswer(subscription.statement(), proxy, method, arguments);
        }
    }
}

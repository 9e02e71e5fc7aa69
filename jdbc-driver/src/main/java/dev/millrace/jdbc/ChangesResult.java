package dev.millrace.jdbc;

import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.ResultSet;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** Answers the calls to the result of a SUBSCRIBE: pgjdbc's, but for the wait for the next row and the end. */
final class ChangesResult implements InvocationHandler {
    private final ResultSet rows;
    private final Statement owner;
    private final JdbcSubscription subscription;

    private ChangesResult(ResultSet rows, Statement owner, JdbcSubscription subscription) {
        this.rows = rows;
        this.owner = owner;
        this.subscription = subscription;
    }

    static ResultSet wrap(ResultSet rows, Statement owner, JdbcSubscription subscription) {
        return (ResultSet) Proxy.newProxyInstance(
                ChangesResult.class.getClassLoader(),
                new Class<?>[] {ResultSet.class},
                new ChangesResult(rows, owner, subscription));
    }

    @Override
    public @Nullable Object invoke(Object proxy, Method method, Object[] arguments) throws Throwable {
        switch (method.getName()) {
            case "next":
                return subscription.next();
            case "close":
                subscription.resultClosed();
                return null;
            case "getStatement":
                return owner;
            default:
                return ProxyCalls.passOrAnswer(rows, proxy, method, arguments);
        }
    }
}

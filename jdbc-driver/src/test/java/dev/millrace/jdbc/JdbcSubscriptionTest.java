package dev.millrace.jdbc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;

/** A subscription over a connection that fails where it is told to. */
class JdbcSubscriptionTest {
    private final List<String> calls = new ArrayList<>();

    /** Notes each call by name, and throws those that are to fail. */
    private <T> T fake(Class<T> type, Predicate<String> fails, Object answer) {
        return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, (self, method, given) -> {
            String call = type.getSimpleName() + "." + method.getName()
                    + (given != null && given[0] instanceof Integer ? given[0] : "");
            calls.add(call);
            if (fails.test(call)) {
                throw new SQLException("it is closed", "55000");
            }
            return method.getReturnType() == int.class ? Integer.valueOf(7) : answer;
        }));
    }

    private JdbcSubscription subscription(Predicate<String> fails) {
        ResultSet rows = fake(ResultSet.class, call -> false, null);
        return new JdbcSubscription(
                fake(Connection.class, call -> false, null), fake(PreparedStatement.class, fails, rows));
    }

    /** As when it was closed meanwhile. */
    @Test
    void rowsOfOneWhoseTimeLimitCannotBeSetBackAreClosed() throws SQLException {
        JdbcSubscription subscription = subscription("PreparedStatement.setQueryTimeout7"::equals);
        SQLException why = assertThrows(SQLException.class, () -> subscription.start(subscription.statement(), false));
        assertEquals("it is closed", why.getMessage());
        calls.clear();
        subscription.resultClosed();
        assertEquals(List.of("ResultSet.close", "Connection.rollback"), calls);
        subscription.close();
        assertEquals("Connection.close", calls.get(2));
    }

    @Test
    void theTimeLimitOfTheStatementIsThereForItsNextStart() throws SQLException {
        JdbcSubscription subscription = subscription(call -> false);
        subscription.start(subscription.statement(), true);
        assertEquals(
                List.of("PreparedStatement.setQueryTimeout0", "PreparedStatement.executeQuery"),
                calls.subList(calls.indexOf("PreparedStatement.setQueryTimeout0"), calls.size() - 1));
        assertEquals("PreparedStatement.setQueryTimeout7", calls.get(calls.size() - 1));
        subscription.close();
    }
}

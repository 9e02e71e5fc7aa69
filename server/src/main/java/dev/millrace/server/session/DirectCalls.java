package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Flow;
import java.util.function.Function;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Calls to the database by those who keep no session: each gets one for itself, which knows what the calls before it wrote.
 * Safe on any thread.
 */
final class DirectCalls implements AutoCloseable {
    private final Database database;

    /** What was written by calls that ended; each reader waits for it, at most once or twice. */
    private final Set<Long> written = ConcurrentHashMap.newKeySet();

    private final Set<ChangeDelivery<?>> deliveries = ConcurrentHashMap.newKeySet();

    DirectCalls(Database database) {
        this.database = database;
    }

    private Session begin() {
        Session session = database.session();
        session.goOnAfter(written);
        return session;
    }

    private void end(Session session, List<Long> before) {
        Set<Long> left = session.ownEpochs();
        written.addAll(left);
        before.stream().filter(epoch -> !left.contains(epoch)).forEach(written::remove);
        session.close();
    }

    private <T> T call(Function<Session, T> work) {
        List<Long> before = new ArrayList<>(written);
        Session session = begin();
        try {
            return work.apply(session);
        } finally {
            end(session, before);
        }
    }

    long execute(String sql, Object[] parameters) {
        return call(session -> {
            long rows = 0;
            try (StatementResults results = session.execute(sql, Arrays.asList(parameters))) {
                while (results.hasNext()) {
                    StatementResult result = results.next();
                    if (result instanceof StatementResult.Rows given) {
                        given.forEach(batch -> {});
                    } else if (result instanceof StatementResult.Command command) {
                        rows += command.rows().orElse(0);
                    } else {
                        throw MillraceException.user(
                                SqlState.WRONG_OBJECT_TYPE, "execute takes no subscription and no copy");
                    }
                }
            }
            return rows;
        });
    }

    long insert(String relation, Batch rows) {
        return call(session -> session.insert(relation, rows));
    }

    long insert(String relation, VectorSchemaRoot rows) {
        return call(session -> session.insert(relation, rows));
    }

    StatementResult.Rows query(String sql, Object[] parameters) {
        List<Long> before = new ArrayList<>(written);
        Session session = begin();
        try {
            StatementResult.Rows rows = session.query(sql, parameters);
            return new StatementResult.Rows() {
                private boolean closed;

                @Override
                public Schema schema() {
                    return rows.schema();
                }

                @Override
                public Optional<Batch> next() {
                    return rows.next();
                }

                @Override
                public void close() {
                    if (!closed) {
                        closed = true;
                        rows.close();
                        end(session, before);
                    }
                }
            };
        } catch (RuntimeException | Error e) {
            end(session, before);
            throw e;
        }
    }

    /** @param items what is delivered of an epoch, in order; takes the epoch over */
    <T extends AutoCloseable> Flow.Publisher<T> subscribe(
            String sql, Object[] parameters, Function<EpochChanges, List<T>> items) {
        try (Session session = database.session()) {
            session.parse(sql);
        }
        return subscriber -> {
            ChangeDelivery<T> delivery = new ChangeDelivery<>(subscriber, items, deliveries::remove);
            deliveries.add(delivery);
            delivery.begin(
                    begin(), sql, Arrays.asList(parameters), database.instance().subscriptionName());
        };
    }

    /** Ends all subscriptions, and waits until they gave back what they held. */
    @Override
    public void close() {
        deliveries.forEach(ChangeDelivery::shutDown);
    }
}

package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.Millrace;
import dev.millrace.batch.Batch;
import dev.millrace.engine.subscription.EpochChanges;
import dev.millrace.error.MillraceException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Subscriptions as publishers, held to the rules of {@link Flow}, which are named by their numbers in Reactive Streams. */
@Timeout(120)
class PublisherTest {
    private static final long SOON_MILLIS = 60_000;
    private static final long A_WHILE_MILLIS = 300;

    private Database database;

    @BeforeEach
    void open() {
        database = Millrace.open();
        database.execute("CREATE STREAM s (v BIGINT)");
    }

    @AfterEach
    void close() {
        database.close(); // fails if a batch is left
    }

    /** Records signals as texts, and checks that they do not overlap and that nothing follows an end. */
    private static final class Recorder<T extends AutoCloseable> implements Flow.Subscriber<T> {
        final BlockingQueue<String> signals = new LinkedBlockingQueue<>();
        final AtomicInteger inside = new AtomicInteger();
        volatile Flow.Subscription subscription;
        volatile Throwable failure;
        volatile boolean ended;
        private final long demandAtStart;
        private final java.util.function.Function<T, String> text;
        private Consumer<Flow.Subscription> onItem = subscription -> {};

        Recorder(long demandAtStart, java.util.function.Function<T, String> text) {
            this.demandAtStart = demandAtStart;
            this.text = text;
        }

        private void signal(String signal) {
            assertEquals(1, inside.incrementAndGet(), "signals overlap (1.3)");
            assertFalse(ended, "a signal after the end (1.7): " + signal);
            signals.add(signal);
        }

        @Override
        public void onSubscribe(Flow.Subscription begun) {
            signal("subscribed");
            assertNull(subscription, "subscribed once (1.9)");
            subscription = begun;
            inside.decrementAndGet();
            if (demandAtStart != 0) {
                begun.request(demandAtStart);
            }
        }

        @Override
        public void onNext(T item) {
            try (item) {
                signal(text.apply(item));
                onItem.accept(subscription);
            } catch (Exception e) {
                throw new IllegalStateException(e);
            } finally {
                inside.decrementAndGet();
            }
        }

        @Override
        public void onError(Throwable cause) {
            failure = cause;
            signal("failed");
            ended = true;
            inside.decrementAndGet();
        }

        @Override
        public void onComplete() {
            signal("complete");
            ended = true;
            inside.decrementAndGet();
        }

        void expect(String signal) throws InterruptedException {
            assertEquals(signal, signals.poll(SOON_MILLIS, TimeUnit.MILLISECONDS));
        }

        void expectNothing() throws InterruptedException {
            assertNull(signals.poll(A_WHILE_MILLIS, TimeUnit.MILLISECONDS));
        }
    }

    private static String text(Batch batch) {
        StringBuilder text = new StringBuilder();
        for (int row = 0; row < batch.rowCount(); row++) {
            long weight = batch.weights().isEmpty() ? 1 : batch.weights().get().get(row);
            text.append(weight > 0 ? "+" : "")
                    .append(weight)
                    .append('*')
                    .append(batch.column(0).getObject(row));
        }
        return text.toString();
    }

    private Recorder<Batch> subscribe(long demand, String sql, Object... parameters) {
        Recorder<Batch> recorder = new Recorder<>(demand, PublisherTest::text);
        database.subscribe(sql, parameters).subscribe(recorder);
        return recorder;
    }

    private void insert(long value) {
        database.execute("INSERT INTO s VALUES ($1)", value);
        database.query("SELECT 1").close();
    }

    @Test
    void nothingThatHappensAfterSubscribeIsMissed() throws Exception {
        Recorder<Batch> recorder = subscribe(Long.MAX_VALUE, "SUBSCRIBE TO s");
        insert(1);
        recorder.expect("subscribed");
        recorder.expect("+1*1");
        insert(2);
        recorder.expect("+1*2");
        recorder.subscription.cancel();
    }

    @Test
    void noMoreComesThanWasRequested() throws Exception { // 1.1, 3.8
        Recorder<Batch> recorder = subscribe(0, "SUBSCRIBE TO s");
        recorder.expect("subscribed");
        for (int i = 1; i <= 5; i++) {
            insert(i);
            database.execute("FLUSH"); // an epoch of its own
        }
        recorder.expectNothing();
        recorder.subscription.request(1);
        recorder.expect("+1*1");
        recorder.expectNothing();
        recorder.subscription.request(1);
        recorder.subscription.request(1);
        recorder.expect("+1*2");
        recorder.expect("+1*3");
        recorder.expectNothing();
        recorder.subscription.cancel();
    }

    @Test
    void aWeightSaysWhatHappenedToTheRow() throws Exception {
        database.execute("CREATE MATERIALIZED VIEW total AS SELECT sum(v) AS total FROM s");
        insert(1);
        Recorder<Batch> recorder = subscribe(Long.MAX_VALUE, "SUBSCRIBE TO total WITH (SNAPSHOT)");
        recorder.expect("subscribed");
        recorder.expect("+1*1");
        insert(4);
        String change = recorder.signals.poll(SOON_MILLIS, TimeUnit.MILLISECONDS);
        assertTrue(change.contains("-1*1") && change.contains("+1*5"), change);
        recorder.subscription.cancel();
    }

    @Test
    void parametersChooseWhatIsFollowed() throws Exception {
        Recorder<Batch> recorder = subscribe(Long.MAX_VALUE, "SUBSCRIBE TO (SELECT v FROM s WHERE v > $1)", 10);
        recorder.expect("subscribed");
        insert(5);
        insert(15);
        recorder.expect("+1*15");
        recorder.subscription.cancel();
    }

    @Test
    void requestsMayComeFromWithinOnNext() throws Exception { // 3.2, 3.3
        Recorder<Batch> recorder = new Recorder<>(0, PublisherTest::text);
        recorder.onItem = subscription -> subscription.request(1);
        database.subscribe("SUBSCRIBE TO s").subscribe(recorder);
        recorder.subscription.request(1);
        recorder.expect("subscribed");
        for (int i = 0; i < 20; i++) {
            insert(i);
            recorder.expect("+1*" + i);
        }
        recorder.subscription.cancel();
    }

    @Test
    void afterCancellingNothingComes() throws Exception { // 3.5 to 3.7, 3.12
        Recorder<Batch> recorder = subscribe(Long.MAX_VALUE, "SUBSCRIBE TO s");
        recorder.expect("subscribed");
        recorder.subscription.cancel();
        recorder.subscription.cancel();
        recorder.subscription.request(1);
        insert(1);
        recorder.expectNothing();
        assertNull(recorder.failure);
    }

    @Test
    void aRequestForNothingIsAnError() throws Exception { // 3.9
        for (long wrong : new long[] {0, -1, Long.MIN_VALUE}) {
            Recorder<Batch> recorder = subscribe(1, "SUBSCRIBE TO s");
            recorder.expect("subscribed");
            recorder.subscription.request(wrong);
            recorder.expect("failed");
            assertInstanceOf(IllegalArgumentException.class, recorder.failure);
        }
    }

    @Test
    void demandBeyondCountingIsAllThereIs() throws Exception { // 3.17
        Recorder<Batch> recorder = subscribe(Long.MAX_VALUE, "SUBSCRIBE TO s");
        recorder.subscription.request(Long.MAX_VALUE);
        recorder.expect("subscribed");
        insert(1);
        recorder.expect("+1*1");
        recorder.subscription.cancel();
    }

    @Test
    void anAnswerThatEndsCompletesWithoutDemandForMore() throws Exception { // 1.5
        Recorder<Batch> recorder = subscribe(1, "SUBSCRIBE TO (SELECT n FROM generate_series(3, 3) AS g(n))");
        recorder.expect("subscribed");
        recorder.expect("+1*3");
        recorder.expect("complete");
    }

    @Test
    void failuresGoToTheSubscriberAndTyposToTheCaller() throws Exception { // 1.4, 1.9
        assertEquals(
                "42601",
                assertThrows(MillraceException.class, () -> database.subscribe("SUBSCRIBE TO TO"))
                        .sqlState()
                        .code());
        for (String sql : new String[] {"SUBSCRIBE TO nowhere", "SELECT 1"}) {
            Recorder<Batch> recorder = subscribe(1, sql);
            recorder.expect("subscribed");
            recorder.expect("failed");
            assertInstanceOf(MillraceException.class, recorder.failure);
        }
        assertThrows(
                NullPointerException.class,
                () -> database.subscribe("SUBSCRIBE TO s").subscribe(null));
    }

    @Test
    void epochsComeWhole() throws Exception {
        database.execute("CREATE TABLE t (id BIGINT PRIMARY KEY, v BIGINT)");
        Recorder<EpochChanges> recorder = new Recorder<>(Long.MAX_VALUE, epoch -> {
            long sum = 0;
            for (Batch batch : epoch.batches()) {
                for (int row = 0; row < batch.rowCount(); row++) {
                    long weight = batch.weights().isEmpty()
                            ? 1
                            : batch.weights().get().get(row);
                    sum += weight * (Long) batch.column(1).getObject(row);
                }
            }
            return "" + sum;
        });
        database.execute("INSERT INTO t VALUES (1, 50), (2, -50)");
        database.subscribeToEpochs("SUBSCRIBE TO t").subscribe(recorder);
        recorder.expect("subscribed");
        for (int i = 0; i < 10; i++) {
            database.execute("UPDATE t SET v = CASE id WHEN 1 THEN v + 1 ELSE v - 1 END");
            recorder.expect("0");
        }
        recorder.subscription.cancel();
    }

    @Test
    void eachSubscriberHasItsOwn() throws Exception { // 1.10, 1.11
        Flow.Publisher<Batch> publisher = database.subscribe("SUBSCRIBE TO s");
        Recorder<Batch> fast = new Recorder<>(Long.MAX_VALUE, PublisherTest::text);
        Recorder<Batch> slow = new Recorder<>(0, PublisherTest::text);
        publisher.subscribe(fast);
        publisher.subscribe(slow);
        fast.expect("subscribed");
        slow.expect("subscribed");
        insert(1);
        fast.expect("+1*1");
        slow.expectNothing();
        fast.subscription.cancel();
        slow.subscription.request(1);
        slow.expect("+1*1");
        slow.subscription.cancel();
    }

    @Test
    void closingTheDatabaseEndsAllSubscriptions() throws Exception {
        Recorder<Batch> waiting = subscribe(Long.MAX_VALUE, "SUBSCRIBE TO s");
        Recorder<Batch> behind = subscribe(0, "SUBSCRIBE TO s");
        insert(1);
        waiting.expect("subscribed");
        waiting.expect("+1*1");
        behind.expect("subscribed");
        database.close();
        waiting.expect("failed");
        behind.expect("failed");
        assertEquals("57P01", ((MillraceException) behind.failure).sqlState().code());
        database = Millrace.open();
    }
}

import dev.millrace.Millrace;
import dev.millrace.batch.Batch;
import dev.millrace.server.session.Database;
import dev.millrace.server.result.StatementResult;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Flow;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;

/**
 * Millrace inside a program: rows go in as Arrow vectors, the standing answer comes out as Arrow vectors.
 *
 *   ./millrace version                                     # builds, the first time
 *   java --add-opens=java.base/java.nio=ALL-UNNAMED -cp "target/millrace/lib/*" server/examples/Totals.java
 */
public class Totals {
    public static void main(String[] args) throws Exception {
        try (Database database = Millrace.open()) {
            database.execute("CREATE STREAM sales (shop TEXT, cents BIGINT)");
            database.execute("""
                    CREATE MATERIALIZED VIEW totals AS
                    SELECT shop, count(*) AS sales, sum(cents) AS cents FROM sales GROUP BY shop
                    """);

            Printer printer = new Printer();
            database.subscribe("SUBSCRIBE TO totals").subscribe(printer);

            try (BufferAllocator allocator = new RootAllocator();
                    VarCharVector shop = new VarCharVector("shop", allocator);
                    BigIntVector cents = new BigIntVector("cents", allocator)) {
                String[] shops = {"north", "south", "north"};
                for (int row = 0; row < shops.length; row++) {
                    shop.setSafe(row, shops[row].getBytes(StandardCharsets.UTF_8));
                    cents.setSafe(row, 100L * (row + 1));
                }
                shop.setValueCount(shops.length);
                cents.setValueCount(shops.length);
                database.insert("sales", new VectorSchemaRoot(List.of(shop, cents)));
            }
            printer.seen.await();

            try (StatementResult.Rows rows = database.query("SELECT shop, cents FROM totals WHERE cents > $1 ORDER BY shop", 100)) {
                rows.forEach(batch -> {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        System.out.println(batch.column(0).getObject(row) + " sold for " + batch.column(1).getObject(row));
                    }
                });
            }
        }
    }

    /** Asks for one batch at a time. A weight of +1 says that the row came, -1 that it went. */
    private static final class Printer implements Flow.Subscriber<Batch> {
        final CountDownLatch seen = new CountDownLatch(1);
        private Flow.Subscription subscription;

        @Override
        public void onSubscribe(Flow.Subscription begun) {
            subscription = begun;
            subscription.request(1);
        }

        @Override
        public void onNext(Batch changes) {
            try (changes) { // it is ours now
                for (int row = 0; row < changes.rowCount(); row++) {
                    long weight = changes.weightsAddress() == 0 ? 1 : changes.weights().get().get(row);
                    System.out.println((weight > 0 ? "+ " : "- ") + changes.column(0).getObject(row) + " "
                            + changes.column(1).getObject(row) + " " + changes.column(2).getObject(row));
                }
            }
            seen.countDown();
            subscription.request(1);
        }

        @Override
        public void onError(Throwable failure) {
            System.out.println("the end: " + failure.getMessage());
        }

        @Override
        public void onComplete() {
            System.out.println("the end");
        }
    }
}

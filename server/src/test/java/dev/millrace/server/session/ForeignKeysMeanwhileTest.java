package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Whatever sessions do at the same time with rows that reference each other, no row is left without the one that it references. */
class ForeignKeysMeanwhileTest {
    private static final int SESSIONS = 4;
    private static final int STATEMENTS = 400;
    private static final int KEYS = 5;
    private static final String DANGLING =
            "SELECT c.p FROM c LEFT JOIN p ON p.id = c.p WHERE p.id IS NULL AND c.p IS NOT NULL";

    @Test
    void noRowIsLeftAlone() throws InterruptedException {
        try (TestDatabase database = new TestDatabase()) {
            database.run("CREATE TABLE p (id INT PRIMARY KEY)");
            database.run("CREATE TABLE c (n SERIAL PRIMARY KEY, p INT)");
            database.run(
                    "ALTER TABLE c ADD FOREIGN KEY (p) REFERENCES p ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED");
            run(database);
            assertEquals(List.of(), database.rows(DANGLING));
            database.run("ALTER TABLE c DROP CONSTRAINT c_p_fkey");
            database.run("ALTER TABLE c ADD FOREIGN KEY (p) REFERENCES p ON DELETE CASCADE");
            run(database);
            assertEquals(List.of(), database.rows(DANGLING));
        }
    }

    private static void run(TestDatabase database) throws InterruptedException {
        ConcurrentLinkedQueue<String> unexpected = new ConcurrentLinkedQueue<>();
        AtomicInteger done = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int number = 0; number < SESSIONS; number++) {
            Random random = new Random(number);
            Thread thread = new Thread(() -> {
                try (Session session = database.database().session()) {
                    for (int i = 0; i < STATEMENTS; i++) {
                        for (String sql : draw(random)) {
                            try {
                                session.execute(sql, List.of()).close();
                                done.incrementAndGet();
                            } catch (MillraceException e) {
                                if (!List.of("23503", "23505", "40P01", "25P02")
                                        .contains(e.sqlState().code())) {
                                    unexpected.add(sql + ": " + e.sqlState().code() + " " + e.getMessage());
                                }
                            }
                        }
                    }
                }
            });
            threads.add(thread);
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(List.of(), List.copyOf(unexpected));
        assertTrue(done.get() > SESSIONS * STATEMENTS / 4, "statements: " + done);
    }

    private static List<String> draw(Random random) {
        List<String> all = new ArrayList<>();
        int length = random.nextInt(3);
        for (int i = 0; i <= length; i++) {
            int key = random.nextInt(KEYS);
            all.add(
                    switch (random.nextInt(6)) {
                        case 0, 1 -> "INSERT INTO p VALUES (" + key + ")";
                        case 2 -> "DELETE FROM p WHERE id = " + key;
                        case 3 -> "UPDATE p SET id = " + random.nextInt(KEYS) + " WHERE id = " + key;
                        case 4 -> "INSERT INTO c (p) VALUES (" + key + ")";
                        default -> "DELETE FROM c WHERE p = " + key;
                    });
        }
        if (length == 0) {
            return all;
        }
        all.add(0, "BEGIN");
        all.add(random.nextInt(4) == 0 ? "ROLLBACK" : "COMMIT");
        return all;
    }
}

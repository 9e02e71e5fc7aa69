package dev.millrace.testing.slt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GoldenFileTest {
    private static final String GOOD = """
            # a comment

            statement ok
            CREATE TABLE t

            query
            SELECT two
            FROM lines
            ----
            b | 1
            a | NULL

            query rowsort
            SELECT two
            ----
            a | NULL
            b | 1

            statement error 42703 column "tmp" .* did you mean
            SELECT bad
            """;

    @TempDir
    Path folder;

    private static final class Fake implements SqlRunner {
        @Override
        public List<List<Optional<String>>> run(String sql) {
            if (sql.contains("bad")) {
                throw MillraceException.user(SqlState.UNDEFINED_COLUMN, "column \"tmp\" does not exist")
                        .withHint("did you mean \"temp\"?");
            }
            return sql.contains("two")
                    ? List.of(List.of(Optional.of("b"), Optional.of("1")), List.of(Optional.of("a"), Optional.empty()))
                    : List.of();
        }

        @Override
        public void close() {}
    }

    private void run(String text) throws IOException {
        Path file = folder.resolve("a.slt");
        Files.writeString(file, text);
        GoldenFile.read(file).run(new Fake());
    }

    @Test
    void aFileThatIsRightPasses() throws IOException {
        run(GOOD);
        assertEquals(1, GoldenFile.tests(folder, Fake::new).count());
    }

    @Test
    void whatDiffersIsShownWithItsPlace() {
        String rows = message(GOOD.replace("b | 1\na | NULL\n\nquery", "b | 2\na | NULL\n\nquery"));
        assertTrue(rows.contains("a.slt:6: different rows"), rows);
        String error = message(GOOD.replace("42703", "42601"));
        assertTrue(error.contains("got \"statement error 42703 column \"tmp\" does not exist; did you"), error);
        String success = message(GOOD.replace("statement ok", "statement error 42P01"));
        assertTrue(success.contains("got \"statement ok\""), success);
    }

    private String message(String text) {
        return assertThrows(AssertionError.class, () -> run(text)).getMessage();
    }
}

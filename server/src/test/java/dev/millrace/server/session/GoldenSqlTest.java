package dev.millrace.server.session;

import dev.millrace.batch.Batch;
import dev.millrace.batch.text.ValueText;
import dev.millrace.server.result.StatementResult;
import dev.millrace.server.result.StatementResults;
import dev.millrace.testing.slt.GoldenFile;
import dev.millrace.testing.slt.SqlRunner;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The golden SQL files, each in a database of its own. */
class GoldenSqlTest {
    @TestFactory
    Stream<DynamicTest> files() {
        return GoldenFile.tests(Path.of("src/test/resources/slt"), Runner::new);
    }

    static final class Runner implements SqlRunner {
        private final TestDatabase database = new TestDatabase();

        @Override
        public List<List<Optional<String>>> run(String sql) {
            database.session().flush();
            List<List<Optional<String>>> table = new ArrayList<>();
            try (StatementResults results = database.session().execute(sql, List.of())) {
                while (results.hasNext()) {
                    if (results.next() instanceof StatementResult.Rows rows) {
                        collect(rows, table);
                    }
                }
            }
            return table;
        }

        private static void collect(StatementResult.Rows rows, List<List<Optional<String>>> table) {
            for (Optional<Batch> next = rows.next(); next.isPresent(); next = rows.next()) {
                try (Batch batch = next.get()) {
                    for (int row = 0; row < batch.rowCount(); row++) {
                        int at = row;
                        table.add(IntStream.range(0, batch.columnCount())
                                .mapToObj(column -> ValueText.format(batch, column, at))
                                .toList());
                    }
                }
            }
        }

        @Override
        public void close() {
            database.close();
        }
    }
}

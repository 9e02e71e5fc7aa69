package dev.millrace.server.session;

import dev.millrace.testing.slt.GoldenFile;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Golden SQL of numbers of any size. Its answers were compared with those of PostgreSQL 15, view by view. */
class UnlimitedNumericTest {
    @TestFactory
    Stream<DynamicTest> files() {
        return GoldenFile.tests(Path.of("src/test/resources/unlimited"), GoldenSqlTest.Runner::new);
    }
}

package dev.millrace.server.session;

import dev.millrace.testing.slt.GoldenFile;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** Golden SQL where NUMERIC has no limit. Its answers were compared with those of PostgreSQL 15, view by view. */
class UnlimitedNumericTest {
    private static final String PROPERTY = "millrace.numeric.unlimited";

    @BeforeAll
    static void withoutLimit() {
        System.setProperty(PROPERTY, "true");
    }

    @AfterAll
    static void withLimit() {
        System.clearProperty(PROPERTY);
    }

    @TestFactory
    Stream<DynamicTest> files() {
        return GoldenFile.tests(Path.of("src/test/resources/unlimited"), GoldenSqlTest.Runner::new);
    }
}

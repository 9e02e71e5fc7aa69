package dev.millrace.server.session;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The examples of docs/statements.md are answered as it says. */
@Timeout(120)
class StatementsDocumentTest {
    @TempDir
    Path folder;

    @Test
    void eachStatementIsAnsweredAsThePageSays() throws IOException {
        try (TestDatabase database = new TestDatabase(folder)) {
            new AnsweredPage(Path.of("../docs/statements.md")).check(database);
        }
    }
}

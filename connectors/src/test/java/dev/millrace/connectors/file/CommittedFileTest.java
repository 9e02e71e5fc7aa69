package dev.millrace.connectors.file;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.millrace.testing.memory.LeakCheck;
import dev.millrace.text.TextBuffer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** What is in a file when it is opened again, after a process that was closed, or killed: of one that was killed nothing is closed. */
class CommittedFileTest {
    @RegisterExtension
    final LeakCheck memory = new LeakCheck();

    @TempDir
    Path folder;

    private CommittedFile open(boolean append) {
        return new CommittedFile(
                folder.resolve("out"), append, Optional.of(new CommittedLength(folder.resolve("sink"))));
    }

    private void write(CommittedFile file, String text) {
        try (TextBuffer bytes = new TextBuffer(memory.allocator(), 16)) {
            bytes.append(text.getBytes(StandardCharsets.UTF_8));
            file.write(bytes.address(), bytes.length());
        }
    }

    private String text() throws IOException {
        return Files.readString(folder.resolve("out"));
    }

    @Test
    void aRestartGoesOnBehindWhatIsCommitted() throws IOException {
        Files.writeString(folder.resolve("out"), "of somebody else\n");
        CommittedFile killed = open(false);
        write(killed, "first\n");
        killed.commit();
        write(killed, "half a li");
        try (CommittedFile again = open(false)) {
            assertEquals("first\n", text());
            write(again, "second\n");
            again.commit();
        }
        try (CommittedFile again = open(false)) {
            write(again, "not committed");
        }
        assertEquals("first\nsecond\n", text());
    }

    @Test
    void aNewOneThatAppendsKeepsWhatIsThere() throws IOException {
        Files.writeString(folder.resolve("out"), "before\n");
        write(open(true), "of a process that was killed before it committed anything\n");
        try (CommittedFile again = open(true)) {
            write(again, "first\n");
            again.commit();
        }
        assertEquals("before\nfirst\n", text());
    }

    @Test
    void aFileThatIsShorterThanItWasIsGoneOnAtItsEnd() throws IOException {
        try (CommittedFile file = open(false)) {
            write(file, "first\n");
            file.commit();
        }
        Files.writeString(folder.resolve("out"), "");
        try (CommittedFile again = open(false)) {
            write(again, "second\n");
            again.commit();
        }
        assertEquals("second\n", text());
    }
}

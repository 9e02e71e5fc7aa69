package dev.millrace.expressions.python;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.testing.time.Eventually;
import dev.millrace.type.DataType;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Processes by themselves: what becomes of them, and programs that are no Python. */
class PythonWorkerTest {
    private static final PythonFunction SPINS =
            new PythonFunction("f", "def f():\n    while True: pass", List.of(), DataType.BIGINT, false, false);

    @BeforeEach
    void requirePython() throws InterruptedException {
        try {
            Process python = new ProcessBuilder("python3", "--version").start();
            Assumptions.assumeTrue(python.waitFor() == 0, "python3 does not run");
        } catch (IOException e) {
            Assumptions.abort("there is no python3");
        }
    }

    @AfterEach
    void end() {
        PythonWorkers.all().use(PythonOptions.defaults());
    }

    @Test
    void aProcessAtWorkEndsSoonAfterTheServerWasKilled() throws Exception {
        Process server = new ProcessBuilder("sh", "-c", "python3 -c \"$0\"; true", PythonWorker.SCRIPT)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        OutputStream out = server.getOutputStream();
        ByteBuffer definition = ByteBuffer.allocate(1000).order(ByteOrder.LITTLE_ENDIAN);
        List<String> texts = SPINS.texts();
        definition.putInt(texts.size() + 1).putInt(1).put((byte) '0');
        for (String text : texts) {
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            definition.putInt(bytes.length).put(bytes);
        }
        out.write(definition.array(), 0, definition.position());
        out.flush();
        assertEquals(3, new DataInputStream(server.getInputStream()).readByte()); // it is ready
        out.write(new byte[] {4, 0, 0, 0, 1, 0, 0, 0}); // one row
        out.flush();
        List<ProcessHandle> pythons = server.descendants().toList();
        assertFalse(pythons.isEmpty());
        server.destroyForcibly().waitFor();
        Eventually.holds("it ended", () -> pythons.stream().noneMatch(ProcessHandle::isAlive));
    }

    @Test
    void aProgramThatIsNoPythonIsAnError() throws Exception {
        for (String program : List.of("yes", "true", "/no/such/program")) {
            PythonWorkers.all().use(new PythonOptions(program, 1, 1L << 30));
            PythonWorker worker = PythonWorkers.all().borrow(SPINS);
            String message = assertThrows(PythonFailure.class, worker::start).getMessage();
            assertTrue(
                    message.contains("its process gave an answer of ")
                            || message.contains("its process ended")
                            || message.contains("cannot run \"" + program + "\""),
                    message);
            PythonWorkers.all().giveBack(worker, worker.isAlive());
            assertEquals(0, PythonWorkers.all().count());
        }
    }
}

package dev.millrace.server.storage;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.type.PlainNumeric;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A data directory by a path from where the program was started, which another program is for: nobody moves this one's. */
@Tag("long")
@Timeout(120)
class RelativeDirectoryTest {
    @TempDir
    Path start;

    /** Keeps one more stream in the directory that is named, and says which there are. */
    static final class KeepingProgram {
        private KeepingProgram() {}

        public static void main(String[] arguments) {
            try (DataDirectory directory = DataDirectory.open(DataPlace.of(Path.of(arguments[0])))) {
                KeptObject object = new KeptObject(
                        "s" + directory.catalog().objects().size(),
                        "stream",
                        "CREATE STREAM",
                        7,
                        "millrace",
                        Optional.empty(),
                        OptionalLong.empty(),
                        0,
                        Map.of(),
                        OptionalLong.empty(),
                        PlainNumeric.UNLIMITED);
                directory.keep(new CatalogRecord(
                        List.of(new CatalogChange.Define(object)), Optional.empty(), Optional.empty()));
                directory.decoysKey(8);
                System.out.println(directory.catalog().objects().stream()
                        .map(KeptObject::name)
                        .toList());
            }
        }
    }

    private String run(String path) throws Exception {
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-cp",
                        System.getProperty("java.class.path"),
                        KeepingProgram.class.getName(),
                        path)
                .directory(start.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
        assertEquals(0, process.waitFor(), said);
        return said;
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".", "x", "x/y"})
    void itKeepsWhatItIsGiven(String path) throws Exception {
        assertEquals("[s0]", run(path));
        assertEquals("[s0, s1]", run(path));
        assertTrue(Files.exists(start.resolve(path).resolve(CatalogLog.NAME)));
        assertTrue(Files.exists(start.resolve(path).resolve(CatalogEnd.NAME)));
    }
}

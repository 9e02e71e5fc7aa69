package dev.millrace.connectors.input;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FilePathsTest {
    @TempDir
    Path folder;

    @BeforeEach
    void makeFiles() throws IOException {
        for (String name : List.of("b.csv", "a.csv", "a.json", "2020/x.csv", "2021/deep/y.csv")) {
            Path file = folder.resolve(name);
            Files.createDirectories(file.getParent());
            Files.writeString(file, "");
        }
    }

    private List<String> list(String paths) {
        return new FilePaths(paths)
                .list().stream().map(file -> folder.relativize(file).toString()).toList();
    }

    @Test
    void patternsMatchInEveryPartOfThePath() {
        assertEquals(List.of("a.csv", "b.csv"), list(folder + "/*.csv"));
        assertEquals(List.of("a.csv", "a.json"), list(folder + "/a.{csv,json}"));
        assertEquals(List.of("2020/x.csv"), list(folder + "/202?/*.csv"));
        assertEquals(List.of("2020/x.csv", "2021/deep/y.csv"), list(folder + "/202[01]/**.csv"));
    }

    @Test
    void severalPathsKeepTheirOrderAndNameNoFileTwice() {
        assertEquals(List.of("b.csv", "a.csv"), list(folder + "/b.csv, " + folder + "/*.csv"));
        assertTrue(new FilePaths(folder + "/*.csv").hasPattern());
        assertFalse(new FilePaths(folder + "/a.csv").hasPattern());
    }

    @Test
    void whatIsNotThereIsAnError() {
        assertEquals("58P01", code(folder + "/none.csv"));
        assertEquals("58P01", code(folder + "/*.none"));
        assertEquals("58P01", code(folder + "/none/*.csv"));
        assertEquals("42809", code(folder.toString()));
        assertEquals("22023", code(" , "));
        assertEquals(List.of(), new FilePaths(folder + "/*.none").listPresent());
    }

    private String code(String paths) {
        return assertThrows(MillraceException.class, () -> list(paths))
                .sqlState()
                .code();
    }
}

package dev.millrace.connectors.file;

import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.GivenSourceConformance;
import dev.millrace.testing.connector.SourceFault;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Three files that are there from the beginning, one with a line that is no row. */
@ConformanceOf("source file")
class FileSourceConformanceTest extends GivenSourceConformance {
    private static final Schema SCHEMA =
            Schema.of(new Field("id", DataType.BIGINT, false), new Field("name", DataType.TEXT, true));
    private static final int FILES = 3;
    private static final int ROWS = 60; // of a file

    @TempDir
    Path folder;

    @BeforeEach
    void write() throws IOException {
        for (int file = 0; file < FILES; file++) {
            StringBuilder text = new StringBuilder();
            for (int row = 0; row < ROWS; row++) {
                text.append("{\"id\": ").append(file * ROWS + row).append(", \"name\": \"n\"}\n");
            }
            Files.writeString(folder.resolve(file + ".json"), text + (file == 1 ? "no JSON\n" : ""));
        }
    }

    @Override
    protected Source source() {
        Map<String, String> options = Map.of("path", folder + "/*.json", "format", "json");
        return new FileSourceFactory().create(SCHEMA, new Options(options));
    }

    @Override
    protected int rejected() {
        return 1;
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(SourceFault fault) {
        catches(fault);
    }
}

package dev.millrace.server.session;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.sketch.source.SketchSourceFactory;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.GivenSourceConformance;
import dev.millrace.testing.connector.SourceFault;
import dev.millrace.type.Schema;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A file of sketches, which is read from its beginning by each query: there is no position to forget. */
@ConformanceOf("source sketch")
class SketchSourceConformanceTest extends GivenSourceConformance {
    @TempDir
    Path folder;

    @BeforeEach
    void write() {
        assertDoesNotThrow(() -> SketchedRows.write(folder, new Random(1)));
    }

    @Override
    protected Source source() {
        return new SketchSourceFactory()
                .create(new Schema(List.of()), new Options(Map.of("path", "" + folder.resolve("s.sketch"))));
    }

    @ParameterizedTest
    @EnumSource(names = {"NONE", "LOSES_A_BATCH"})
    void faultsAreCaught(SourceFault fault) {
        catches(fault);
    }
}

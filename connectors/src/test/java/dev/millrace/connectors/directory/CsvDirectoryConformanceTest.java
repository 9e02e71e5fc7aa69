package dev.millrace.connectors.directory;

import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.SinkConformance;
import dev.millrace.testing.connector.SinkFault;
import dev.millrace.testing.connector.SinkOutside;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Tag("long")
@ConformanceOf("sink file")
class CsvDirectoryConformanceTest extends SinkConformance {
    @TempDir
    Path folder;

    private int outsides;

    @Override
    protected SinkOutside outside() {
        return new DirectoryOutside(folder.resolve("out " + outsides++), "csv");
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(SinkFault fault) {
        catches(fault);
    }
}

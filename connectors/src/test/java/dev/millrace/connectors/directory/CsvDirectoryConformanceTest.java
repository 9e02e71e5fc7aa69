package dev.millrace.connectors.directory;

import dev.millrace.testing.connector.SinkConformance;
import dev.millrace.testing.connector.SinkOutside;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class CsvDirectoryConformanceTest extends SinkConformance {
    @TempDir
    Path folder;

    @Override
    protected SinkOutside outside() {
        return new DirectoryOutside(folder.resolve("out"), "csv");
    }
}

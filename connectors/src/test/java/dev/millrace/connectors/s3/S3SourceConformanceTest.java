package dev.millrace.connectors.s3;

import dev.millrace.testing.connector.SourceConformance;
import dev.millrace.testing.connector.SourceOutside;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Of a source that looks for new objects. */
@Tag("peers")
class S3SourceConformanceTest extends SourceConformance {
    @RegisterExtension
    static final SharedServer SERVER = new SharedServer();

    @Override
    protected SourceOutside outside() {
        return SERVER.outside("json", "mode", "follow", "s3.list_interval", "100 ms");
    }
}

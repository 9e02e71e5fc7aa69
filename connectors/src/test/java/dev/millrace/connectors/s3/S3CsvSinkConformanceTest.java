package dev.millrace.connectors.s3;

import dev.millrace.testing.connector.SinkConformance;
import dev.millrace.testing.connector.SinkOutside;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;

@Tag("peers")
class S3CsvSinkConformanceTest extends SinkConformance {
    @RegisterExtension
    static final SharedServer SERVER = new SharedServer();

    @Override
    protected SinkOutside outside() {
        return SERVER.outside("csv", "delivery", "exactly_once");
    }
}

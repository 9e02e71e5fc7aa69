package dev.millrace.connectors.s3;

import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.SinkConformance;
import dev.millrace.testing.connector.SinkFault;
import dev.millrace.testing.connector.SinkOutside;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ConformanceOf("sink file")
@Tag("peers")
class S3JsonSinkConformanceTest extends SinkConformance {
    @RegisterExtension
    static final SharedServer SERVER = new SharedServer();

    @Override
    protected SinkOutside outside() {
        return SERVER.outside("json", "delivery", "exactly_once");
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(SinkFault fault) {
        catches(fault);
    }
}

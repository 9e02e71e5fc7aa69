package dev.millrace.connectors.s3;

import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.SourceConformance;
import dev.millrace.testing.connector.SourceFault;
import dev.millrace.testing.connector.SourceOutside;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Of a source that looks for new objects. */
@ConformanceOf("source file")
@Tag("peers")
class S3SourceConformanceTest extends SourceConformance {
    @RegisterExtension
    static final SharedServer SERVER = new SharedServer();

    @Override
    protected SourceOutside outside() {
        return SERVER.outside("json", "mode", "follow", "s3.list_interval", "100 ms");
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(SourceFault fault) {
        catches(fault);
    }
}

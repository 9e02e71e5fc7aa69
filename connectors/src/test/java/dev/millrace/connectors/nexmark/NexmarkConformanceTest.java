package dev.millrace.connectors.nexmark;

import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.GivenSourceConformance;
import dev.millrace.testing.connector.SourceFault;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Of each table the same code; bids are the most. */
@ConformanceOf("source nexmark")
class NexmarkConformanceTest extends GivenSourceConformance {
    @Override
    protected Source source() {
        return new NexmarkSourceFactory().create(new Schema(List.of()), new Options(Map.of("events", "501")));
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(SourceFault fault) {
        catches(fault);
    }
}

package dev.millrace.connectors.datagen;

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

@ConformanceOf("source linear_road")
class LinearRoadConformanceTest extends GivenSourceConformance {
    @Override
    protected Source source() {
        return new LinearRoadSourceFactory().create(new Schema(List.of()), new Options(Map.of("events", "501")));
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(SourceFault fault) {
        catches(fault);
    }
}

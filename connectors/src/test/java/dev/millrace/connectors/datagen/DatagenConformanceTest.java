package dev.millrace.connectors.datagen;

import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.GivenSourceConformance;
import dev.millrace.testing.connector.SourceFault;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@ConformanceOf("source datagen")
class DatagenConformanceTest extends GivenSourceConformance {
    private static final Schema SCHEMA = Schema.of(
            new Field("id", DataType.BIGINT, false),
            new Field("ts", DataType.TIMESTAMP, false),
            new Field("note", DataType.TEXT, true));

    @Override
    protected Source source() {
        Map<String, String> options =
                Map.of("rows", "501", "id.kind", "sequence", "ts.jitter", "1s", "note.nulls", "0.5");
        return new DatagenSourceFactory().create(SCHEMA, new Options(options));
    }

    @ParameterizedTest
    @EnumSource
    void faultsAreCaught(SourceFault fault) {
        catches(fault);
    }
}

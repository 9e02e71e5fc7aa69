package dev.millrace.connectors.socket;

import dev.millrace.connector.Options;
import dev.millrace.connector.Source;
import dev.millrace.connectors.Connectors;
import dev.millrace.testing.connector.ConformanceOf;
import dev.millrace.testing.connector.GivenSourceConformance;
import dev.millrace.testing.connector.SourceFault;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Standard input, which is each process's own and knows no positions: another process that is given the same gives the same rows. */
@ConformanceOf("source stdin")
class StdinConformanceTest extends GivenSourceConformance {
    private static final Schema SCHEMA = Schema.of(new Field("id", DataType.BIGINT, false));
    private static final int MOST_BYTES = 700; // at a time
    private static final String INPUT = "no JSON\n"
            + IntStream.range(0, 500).mapToObj(id -> "{\"id\": " + id + "}").collect(Collectors.joining("\n"));

    @Override
    protected Source source() {
        return new StdinSourceFactory(Connectors.formats(), Pipe::new).create(SCHEMA, new Options(Map.of()));
    }

    /** Gives some bytes at a time. */
    private static final class Pipe extends ByteArrayInputStream {
        Pipe() {
            super(INPUT.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public int read(byte[] bytes, int offset, int length) {
            return super.read(bytes, offset, Math.min(length, MOST_BYTES));
        }
    }

    @Override
    protected int rejected() {
        return 1;
    }

    /** Of a process that ends nothing is left: no position can be forgotten. */
    @ParameterizedTest
    @EnumSource(names = {"NONE", "LOSES_A_BATCH"})
    void faultsAreCaught(SourceFault fault) {
        catches(fault);
    }
}

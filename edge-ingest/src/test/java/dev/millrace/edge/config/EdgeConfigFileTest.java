package dev.millrace.edge.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.queue.WhenFull;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.sketch.schema.Bound;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class EdgeConfigFileTest {
    private static final String WHOLE = """
            device = fleet/pump-7
            data = /var/lib/edge
            server { address = "[::1]:5434", token = secret }
            queue { size = 8m, when-full = coarser, coarsest = 3 }
            commit = 2s
            streams {
              plant {
                columns = ["ts timestamptz", "machine text", "temp double precision"]
                time = ts
                key = machine
                input { type = file, path = /tmp/x.csv, format = csv, delimiter = ";" }
                sketch { error = 1%, segment = 5m, errors { temp = 0.5 abs } }
              }
            }
            """;

    @Test
    void aWholeFileIsRead() {
        EdgeConfig config = EdgeConfigFile.parse(WHOLE, "edge.conf");
        EdgeConfig.Server server = config.server().orElseThrow();
        assertEquals("::1", server.peer().host());
        assertEquals(5434, server.peer().port());
        assertEquals("fleet", server.user(), "the role is what is before the slash");
        assertTrue(server.peer().tls());
        assertFalse(config.toString().contains("secret"), config.toString());
        assertEquals(new EdgeConfig.Queue(8 << 20, WhenFull.COARSER, 3), config.queue());
        assertEquals(2_000_000, config.commitMicros());
        EdgeConfig.StreamConfig stream = config.streams().get(0);
        assertEquals(1, stream.key().orElseThrow());
        assertEquals(300_000_000, stream.settings().segmentMicros());
        assertEquals(Bound.absolute(.5), stream.settings().bound("temp", true));
        assertEquals(Bound.ofRange(.01), stream.settings().bound("other", true));
        assertEquals(";", stream.input().options().get("delimiter"));
    }

    @Test
    void aServerMayBeBehindABroker() {
        String text =
                WHOLE.replace("token = secret", "token = secret, transport = mqtt, topic = a/b, broker-password = x");
        EdgeConfig config = EdgeConfigFile.parse(text, "edge.conf");
        EdgeConfig.Broker broker = config.server().orElseThrow().broker().orElseThrow();
        assertEquals("a/b", broker.topic());
        assertEquals(Optional.empty(), broker.clientId());
        assertEquals(Optional.of("x"), broker.password());
        assertEquals(
                Optional.empty(),
                EdgeConfigFile.parse(WHOLE, "edge.conf").server().orElseThrow().broker());
    }

    @Test
    void anInputMayHaveSeveralTopicsAndIsKnownToTheBrokerByDeviceAndStream() {
        String text = WHOLE.replace(
                "type = file, path = /tmp/x.csv", "type = mqtt, url = \"mqtt://b\", topics = [\"a/+\", b]");
        EdgeConfig.InputConfig input =
                EdgeConfigFile.parse(text, "edge.conf").streams().get(0).input();
        assertEquals("a/+\nb", input.options().get("topics"));
        assertEquals("millrace-edge/fleet/pump-7/plant", input.options().get("client_id"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "size = 8m | sise = 8m | edge.conf: 4: Invalid value at 'queue.sise': there is no such option; did you mean \"size\"?",
                "size = 8m | size = 8k | edge.conf: 4: Invalid value at 'queue.size': must be at least 1m, not 8192 bytes",
                "when-full = coarser | when-full = never | edge.conf: 4: Invalid value at 'queue.when-full': is oldest, newest or coarser, not \"never\"",
                "machine text | machine words | edge.conf: 8: Invalid value at 'streams.\"plant\".columns': has \"machine words\", which is no name and type",
                "time = ts | time = temp | edge.conf: 9: Invalid value at 'streams.\"plant\".time': is a column of type timestamp",
                "key = machine | key = temp | edge.conf: 10: Invalid value at 'streams.\"plant\".key': is a column of type text",
                "type = file | type = fiel | edge.conf: 11: Invalid value at 'streams.\"plant\".input.type': is one of",
                "error = 1% | error = much | edge.conf: 12: Invalid value at 'streams.\"plant\".sketch': setting \"sketch.error\" cannot be \"much\"",
                "temp = 0.5 | tmp = 0.5 | edge.conf: 12: Invalid value at 'streams.\"plant\".sketch.error.tmp': there is no such column",
                "commit = 2s | commit = soon | edge.conf: 5: Invalid value at 'commit'",
                "data = /var | dada = /var | edge.conf: No configuration setting found for key 'data'",
                ":5434 | :x | edge.conf: 3: Invalid value at 'server.address': is host:port",
                "token = secret | token = secret, transport = mqtt, topic = \"a/#\" | edge.conf: 3: Invalid value at 'server.topic': is the beginning of topics",
                "token = secret | token = secret, transport = udp | edge.conf: 3: Invalid value at 'server.transport': is tcp or mqtt, not \"udp\"",
                "token = secret | token = secret, topic = a | edge.conf: 3: Invalid value at 'server.topic': there is no such option",
                "token = secret | token = secret, transport = mqtt, broker-password = a, broker-password-file = b | edge.conf: 3: Invalid value at 'server.broker-password': either broker-password or",
                "token = secret | tokn = secret | edge.conf: 3: Invalid value at 'server.token': either token or token-file",
            })
    void whatIsWrongIsNamedWithItsLine(String right, String wrong, String message) {
        MillraceException error = assertThrows(
                MillraceException.class, () -> EdgeConfigFile.parse(WHOLE.replace(right, wrong), "edge.conf"));
        assertEquals(SqlState.CONFIG_FILE_ERROR, error.sqlState());
        String text = error.getMessage();
        assertTrue(text.contains(message.replace("edge.conf: No", "No")), text);
    }
}

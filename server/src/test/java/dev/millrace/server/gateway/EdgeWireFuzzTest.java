package dev.millrace.server.gateway;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.edge.program.WindowProgram;
import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.wire.Message;
import dev.millrace.edge.wire.MessageCodec;
import dev.millrace.server.pgwire.Authentication;
import dev.millrace.server.session.TestDatabase;
import dev.millrace.sketch.schema.Binning;
import dev.millrace.sketch.schema.Bound;
import dev.millrace.sketch.schema.Feature;
import dev.millrace.sketch.schema.SketchSchema;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.testing.time.Eventually;
import dev.millrace.type.DataType;
import io.netty.buffer.ByteBufAllocator;
import io.netty.util.ResourceLeakDetector;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whatever devices send, the gateway goes on, frees what it took, tells nobody more than it may, and counts what it has. {@code
 * -Dmillrace.edge.wire.messages=N} sets after how many messages it ends (2,000), {@code -Dmillrace.edge.wire.seed=S} the seed,
 * which a failure names.
 */
@Tag("long")
class EdgeWireFuzzTest {
    private static final long MESSAGES = Long.getLong("millrace.edge.wire.messages", 2_000);
    private static final long SEED = Long.getLong("millrace.edge.wire.seed", 1);
    private static final int PATIENCE = 60_000; // milliseconds
    private static final int LISTENING = 100; // milliseconds
    private static final Set<Byte> ANSWERED = Set.of((byte) 1, (byte) 4); // kinds: HELLO, OPEN
    private static final int REPORT = 1_000_000;
    static final SketchSchema SCHEMA = new SketchSchema(
            "ts",
            SketchSchema.MICROS_PER_SECOND,
            0,
            List.of(new Feature("temp", DataType.DOUBLE, Bound.exact(), Binning.SMALLEST)));

    @TempDir
    private Path directory;

    private TestDatabase server;
    private EdgeGateway gateway;
    private WindowProgram program;
    private long messages;
    private long good; // segments of the device that does as it should

    @Test
    void noBytesOfDevicesHarmAnybody() throws Exception {
        List<String> leaks = Collections.synchronizedList(new ArrayList<>());
        ResourceLeakDetector.Level level = ResourceLeakDetector.getLevel();
        ResourceLeakDetector.setLevel(ResourceLeakDetector.Level.PARANOID);
        Logger logger = Logger.getLogger(ResourceLeakDetector.class.getName());
        Handler handler = collecting(leaks);
        logger.addHandler(handler);
        server = new TestDatabase(directory);
        try {
            begin();
            runAll();
            gateway.close();
            for (int i = 0;
                    i < 20;
                    i++) { // what was lost last is found when memory is taken after its references were cleared
                System.gc();
                ByteBufAllocator.DEFAULT.buffer(16).release();
            }
            assertEquals(List.of(), leaks);
        } finally {
            gateway.close();
            server.close();
            logger.removeHandler(handler);
            ResourceLeakDetector.setLevel(level);
        }
    }

    private static Handler collecting(List<String> messages) {
        return new Handler() {
            @Override
            public void publish(LogRecord record) {
                messages.add(record.getMessage());
            }

            @Override
            public void flush() {}

            @Override
            public void close() {}
        };
    }

    private void begin() {
        server.run(
                "CREATE STREAM plant (ts TIMESTAMP, temp DOUBLE PRECISION, WATERMARK FOR ts AS ts - INTERVAL '1 hour')"
                        + " WITH (connector = 'edge', include.device = 'device')");
        server.run("CREATE STREAM hidden (temp DOUBLE PRECISION) WITH (connector = 'edge')");
        server.run("CREATE MATERIALIZED VIEW seen AS SELECT device, count(*) AS n FROM plant GROUP BY device");
        server.run(
                "CREATE MATERIALIZED VIEW made WITH (run_at = 'edge') AS SELECT window_start, count(*) AS n, avg(temp) AS mean"
                        + " FROM TUMBLE(TABLE plant, DESCRIPTOR(ts), INTERVAL '5 seconds') GROUP BY window_start, window_end");
        program = WindowProgram.parse(server.database()
                .catalog()
                .object("made$windows")
                .orElseThrow()
                .options()
                .get(WindowProgram.STREAM_OPTION));
        server.run("CREATE ROLE fuzz LOGIN PASSWORD '" + HostileDevice.TOKEN + "'");
        server.run("CREATE ROLE good LOGIN PASSWORD 'good'");
        server.run("GRANT INSERT ON plant TO fuzz");
        server.run("GRANT INSERT ON plant TO good");
        gateway = EdgeGateway.listen(
                server.database(),
                new Authentication.Scram(
                        server.database()::secretOf, server.database().decoys()),
                List.of("localhost"),
                0,
                100,
                Optional.empty());
    }

    private void runAll() throws Exception {
        long reported = 0;
        for (long script = 0; messages < MESSAGES; script++) {
            long seed = SEED * 1_000_003 + script;
            try {
                HostileDevice device = new HostileDevice(seed, program);
                hostile(device, new Random(seed));
                if (script % 100 == 0) {
                    behave();
                    check();
                }
            } catch (IOException | AssertionError e) {
                throw new AssertionError(
                        e + " in script " + script + ", seed " + SEED + ", after " + messages + " messages", e);
            }
            if (messages - reported >= REPORT) {
                reported = messages;
                System.out.printf("%,d of %,d edge messages, seed %d%n", messages, MESSAGES, SEED);
            }
        }
        behave();
        check();
        assertTrue(
                server.flushedRows("SELECT device FROM millrace.edges WHERE rows > 0")
                                .size()
                        > 1,
                "what is hostile reaches what reads segments");
        assertTrue(
                server.flushedRows("SELECT device FROM millrace.edges WHERE window_rows > 0")
                                .size()
                        > 1,
                "and what reads partial aggregates");
        server.flushedRows("SELECT * FROM made"); // of which no partial was the end
    }

    /** What comes back to one that means no good: whole messages, then the end; nothing for who has no token, and nothing of a stream that it may not write to. */
    private void hostile(HostileDevice device, Random random) throws IOException {
        List<byte[]> frames = device.frames();
        messages += frames.size();
        try (Socket socket = new Socket("localhost", gateway.port())) {
            socket.setSoTimeout(PATIENCE);
            Semaphore answered = new Semaphore(0);
            Thread sender = new Thread(() -> send(socket, frames, answered, random), "hostile-device");
            sender.start();
            try {
                if (random.nextInt(20) == 0) {
                    return; // and listens to nothing
                }
                List<Message> answers = answers(socket, answered);
                if (!device.knowsToken()) {
                    assertTrue(
                            answers.stream().allMatch(Message.Refused.class::isInstance),
                            () -> "who has no token is told " + answers);
                }
                for (Message answer : answers) {
                    assertFalse(
                            answer instanceof Message.Hello
                                    || answer instanceof Message.Rows
                                    || answer instanceof Message.Status
                                    || answer instanceof Message.Ping,
                            () -> "no server says " + answer);
                }
            } finally {
                join(sender);
            }
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join(PATIENCE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        assertFalse(thread.isAlive(), "the gateway does not read, and does not close");
    }

    /** Mostly with the patience to hear of what was opened: what is sent before is not even looked at. */
    private static void send(Socket socket, List<byte[]> frames, Semaphore answered, Random random) {
        boolean patient = random.nextInt(4) > 0;
        try {
            OutputStream out = socket.getOutputStream();
            for (byte[] frame : frames) {
                int cut = random.nextInt(4) == 0 && frame.length > 0 ? random.nextInt(frame.length) : frame.length;
                out.write(frame, 0, cut);
                out.flush();
                out.write(frame, cut, frame.length - cut);
                if (patient
                        && frame.length > MessageCodec.HEAD_BYTES
                        && ANSWERED.contains(frame[MessageCodec.HEAD_BYTES])) {
                    answered.tryAcquire(LISTENING, TimeUnit.MILLISECONDS);
                }
            }
            socket.shutdownOutput();
        } catch (IOException e) {
            return; // the server has closed it, as it may
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static List<Message> answers(Socket socket, Semaphore answered) throws IOException {
        List<Message> answers = new ArrayList<>();
        try {
            DataInputStream in = new DataInputStream(socket.getInputStream());
            while (true) {
                answers.add(answer(in));
                answered.release();
            }
        } catch (EOFException e) {
            return answers;
        } catch (java.net.SocketException e) {
            return answers; // reset, as it had not read all that was sent
        } finally {
            answered.release(1000); // nobody waits for more
        }
    }

    private static Message answer(DataInputStream in) throws IOException {
        byte[] head = in.readNBytes(MessageCodec.HEAD_BYTES);
        if (head.length < MessageCodec.HEAD_BYTES) {
            throw new EOFException();
        }
        ByteBuffer of = ByteBuffer.wrap(head);
        byte[] contents = new byte[MessageCodec.length(of, MessageCodec.MOST_TO_DEVICE_BYTES)];
        in.readFully(contents);
        return MessageCodec.read(of.getInt(4), contents);
    }

    /** A device that does as it should is served as ever. */
    private void behave() throws IOException {
        List<byte[]> segments = new ArrayList<>();
        StreamEncoder encoder =
                new StreamEncoder(SCHEMA, EncoderOptions.defaults(), segment -> segments.add(segment.bytes()));
        for (int row = 0; row < 10; row++) {
            encoder.row(row).number(0, row);
        }
        encoder.flush();
        try (Socket socket = new Socket("localhost", gateway.port())) {
            socket.setSoTimeout(PATIENCE);
            DataInputStream in = new DataInputStream(socket.getInputStream());
            say(socket, new Message.Hello(Message.VERSION, "good", "good", "good", "good", 1, 0));
            assertTrue(answer(in) instanceof Message.Welcome);
            say(socket, new Message.Open(0, "plant", 0, Message.Open.WINDOWS));
            assertEquals(new Message.Opened(0, good, ""), answer(in));
            good++;
            say(socket, new Message.Rows(0, good, good, RecordKind.SEGMENT, 10, 0, 9, segments.get(0)));
            while (!answer(in)
                    .equals(new Message.Acknowledged(0, good))) {} // some are of before, as a query has less on disk
        }
    }

    private static void say(Socket socket, Message message) throws IOException {
        socket.getOutputStream().write(MessageCodec.frame(message));
    }

    /** What is counted is what is there, and nobody has sent what they may not. */
    private void check() {
        Eventually.holds(
                "what is counted of each device is what is there",
                () -> server.flushedRows("SELECT device FROM millrace.edges e"
                                + " WHERE rows <> coalesce((SELECT n FROM seen s WHERE s.device = e.device), 0)")
                        .isEmpty());
        assertEquals(List.of(Long.toString(10 * good)), server.flushedRows("SELECT n FROM seen WHERE device = 'good'"));
        assertEquals(
                List.of(),
                server.flushedRows("SELECT device FROM millrace.edges WHERE stream <> 'plant'"
                        + " OR device NOT IN ('good', 'fuzz', 'fuzz/0', 'fuzz/1', 'fuzz/2')"
                        + " OR shed_rows < 0 OR lost_segments < 0"));
    }
}

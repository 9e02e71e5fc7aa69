package dev.millrace.server.gateway;

import dev.millrace.edge.program.RowValues;
import dev.millrace.edge.program.WindowGroups;
import dev.millrace.edge.program.WindowProgram;
import dev.millrace.edge.queue.RecordKind;
import dev.millrace.edge.queue.Shedding;
import dev.millrace.edge.wire.Message;
import dev.millrace.edge.wire.MessageCodec;
import dev.millrace.sketch.stream.EncoderOptions;
import dev.millrace.sketch.stream.StreamEncoder;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.zip.CRC32C;

/** What one connection of a device sends that means no good: right messages, wrong ones, damaged ones, half ones, in any order. */
final class HostileDevice {
    static final String TOKEN = "right";
    static final String USER = "fuzz";

    private static final long[] NUMBERS = {
        0, 1, 2, 3, 5, 64, 65, 70, 1L << 31, 1L << 62, Long.MAX_VALUE - 1, Long.MAX_VALUE, -1, Long.MIN_VALUE
    };
    private static final String[] STREAMS = {"plant", "plant", "plant", "hidden", "none", "", "x".repeat(300), "pl\0ant"
    };

    private final Random random;
    private final boolean knowsToken;
    private final List<byte[]> segments = new ArrayList<>();
    private final byte[] partials;
    private byte[] version = {};

    /** @param program of windows of columns {@code ts} and {@code temp}, that a query has */
    HostileDevice(long seed, WindowProgram program) {
        this.random = new Random(seed);
        this.partials = partials(program);
        this.knowsToken = random.nextInt(4) != 0;
        StreamEncoder encoder = new StreamEncoder(
                EdgeWireFuzzTest.SCHEMA, EncoderOptions.defaults(), segment -> segments.add(segment.bytes()));
        for (int segment = 0; segment < 3; segment++) {
            for (int row = 0; row < 10; row++) {
                encoder.row(1_000_000L * row).number(0, row);
            }
            encoder.flush();
        }
        version = encoder.announcement().orElseThrow();
    }

    private static byte[] partials(WindowProgram program) {
        Schema columns = new Schema(
                List.of(new Field("ts", DataType.TIMESTAMP, true), new Field("temp", DataType.DOUBLE, true)));
        WindowGroups groups = new WindowGroups(program, columns);
        for (int row = 0; row < 10; row++) {
            groups.add(new Rows(), row, 1_000_000L * row);
        }
        return groups.takeAll().orElseThrow();
    }

    /** Of which each has its number as temperature. */
    private record Rows() implements RowValues {
        @Override
        public boolean isNull(int column, int row) {
            return false;
        }

        @Override
        public boolean truth(int column, int row) {
            throw new IllegalStateException("no column of truth values");
        }

        @Override
        public long whole(int column, int row) {
            return 1_000_000L * row;
        }

        @Override
        public double number(int column, int row) {
            return row;
        }

        @Override
        public String text(int column, int row) {
            throw new IllegalStateException("no column of texts");
        }
    }

    /** Whether the server has reason to let it in. */
    boolean knowsToken() {
        return knowsToken;
    }

    /** Frames, or what looks like them. */
    List<byte[]> frames() {
        List<byte[]> frames = new ArrayList<>();
        if (random.nextInt(10) > 0) {
            frames.add(MessageCodec.frame(hello(random.nextInt(10) > 0)));
        }
        boolean opens = random.nextInt(5) > 0;
        if (opens) {
            frames.add(MessageCodec.frame(new Message.Open(0, "plant", 0, Message.Open.WINDOWS)));
        }
        boolean calm = random.nextBoolean(); // has most messages right, so that what is behind them is reached
        long next = 1;
        for (int i = random.nextInt(40); i > 0; i--) {
            Message message = random.nextInt(3) > 0 ? rows(next++) : any();
            byte[] frame = MessageCodec.frame(message);
            frames.add(random.nextInt(calm ? 30 : 5) == 0 ? damaged(frame) : frame);
        }
        if (!calm) {
            int at = frames.isEmpty() ? 0 : random.nextInt(frames.size());
            java.util.Collections.shuffle(frames.subList(at, frames.size()), random);
        }
        return frames;
    }

    private Message.Hello hello(boolean right) {
        return new Message.Hello(
                right || random.nextBoolean() ? Message.VERSION : random.nextInt(),
                "hostile",
                right ? USER : text(),
                knowsToken ? TOKEN : text(),
                right ? USER + "/" + random.nextInt(3) : text(),
                random.nextInt(1000), // of its queue: with another one numbers begin again
                number());
    }

    private long number() {
        return random.nextBoolean() ? NUMBERS[random.nextInt(NUMBERS.length)] : random.nextInt(100);
    }

    private int stream() {
        return random.nextInt(10) > 0 ? 0 : (int) number();
    }

    private String text() {
        return switch (random.nextInt(4)) {
            case 0 -> "";
            case 1 -> "wrong";
            case 2 -> "\ud800\0\u202e".repeat(random.nextInt(200));
            default -> "y".repeat(random.nextInt(5000));
        };
    }

    private Message rows(long next) {
        long from = random.nextInt(8) > 0 ? next : Math.max(1, number());
        long to = random.nextInt(12) > 0 ? from : Math.max(from, Math.min(number(), Long.MAX_VALUE - 1));
        RecordKind kind = random.nextInt(8) > 0
                ? random.nextInt(3) > 0 ? RecordKind.SEGMENT : RecordKind.PARTIALS
                : RecordKind.values()[random.nextInt(RecordKind.values().length)];
        byte[] bytes = kind == RecordKind.PARTIALS ? partials : segments.get((int) ((next - 1) % segments.size()));
        if (random.nextInt(10) == 0) {
            bytes = flipped(bytes);
        }
        long rows = random.nextInt(10) > 0 ? 10 : Math.max(0, number());
        return new Message.Rows(stream(), from, to, kind, rows, number(), number(), bytes);
    }

    private Message any() {
        return switch (random.nextInt(14)) {
            case 0 -> hello(random.nextBoolean());
            case 1 -> new Message.Welcome(number());
            case 2 -> new Message.Refused(text(), text(), true);
            case 3, 4 ->
                new Message.Open(stream(), STREAMS[random.nextInt(STREAMS.length)], number(), random.nextInt(4));
            case 5 -> new Message.Opened(stream(), number(), text());
            case 6 -> new Message.Version(stream(), random.nextBoolean() ? version : flipped(version));
            case 7 -> new Message.Acknowledged(stream(), number());
            case 8 -> new Message.NeedVersions(stream());
            case 9 -> new Message.Set(stream(), number(), text());
            case 10 -> new Message.SetDone(stream(), number(), text());
            case 11 -> new Message.Ping(number(), number(), number());
            case 12 -> new Message.Pong(number(), number());
            default ->
                new Message.Status(
                        stream(),
                        number(),
                        number(),
                        number(),
                        number(),
                        number(),
                        number(),
                        new Shedding(number(), number(), number(), number(), number()),
                        text(),
                        number());
        };
    }

    private byte[] flipped(byte[] bytes) {
        byte[] copy = bytes.clone();
        for (int i = random.nextInt(3); i >= 0; i--) {
            copy[random.nextInt(copy.length)] ^= (byte) (1 << random.nextInt(8));
        }
        return copy;
    }

    private byte[] damaged(byte[] frame) {
        byte[] damaged = frame.clone();
        switch (random.nextInt(5)) {
            case 0 -> { // what is in it, with a checksum that fits
                byte[] contents = Arrays.copyOfRange(frame, MessageCodec.HEAD_BYTES, frame.length);
                byte[] other = flipped(contents);
                System.arraycopy(other, 0, damaged, MessageCodec.HEAD_BYTES, other.length);
                CRC32C crc = new CRC32C();
                crc.update(other);
                ByteBuffer.wrap(damaged).putInt(4, (int) crc.getValue());
            }
            case 1 -> damaged = flipped(frame);
            case 2 -> ByteBuffer.wrap(damaged).putInt(0, (int) number());
            case 3 -> damaged = Arrays.copyOf(frame, random.nextInt(frame.length));
            default -> { // shorter contents, with a checksum that fits
                int length = 1 + random.nextInt(frame.length - MessageCodec.HEAD_BYTES);
                damaged = Arrays.copyOf(frame, MessageCodec.HEAD_BYTES + length);
                CRC32C crc = new CRC32C();
                crc.update(damaged, MessageCodec.HEAD_BYTES, length);
                ByteBuffer.wrap(damaged).putInt(length).putInt((int) crc.getValue());
            }
        }
        return damaged;
    }
}

package dev.millrace.engine.checkpoint;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInput;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.RootAllocator;
import org.junit.jupiter.api.Test;

/** Parts are read as they were written, however they are cut into chunks and whatever comes with one read. */
class SectionInputTest {
    /** A section of two parts, in chunks of random lengths. */
    private static byte[] section(byte[] contents, SplittableRandom random, int mostOfChunk) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        DataOutputStream out = new DataOutputStream(bytes);
        for (int part = 0; part < 2; part++) {
            ByteArrayOutputStream head = new ByteArrayOutputStream();
            DataOutputStream to = new DataOutputStream(head);
            to.writeUTF("part " + part);
            to.writeShort(1);
            to.writeLong(17);
            to.writeShort(part - 1);
            to.write(contents);
            byte[] all = head.toByteArray();
            boolean begun = false;
            for (int from = 0; from < all.length; ) {
                int length = Math.min(all.length - from, random.nextInt(mostOfChunk + 1)); // 0 sometimes
                out.writeByte(begun ? SectionOutput.MORE : SectionOutput.PART);
                begun = true;
                out.writeInt(length);
                out.write(all, from, length);
                from += length;
            }
        }
        out.writeByte(SectionOutput.END);
        return bytes.toByteArray();
    }

    /** Gives some bytes at a time. */
    private static InputStream inPieces(byte[] bytes, SplittableRandom random, int most) {
        return new ByteArrayInputStream(bytes) {
            @Override
            public synchronized int read(byte[] into, int offset, int length) {
                return super.read(into, offset, Math.min(length, 1 + random.nextInt(most)));
            }
        };
    }

    @Test
    void allKindsOfValuesComeBackAcrossChunksAndReads() throws IOException {
        SplittableRandom random = new SplittableRandom(5);
        for (int round = 0; round < 60; round++) {
            long seed = random.nextLong();
            ByteArrayOutputStream contents = new ByteArrayOutputStream();
            write(new SplittableRandom(seed), new DataOutputStream(contents));
            byte[] section = section(contents.toByteArray(), random, 1 + random.nextInt(round < 30 ? 9 : 5_000));
            try (SectionInput input = new SectionInput(
                    "s", inPieces(section, random, 1 + random.nextInt(round % 2 == 0 ? 11 : 100_000)))) {
                assertTrue(input.next());
                assertEquals("part 0", input.name());
                assertEquals(-1, input.group());
                if (random.nextBoolean()) {
                    assertEquals(5, input.part().skipBytes(5)); // and the rest is passed over
                } else {
                    read(new SplittableRandom(seed), input.part());
                    assertThrows(EOFException.class, () -> input.part().readByte());
                    assertEquals(0, input.part().skipBytes(1));
                }
                assertTrue(input.next());
                assertEquals(0, input.group());
                read(new SplittableRandom(seed), input.part());
                assertThrows(EOFException.class, () -> input.part().readLong());
                assertFalse(input.next());
            }
        }
    }

    private static void write(SplittableRandom random, DataOutputStream out) throws IOException {
        for (int i = 0; i < 200; i++) {
            switch (random.nextInt(8)) {
                case 0 -> out.writeByte(random.nextInt());
                case 1 -> out.writeShort(random.nextInt());
                case 2 -> out.writeInt(random.nextInt());
                case 3 -> out.writeLong(random.nextLong());
                case 4 -> out.writeDouble(random.nextDouble());
                case 5 -> out.writeUTF("text " + random.nextInt());
                default -> out.write(bytes(random));
            }
        }
    }

    private static byte[] bytes(SplittableRandom random) {
        byte[] bytes = new byte[random.nextInt(500)];
        random.nextBytes(bytes);
        return bytes;
    }

    private static void read(SplittableRandom random, DataInput in) throws IOException {
        try (RootAllocator allocator = new RootAllocator(1 << 20);
                ArrowBuf memory = allocator.buffer(500)) {
            for (int i = 0; i < 200; i++) {
                switch (random.nextInt(8)) {
                    case 0 -> assertEquals((byte) random.nextInt(), in.readByte());
                    case 1 -> assertEquals((short) random.nextInt(), in.readShort());
                    case 2 -> assertEquals(random.nextInt(), in.readInt());
                    case 3 -> assertEquals(random.nextLong(), in.readLong());
                    case 4 -> assertEquals(random.nextDouble(), in.readDouble());
                    case 5 -> assertEquals("text " + random.nextInt(), in.readUTF());
                    default -> {
                        byte[] expected = bytes(random);
                        byte[] found = new byte[expected.length];
                        SectionInput.readBytes(in, memory.memoryAddress(), expected.length);
                        Memory.copyOut(memory.memoryAddress(), found, 0, found.length);
                        assertArrayEquals(expected, found);
                    }
                }
            }
        }
    }

    @Test
    void aSectionThatIsCutShortIsDamaged() throws IOException {
        SplittableRandom random = new SplittableRandom(6);
        byte[] section = section(new byte[300], random, 50);
        for (int length = 0; length < section.length; length++) {
            byte[] cut = Arrays.copyOf(section, length);
            MillraceException damaged = assertThrows(MillraceException.class, () -> {
                try (SectionInput input = new SectionInput("s", inPieces(cut, random, 7))) {
                    while (input.next()) {
                        input.part().readFully(new byte[300]);
                    }
                }
            });
            assertEquals(SqlState.DATA_CORRUPTED, damaged.sqlState());
        }
    }

    @Test
    void whatHasLessThanNoBytesIsRefused() throws IOException {
        byte[] section = section(new byte[] {-1, -1, -1, -2}, new SplittableRandom(1), 50);
        try (SectionInput input = new SectionInput("s", new ByteArrayInputStream(section))) {
            assertTrue(input.next());
            assertThrows(EOFException.class, () -> SectionInput.readLength(input.part()));
        }
    }
}

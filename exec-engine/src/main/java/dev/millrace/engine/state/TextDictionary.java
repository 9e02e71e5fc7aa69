package dev.millrace.engine.state;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.expressions.function.bytes.Bytes;
import dev.millrace.memory.Memory;
import java.util.Arrays;
import org.apache.arrow.memory.BufferAllocator;

/**
 * The longer texts of a column, numbered as they come, so that rows keep a number instead of a text that many of them
 * share. It gives up when few do: what it has stays, but nothing is looked up any more. Texts are never removed.
 *
 * <pre>
 *   slot  hash's high 16 bits &lt;&lt; 48 | address of the text, 0 where none is; on a mismatch go on with the next
 *   text  its number and its length, 4 bytes each | bytes
 * </pre>
 *
 * Many texts are looked up together, in loops whose turns do not wait for each other: the texts lie scattered in memory.
 */
final class TextDictionary implements AutoCloseable {
    /** How many texts there can be. */
    static final int MOST = 1 << 15;

    private static final int LEAST_BYTES = 24; // shorter texts are not worth a look
    private static final int LARGEST_BYTES = 256;
    private static final int TRIAL = 1 << 12; // lookups, at least, between two decisions whether it is worth its while
    private static final int MOST_TRIES = 32; // at a load of at most a half
    private static final int HEADER = 8;
    private static final long ADDRESS = (1L << 48) - 1;

    private final StateMemory memory;
    private long[] slots = new long[1 << 8];
    private long[] texts = new long[1 << 6]; // addresses by number
    private long[] hashes = new long[0]; // of those looked up
    private long[] found = new long[0];
    private long touched; // keeps the JIT from dropping the loads of load
    private int size;
    private int lookups;
    private int hits;
    private boolean active = true;

    TextDictionary(BufferAllocator allocator) {
        this.memory = new StateMemory(allocator);
    }

    /** Looks for texts; a number is -1 where a text has none. New ones are added while there is room. */
    void find(long[] addresses, int[] lengths, int count, int[] numbers) {
        if (!active) {
            Arrays.fill(numbers, 0, count, -1);
            return;
        }
        if (hashes.length < count) {
            hashes = new long[count];
            found = new long[count];
        }
        long any = 0;
        for (int i = 0; i < count; i++) {
            hashes[i] = lengths[i] < LEAST_BYTES || lengths[i] > LARGEST_BYTES ? 0 : hash(addresses[i], lengths[i]);
            any |= hashes[i];
        }
        if (any == 0) {
            Arrays.fill(numbers, 0, count, -1);
            return;
        }
        load(count);
        for (int i = 0; i < count; i++) {
            long text = found[i] & ADDRESS;
            if (hashes[i] == 0) {
                numbers[i] = -1;
            } else if ((found[i] ^ hashes[i]) >>> 48 == 0 && text != 0 && holds(text, addresses[i], lengths[i])) {
                numbers[i] = Memory.getInt(text);
                lookups++;
                hits++;
            } else {
                numbers[i] = findOrAdd(hashes[i], addresses[i], lengths[i]);
                lookups++;
            }
        }
        if (lookups >= TRIAL) {
            active = 2L * hits >= lookups || size <= TRIAL; // until so many are known, little can be said
            lookups = 0;
            hits = 0;
        }
    }

    /** Loads what the hashes lead to, with nothing that waits for it. */
    private void load(int count) {
        int mask = slots.length - 1;
        for (int i = 0; i < count; i++) {
            found[i] = slots[(int) hashes[i] & mask];
        }
        if (size > 0) {
            long sum = 0;
            for (int i = 0; i < count; i++) {
                sum ^= Memory.getInt(found[i] == 0 ? texts[0] : found[i] & ADDRESS);
            }
            touched = sum;
        }
    }

    /**
     * Of the length, the first 16 and the last 16 bytes and 8 in the middle, which may overlap: texts that many rows share
     * rarely differ nowhere there. Those that do are only found while they are few.
     */
    private static long hash(long address, int length) {
        long end = address + length;
        long a = (length ^ Memory.getLong(address)) * 0xD6E8FEB86659FD93L;
        long b = (Memory.getLong(address + 8) ^ Long.rotateLeft(Memory.getLong(address + (length >>> 1) - 4), 31))
                * 0xA0761D6478BD642FL;
        long c = (Memory.getLong(end - 16) ^ a >>> 32) * 0xE7037ED1A0B428DBL;
        long d = (Memory.getLong(end - 8) ^ b >>> 29) * 0x8EBC6AF09C88C6E3L;
        long hash = (c ^ c >>> 31 ^ Long.rotateLeft(d, 23)) * 0x9E3779B97F4A7C15L;
        return (hash ^ hash >>> 31) | 1L << 40; // never 0
    }

    private static boolean holds(long text, long address, int length) {
        return Memory.getInt(text + 4) == length && Memory.equal(text + HEADER, address, length);
    }

    private int findOrAdd(long hash, long address, int length) {
        int mask = slots.length - 1;
        int slot = (int) hash & mask;
        for (int tries = 0; slots[slot] != 0; slot = slot + 1 & mask) {
            if (++tries > MOST_TRIES) {
                return -1;
            }
            long text = slots[slot] & ADDRESS;
            if ((slots[slot] ^ hash) >>> 48 == 0 && holds(text, address, length)) {
                hits++;
                return Memory.getInt(text);
            }
        }
        return size < MOST ? add(slot, hash, address, length) : -1;
    }

    private int add(int slot, long hash, long address, int length) {
        long text = memory.allocate(HEADER + length);
        Memory.putInt(text, size);
        Memory.putInt(text + 4, length);
        Bytes.copy(address, text + HEADER, length);
        if (size == texts.length) {
            texts = Arrays.copyOf(texts, 2 * size);
        }
        texts[size++] = text;
        slots[slot] = hash >>> 48 << 48 | text;
        if (2 * size > slots.length) {
            rehash();
        }
        return size - 1;
    }

    private void rehash() {
        slots = new long[4 * slots.length];
        int mask = slots.length - 1;
        for (int number = 0; number < size; number++) {
            long hash = hash(address(number), length(number));
            int slot = (int) hash & mask;
            while (slots[slot] != 0) {
                slot = slot + 1 & mask;
            }
            slots[slot] = hash >>> 48 << 48 | texts[number];
        }
    }

    long address(int number) {
        return texts[number] + HEADER;
    }

    int length(int number) {
        return Memory.getInt(texts[number] + 4);
    }

    long bytes() {
        return memory.bytes() + 8L * (slots.length + texts.length);
    }

    @Override
    public void close() {
        memory.close();
    }
}

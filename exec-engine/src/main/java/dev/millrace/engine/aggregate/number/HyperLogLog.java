package dev.millrace.engine.aggregate.number;

import dev.millrace.engine.state.memory.StateMemory;
import dev.millrace.memory.Memory;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Sketches that tell how many different hashes they have seen: exactly while they are few, then within some percent (the standard
 * error is 1.04 / 64) by 2^12 registers, each of which keeps the greatest rank, the place of the first one bit, among the hashes that
 * are its own (Flajolet and others, "HyperLogLog", AofA 2007). The estimate is Ertl's, of the counts of registers by rank ("New cardinality
 * estimation algorithms for HyperLogLog sketches", arXiv 1702.01284, algorithm 6), which needs no correction for few or many.
 *
 * <p>Few hashes are kept as a set of <em>coupons</em>: the high 26 bits of the hash above the rank of the others, as HyperLogLog++ does
 * (Heule and others, EDBT 2013, section 5.3), which say all that a register would have to know of them. What a sketch holds, and so
 * its estimate, depends on which hashes it has seen and neither on their order nor on how they were partitioned, merged and restored.
 *
 * <p>A sketch belongs to a slot of eight bytes, which holds its address, 0 for one that has seen nothing:
 *
 * <pre>
 *   few:  coupons, 4 bytes | lg of the table's size, 4 bytes | the table: a coupon of 4 bytes each, 0 for none
 *   many: -1, 4 bytes | unused, 4 bytes | how many registers have each rank, 2 bytes each | the registers, a byte each
 * </pre>
 *
 * For one thread at a time.
 */
public final class HyperLogLog {
    /** Registers as a power of two. */
    private static final int LG_REGISTERS = 12;

    private static final int REGISTERS = 1 << LG_REGISTERS;
    private static final int INDEX_BITS = 26; // of a coupon
    private static final int RANK_BITS = 6;
    private static final int MOST_RANK = Long.SIZE - LG_REGISTERS + 1; // of a register whose other bits are all zero
    private static final int LG_FIRST_TABLE = 3;
    private static final int LG_LAST_TABLE = 9; // half as large as the registers
    private static final int MANY = -1;
    private static final int HEADER_BYTES = 8;
    private static final int RANKS_BYTES = (2 * (MOST_RANK + 1) + 7) / 8 * 8;
    private static final int MANY_BYTES = HEADER_BYTES + RANKS_BYTES + REGISTERS;
    private static final double BIAS = 1 / (2 * Math.log(2)); // of registers without number

    private final StateMemory memory;

    /** @param memory where the sketches are */
    public HyperLogLog(StateMemory memory) {
        this.memory = memory;
    }

    /** Spreads what tells values apart over all bits of a hash (Stafford's thirteenth mixer). */
    public static long hash(long bits) {
        long hash = bits + 0x9E3779B97F4A7C15L;
        hash = (hash ^ hash >>> 30) * 0xBF58476D1CE4E5B9L;
        hash = (hash ^ hash >>> 27) * 0x94D049BB133111EBL;
        return hash ^ hash >>> 31;
    }

    /** Adds a hash to the sketch of a slot. */
    public void add(long slot, long hash) {
        int index = (int) (hash >>> Long.SIZE - INDEX_BITS);
        int rank = Long.numberOfLeadingZeros(hash << INDEX_BITS | 1L << INDEX_BITS - 1) + 1;
        addCoupon(slot, index << RANK_BITS | rank);
    }

    private void addCoupon(long slot, int coupon) {
        long sketch = Memory.getLong(slot);
        if (sketch == 0) {
            sketch = newTable(LG_FIRST_TABLE);
            Memory.putLong(slot, sketch);
        }
        int count = Memory.getInt(sketch);
        if (count == MANY) {
            raise(sketch, coupon);
        } else if (put(sketch, coupon)) {
            int lgTable = Memory.getInt(sketch + 4);
            if (count + 1 > 3 << lgTable - 2) {
                grow(slot, sketch, lgTable);
            }
        }
    }

    private long newTable(int lgTable) {
        long sketch = memory.allocate(tableBytes(lgTable));
        Memory.fill(sketch, tableBytes(lgTable), (byte) 0);
        Memory.putInt(sketch + 4, lgTable);
        return sketch;
    }

    private static int tableBytes(int lgTable) {
        return HEADER_BYTES + (4 << lgTable);
    }

    /** Whether a coupon is new to a sketch of few, which has room for it. */
    private static boolean put(long sketch, int coupon) {
        int mask = (1 << Memory.getInt(sketch + 4)) - 1;
        int place = coupon >>> RANK_BITS & mask;
        int there = Memory.getInt(sketch + HEADER_BYTES + 4L * place);
        while (there != 0) {
            if (there == coupon) {
                return false;
            }
            place = place + 1 & mask;
            there = Memory.getInt(sketch + HEADER_BYTES + 4L * place);
        }
        Memory.putInt(sketch + HEADER_BYTES + 4L * place, coupon);
        Memory.putInt(sketch, Memory.getInt(sketch) + 1);
        return true;
    }

    /** Moves coupons to a larger table, or to registers if there are too many. */
    private void grow(long slot, long sketch, int lgTable) {
        if (lgTable == LG_LAST_TABLE) {
            toRegisters(slot);
            return;
        }
        long larger = newTable(lgTable + 1);
        for (int place = 0; place < 1 << lgTable; place++) {
            int coupon = Memory.getInt(sketch + HEADER_BYTES + 4L * place);
            if (coupon != 0) {
                put(larger, coupon);
            }
        }
        Memory.putLong(slot, larger);
        memory.free(sketch, tableBytes(lgTable));
    }

    /** Has a slot's sketch keep registers from now on; returns it. */
    private long toRegisters(long slot) {
        long few = Memory.getLong(slot);
        if (few != 0 && Memory.getInt(few) == MANY) {
            return few;
        }
        long many = memory.allocate(MANY_BYTES);
        Memory.fill(many, MANY_BYTES, (byte) 0);
        Memory.putInt(many, MANY);
        Memory.putShort(ranks(many), (short) REGISTERS);
        if (few != 0) {
            int lgTable = Memory.getInt(few + 4);
            for (int place = 0; place < 1 << lgTable; place++) {
                int coupon = Memory.getInt(few + HEADER_BYTES + 4L * place);
                if (coupon != 0) {
                    raise(many, coupon);
                }
            }
            memory.free(few, tableBytes(lgTable));
        }
        Memory.putLong(slot, many);
        return many;
    }

    private static long ranks(long many) {
        return many + HEADER_BYTES;
    }

    private static long registers(long many) {
        return many + HEADER_BYTES + RANKS_BYTES;
    }

    /** Shows a coupon to its register: the bits of its index behind the register's come before those that its rank is of. */
    private static void raise(long many, int coupon) {
        int behindBits = INDEX_BITS - LG_REGISTERS;
        int index = coupon >>> RANK_BITS;
        int behind = index & (1 << behindBits) - 1;
        int rank = behind == 0
                ? behindBits + (coupon & (1 << RANK_BITS) - 1)
                : Integer.numberOfLeadingZeros(behind) - (Integer.SIZE - behindBits) + 1;
        raise(many, index >>> behindBits, rank);
    }

    private static void raise(long many, int register, int rank) {
        long address = registers(many) + register;
        int before = Memory.getByte(address);
        if (rank > before) {
            Memory.putByte(address, (byte) rank);
            long was = ranks(many) + 2L * before;
            long is = ranks(many) + 2L * rank;
            Memory.putShort(was, (short) (Memory.getShort(was) - 1));
            Memory.putShort(is, (short) (Memory.getShort(is) + 1));
        }
    }

    /** Adds what another slot's sketch has seen to the sketch of a slot. */
    public void merge(long from, long to) {
        long sketch = Memory.getLong(from);
        if (sketch == 0) {
            return;
        }
        if (Memory.getInt(sketch) == MANY) {
            long many = toRegisters(to);
            for (int register = 0; register < REGISTERS; register++) {
                raise(many, register, Memory.getByte(registers(sketch) + register));
            }
            return;
        }
        int lgTable = Memory.getInt(sketch + 4);
        for (int place = 0; place < 1 << lgTable; place++) {
            int coupon = Memory.getInt(sketch + HEADER_BYTES + 4L * place);
            if (coupon != 0) {
                addCoupon(to, coupon);
            }
        }
    }

    /** About how many different hashes the sketch of a slot has seen. */
    public static double estimate(long slot) {
        long sketch = Memory.getLong(slot);
        if (sketch == 0) {
            return 0;
        }
        int count = Memory.getInt(sketch);
        if (count != MANY) {
            return count;
        }
        double sum = REGISTERS * atMostRank(1 - registersOf(sketch, MOST_RANK) / (double) REGISTERS);
        for (int rank = MOST_RANK - 1; rank > 0; rank--) {
            sum = 0.5 * (sum + registersOf(sketch, rank));
        }
        sum += REGISTERS * unused(registersOf(sketch, 0) / (double) REGISTERS);
        return BIAS * REGISTERS * REGISTERS / sum;
    }

    private static int registersOf(long many, int rank) {
        return Memory.getShort(ranks(many) + 2L * rank);
    }

    /** The part in the estimate's sum of the registers that have seen nothing, by their share: Ertl's sigma. */
    private static double unused(double share) {
        double power = share;
        double weight = 1;
        double sum = share;
        for (double before = -1; sum != before; weight *= 2) {
            before = sum;
            power *= power;
            sum += power * weight;
        }
        return sum;
    }

    /** The part in the estimate's sum of the registers whose rank can grow no more, by the share of the others: Ertl's tau. */
    private static double atMostRank(double share) {
        double root = share;
        double weight = 1;
        double sum = 1 - share;
        for (double before = -1; sum != before; ) {
            before = sum;
            root = Math.sqrt(root);
            weight /= 2;
            sum -= (1 - root) * (1 - root) * weight;
        }
        return sum / 3;
    }

    /** Frees the sketch of a slot, which then has seen nothing. */
    public void remove(long slot) {
        long sketch = Memory.getLong(slot);
        if (sketch != 0) {
            boolean isMany = Memory.getInt(sketch) == MANY;
            memory.free(sketch, isMany ? MANY_BYTES : tableBytes(Memory.getInt(sketch + 4)));
            Memory.putLong(slot, 0);
        }
    }

    /**
     * Writes the sketch of a slot, big-endian: how many coupons (4 bytes), and these (4 bytes each); or -1, and the registers' ranks by
     * number (a byte each).
     */
    public static void write(long slot, DataOutput out) throws IOException {
        long sketch = Memory.getLong(slot);
        int count = sketch == 0 ? 0 : Memory.getInt(sketch);
        out.writeInt(count);
        if (count == MANY) {
            byte[] ranks = new byte[REGISTERS];
            Memory.copyOut(registers(sketch), ranks, 0, REGISTERS);
            out.write(ranks);
        } else if (sketch != 0) {
            for (int place = 0; place < 1 << Memory.getInt(sketch + 4); place++) {
                int coupon = Memory.getInt(sketch + HEADER_BYTES + 4L * place);
                if (coupon != 0) {
                    out.writeInt(coupon);
                }
            }
        }
    }

    /** Adds what was written to the sketch of a slot. */
    public void read(long slot, DataInput in) throws IOException {
        int count = in.readInt();
        if (count == MANY) {
            byte[] ranks = new byte[REGISTERS];
            in.readFully(ranks);
            long many = toRegisters(slot);
            for (int register = 0; register < REGISTERS; register++) {
                raise(many, register, ranks[register]);
            }
        } else {
            for (int i = 0; i < count; i++) {
                addCoupon(slot, in.readInt());
            }
        }
    }
}

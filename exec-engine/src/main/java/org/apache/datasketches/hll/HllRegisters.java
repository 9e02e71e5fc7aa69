package org.apache.datasketches.hll;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/**
 * Opens the one door that DataSketches keeps to its own package: what a sketch on the heap holds. Its own serial form goes
 * through datasketches-memory, which refuses every JDK after 21; this one is bytes and nothing else. Nothing else of ours
 * lives in this package.
 *
 * <p>The serial form of a sketch of {@code k} registers, big-endian:
 *
 * <table>
 * <caption>fields in their order</caption>
 * <tr><td>int</td><td>{@code n}: how many values it has seen while few, or -1 when it has registers</td></tr>
 * <tr><td>n ints</td><td>a coupon each: the register's number in the low 26 bits, its value in the high 6</td></tr>
 * <tr><td>k bytes</td><td>if n is -1: the registers' values by number</td></tr>
 * </table>
 */
public final class HllRegisters {
    private static final int ALL_REGISTERS = -1;

    private HllRegisters() {}

    public static void write(HllSketch sketch, DataOutput out) throws IOException {
        if (sketch.getCurMode() == CurMode.HLL) {
            byte[] registers = new byte[1 << sketch.getLgConfigK()];
            for (PairIterator each = sketch.iterator(); each.nextValid(); ) {
                registers[each.getIndex()] = (byte) each.getValue();
            }
            out.writeInt(ALL_REGISTERS);
            out.write(registers);
            return;
        }
        int coupons = 0;
        for (PairIterator each = sketch.iterator(); each.nextValid(); ) {
            coupons++;
        }
        out.writeInt(coupons);
        for (PairIterator each = sketch.iterator(); each.nextValid(); ) {
            out.writeInt(each.getPair());
        }
    }

    /** A sketch that estimates and merges as the one that was written, of {@code 1 << lgRegisters} registers. */
    public static HllSketch read(int lgRegisters, DataInput in) throws IOException {
        int coupons = in.readInt();
        if (coupons != ALL_REGISTERS) {
            HllSketch sketch = new HllSketch(lgRegisters, TgtHllType.HLL_8);
            for (int i = 0; i < coupons; i++) {
                sketch.couponUpdate(in.readInt());
            }
            return sketch;
        }
        byte[] registers = new byte[1 << lgRegisters];
        in.readFully(registers);
        HllSketch sketch = new HllSketch(new Hll8Array(lgRegisters));
        for (int register = 0; register < registers.length; register++) {
            if (registers[register] != 0) {
                sketch.couponUpdate(HllUtil.pair(register, registers[register]));
            }
        }
        return sketch;
    }
}

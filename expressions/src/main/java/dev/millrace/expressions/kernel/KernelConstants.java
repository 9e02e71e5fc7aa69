package dev.millrace.expressions.kernel;

import dev.millrace.batch.NestedImages;
import dev.millrace.batch.Owned;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.type.DataType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.UUID;
import org.apache.arrow.memory.ArrowBuf;
import org.apache.arrow.memory.BufferAllocator;

/** The constants of a kernel, as its constructor reads them, and all memory of the kernel. */
public final class KernelConstants implements AutoCloseable {
    private final BufferAllocator allocator;
    private final List<Literal> literals;
    private final List<DataType> types;
    private final List<GeneratedCode> parts;
    private final long[] addresses;
    private final int[] lengths;
    private final Owned owned = new Owned();

    /**
     * @param types that the kernel's functions over arrays, rows and JSON ask for
     * @param parts of the kernel that are classes of their own
     */
    public KernelConstants(
            BufferAllocator allocator, List<Literal> literals, List<DataType> types, List<GeneratedCode> parts) {
        this.allocator = allocator;
        this.parts = parts;
        this.types = List.copyOf(types);
        this.literals = List.copyOf(literals);
        this.addresses = new long[literals.size()];
        this.lengths = new int[literals.size()];
        byte[][] bytes = new byte[literals.size()][];
        long total = 0;
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = bytesOf(literals.get(i));
            total += bytes[i].length;
        }
        ArrowBuf texts = own(allocator.buffer(Math.max(1, total)));
        long at = texts.memoryAddress();
        for (int i = 0; i < bytes.length; i++) {
            addresses[i] = at;
            lengths[i] = bytes[i].length;
            Memory.copyIn(bytes[i], 0, at, bytes[i].length);
            at += bytes[i].length;
        }
    }

    private static byte[] bytesOf(Literal literal) {
        if (literal.value() instanceof String text) {
            return text.getBytes(StandardCharsets.UTF_8);
        }
        if (literal.value() instanceof Bignum number) {
            return number.toBytes();
        }
        if (literal.type().isNested()) {
            return LiteralImage.of(literal);
        }
        if (literal.value() instanceof List<?> list) {
            byte[] bytes = new byte[list.size()];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = (Byte) list.get(i);
            }
            return bytes;
        }
        return new byte[0];
    }

    /** Where the kernel takes its memory from. */
    public BufferAllocator allocator() {
        return allocator;
    }

    /** Closes a thing with the literals: what the kernel's constructor makes is freed also when that fails. */
    <T extends AutoCloseable> T own(T resource) {
        return owned.own(resource);
    }

    /** A new instance of a part of the kernel; closed with this. */
    CalcPart part(int number, NestedImages images) {
        GeneratedCode code = parts.get(number);
        return code.instantiate(
                CalcPart.class,
                new Class<?>[] {KernelConstants.class, NestedImages.class},
                own(code.constants(allocator)),
                images);
    }

    /** A type that the kernel names by its number. */
    public DataType type(int index) {
        return types.get(index);
    }

    public boolean asBoolean(int index) {
        return (Boolean) literals.get(index).value();
    }

    public int asInt(int index) {
        return ((Long) literals.get(index).value()).intValue();
    }

    public long asLong(int index) {
        return (Long) literals.get(index).value();
    }

    public float asFloat(int index) {
        return ((Double) literals.get(index).value()).floatValue();
    }

    public double asDouble(int index) {
        return (Double) literals.get(index).value();
    }

    /** The high half of a NUMERIC's unscaled value. */
    public long numericHigh(int index) {
        return unscaled(index).shiftRight(64).longValue();
    }

    /** The low half of a NUMERIC's unscaled value; all of it when that fits. */
    public long numericLow(int index) {
        return unscaled(index).longValue();
    }

    private BigInteger unscaled(int index) {
        return ((BigDecimal) literals.get(index).value()).unscaledValue();
    }

    public long address(int index) {
        return addresses[index];
    }

    public int length(int index) {
        return lengths[index];
    }

    /** Integers from an index up to another; or texts, each by its address and length. */
    public long[] members(int from, int to) {
        boolean texts = literals.get(from).value() instanceof String;
        long[] members = new long[texts ? 2 * (to - from) : to - from];
        for (int i = from; i < to; i++) {
            if (texts) {
                members[2 * (i - from)] = addresses[i];
                members[2 * (i - from) + 1] = lengths[i];
            } else {
                members[i - from] = asLong(i);
            }
        }
        return members;
    }

    public int months(int index) {
        return interval(index).months();
    }

    public int days(int index) {
        return interval(index).days();
    }

    public long micros(int index) {
        return interval(index).micros();
    }

    private IntervalValue interval(int index) {
        return (IntervalValue) literals.get(index).value();
    }

    public long uuidHigh(int index) {
        return ((UUID) literals.get(index).value()).getMostSignificantBits();
    }

    public long uuidLow(int index) {
        return ((UUID) literals.get(index).value()).getLeastSignificantBits();
    }

    @Override
    public void close() {
        owned.close();
    }
}

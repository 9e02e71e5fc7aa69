package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateLayout.StateSlot;

import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.number.BignumSums;
import dev.millrace.engine.aggregate.number.DecimalResults;
import dev.millrace.engine.aggregate.number.Doubles;
import dev.millrace.engine.aggregate.number.Extremes;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.engine.state.ByteSlots;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.engine.state.WordValues;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumBytes;
import dev.millrace.number.BignumFunctions;
import dev.millrace.number.Quotient;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.AggregateState;
import dev.millrace.plan.node.AggregateState.Kind;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/** Computes results from states, a call at a time over many groups. */
final class Results {
    private static final long DAY_MICROS = 86_400_000_000L;

    private final AggregateLayout layout;
    private final BufferAllocator allocator;

    Results(AggregateLayout layout, BufferAllocator allocator) {
        this.layout = layout;
        this.allocator = allocator;
    }

    /**
     * The results of a call that is computed from states.
     *
     * @param groups entries, or the pretended beginnings of entries whose states are a copy
     */
    FieldVector vector(AggregateCall call, Field field, long[] groups, int count) {
        List<StateSlot> slots = AggregateState.of(call, layout.arguments(), layout.retractions()).stream()
                .map(layout::slot)
                .toList();
        int counted = slots.get(0).offset();
        boolean isExtreme = slots.size() > 1 && slots.get(1).isExtreme();
        if (field.type().kind() == DataType.Kind.BIGNUM && !isExtreme) {
            return BignumResults.vector(call, slots, field, groups, count, allocator);
        }
        boolean isBytes = isExtreme && slots.get(1).isBytes();
        FieldVector vector = isBytes
                ? text(slots.get(1).offset(), field, groups, count)
                : Vectors.allocate(field, count, 0, allocator);
        try {
            long validity = vector.getValidityBufferAddress();
            Vectors.setBits(validity, count);
            if (call.nullable()) {
                for (int i = 0; i < count; i++) {
                    if (Memory.getLong(groups[i] + counted) <= 0) {
                        Memory.clearBit(validity, i);
                    }
                }
            }
            if (Variance.isSample(call.function())) {
                Variance.clearSingles(counted, groups, count, vector);
            }
            if (!isBytes) {
                fill(call, field.type(), slots, groups, count, vector.getDataBufferAddress());
            }
            Vectors.finish(vector, count);
            return vector;
        } catch (RuntimeException | Error e) {
            vector.close();
            throw e;
        }
    }

    private static void fill(
            AggregateCall call, DataType type, List<StateSlot> slots, long[] groups, int count, long data) {
        int counted = slots.get(0).offset();
        switch (call.function()) {
            case COUNT -> WordValues.copyOut(DataType.BIGINT, groups, counted, count, data);
            case SUM -> sums(slots.get(1), type, groups, count, data);
            case AVG -> averages(slots.get(1), counted, type, groups, count, data);
            case VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP -> {
                for (int i = 0; i < count; i++) {
                    Variance.write(call.function(), slots, type, groups[i], data, i);
                }
            }
            case MIN, MAX -> extremes(slots.get(1), groups, count, data);
            case BOOL_AND, BOOL_OR -> {
                boolean and = call.function() == AggregateCall.Function.BOOL_AND;
                Memory.fill(data, (count + 7) >>> 3, (byte) 0);
                for (int i = 0; i < count; i++) {
                    long trues = Memory.getLong(groups[i] + slots.get(1).offset());
                    if (and ? trues == Memory.getLong(groups[i] + counted) : trues > 0) {
                        Memory.setBit(data, i);
                    }
                }
            }
            case FIRST_VALUE,
                    LAST_VALUE,
                    STRING_AGG,
                    ARRAY_AGG,
                    PERCENTILE_CONT,
                    PERCENTILE_DISC,
                    APPROX_COUNT_DISTINCT,
                    USER -> throw new IllegalArgumentException(call + " is not computed from states");
        }
    }

    private static void sums(StateSlot slot, DataType type, long[] groups, int count, long data) {
        int offset = slot.offset();
        switch (slot.state().kind()) {
            case SUM_LONG -> WordValues.copyOut(DataType.BIGINT, groups, offset, count, data);
            case SUM_WIDE -> {
                for (int i = 0; i < count; i++) {
                    long low = Memory.getLong(groups[i] + offset);
                    long high = Memory.getLong(groups[i] + offset + 8);
                    if (high != low >> 63) {
                        DecimalResults.check(low, high);
                    }
                    Memory.putLong(data + 16L * i, low);
                    Memory.putLong(data + 16L * i + 8, high);
                }
            }
            case SUM_CARRIED -> {
                for (int i = 0; i < count; i++) {
                    DecimalResults.write(Wide.carried(groups[i] + offset), data + 16L * i);
                }
            }
            case SUM_DOUBLE, SUM_DOUBLE_RETRACTABLE -> {
                for (int i = 0; i < count; i++) {
                    putDouble(type, data, i, doubleSum(slot, groups[i]));
                }
            }
            case SUM_INTERVAL -> {
                for (int i = 0; i < count; i++) {
                    long sum = groups[i] + offset;
                    putInterval(data + 16L * i, Memory.getLong(sum), Memory.getLong(sum + 8), micros(sum));
                }
            }
            default -> throw new IllegalArgumentException("no sum: " + slot);
        }
    }

    static double doubleSum(StateSlot slot, long group) {
        long sum = group + slot.offset();
        return slot.state().kind() == Kind.SUM_DOUBLE ? Doubles.value(sum) : Doubles.retractableValue(sum);
    }

    static void putDouble(DataType type, long data, int index, double value) {
        if (type.kind() == DataType.Kind.REAL) {
            Memory.putFloat(data + 4L * index, (float) value);
        } else {
            Memory.putDouble(data + 8L * index, value);
        }
    }

    private static void putInterval(long at, long months, long days, long micros) {
        if (months != (int) months || days != (int) days || Math.abs(micros) > Long.MAX_VALUE / 1_000) {
            throw MillraceException.user(SqlState.DATETIME_FIELD_OVERFLOW, "interval out of range");
        }
        Memory.putInt(at, (int) months);
        Memory.putInt(at + 4, (int) days);
        Memory.putLong(at + 8, micros * 1_000);
    }

    /** Of a sum of intervals; where that is too much, as much as is too much for an interval. */
    private static long micros(long sum) {
        long low = Memory.getLong(sum + 16);
        long high = Memory.getLong(sum + 24);
        return high == low >> 63 ? low : high < 0 ? -Long.MAX_VALUE : Long.MAX_VALUE;
    }

    private static void averages(StateSlot slot, int counted, DataType type, long[] groups, int count, long data) {
        int offset = slot.offset();
        for (int i = 0; i < count; i++) {
            long n = Memory.getLong(groups[i] + counted);
            if (n <= 0) {
                continue;
            }
            long sum = groups[i] + offset;
            switch (slot.state().kind()) {
                case SUM_LONG -> {
                    long low = Memory.getLong(sum);
                    DecimalResults.divide(low, low >> 63, n, type.scale(), data + 16L * i);
                }
                case SUM_WIDE ->
                    DecimalResults.divide(
                            Memory.getLong(sum),
                            Memory.getLong(sum + 8),
                            n,
                            type.scale() - slot.argumentType().scale(),
                            data + 16L * i);
                case SUM_CARRIED -> {
                    int digits = type.scale() - slot.argumentType().scale();
                    if (Memory.getLong(sum + 16) == 0) {
                        DecimalResults.divide(Memory.getLong(sum), Memory.getLong(sum + 8), n, digits, data + 16L * i);
                    } else {
                        DecimalResults.divide(Wide.carried(sum), n, digits, data + 16L * i);
                    }
                }
                case SUM_DOUBLE, SUM_DOUBLE_RETRACTABLE -> putDouble(type, data, i, doubleSum(slot, groups[i]) / n);
                case SUM_INTERVAL -> averageInterval(sum, n, data + 16L * i);
                default -> throw new IllegalArgumentException("no sum: " + slot);
            }
        }
    }

    /** As PostgreSQL divides an interval: fractions of months spill into days of 30 a month, those of days into time. */
    private static void averageInterval(long sum, long n, long at) {
        BigDecimal count = BigDecimal.valueOf(n);
        BigDecimal[] months = BigDecimal.valueOf(Memory.getLong(sum)).divideAndRemainder(count);
        BigDecimal allDays =
                BigDecimal.valueOf(Memory.getLong(sum + 8)).add(months[1].multiply(BigDecimal.valueOf(30)));
        BigDecimal[] days = allDays.divideAndRemainder(count);
        BigDecimal micros = new BigDecimal(wide(sum + 16)).add(days[1].multiply(BigDecimal.valueOf(DAY_MICROS)));
        putInterval(
                at,
                months[0].longValue(),
                days[0].longValue(),
                micros.divide(count, 0, java.math.RoundingMode.HALF_EVEN).longValueExact());
    }

    private static void extremes(StateSlot slot, long[] groups, int count, long data) {
        int offset = slot.offset();
        DataType type = slot.argumentType();
        if (SlotKind.of(type) == SlotKind.WIDE) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(data + 16L * i, Memory.getLong(groups[i] + offset));
                Memory.putLong(data + 16L * i + 8, Memory.getLong(groups[i] + offset + 8));
            }
        } else if (type.kind() == DataType.Kind.DOUBLE || type.kind() == DataType.Kind.REAL) {
            for (int i = 0; i < count; i++) {
                putDouble(type, data, i, Doubles.fromOrdered(Memory.getLong(groups[i] + offset)));
            }
        } else {
            WordValues.copyOut(type, groups, offset, count, data);
        }
    }

    private FieldVector text(int offset, Field field, long[] groups, int count) {
        long bytes = 0;
        for (int i = 0; i < count; i++) {
            bytes += Extremes.isAbsent(groups[i] + offset) ? 0 : ByteSlots.length(groups[i] + offset);
        }
        FieldVector vector = Vectors.allocate(field, count, bytes, allocator);
        long data = vector.getDataBufferAddress();
        long offsets = vector.getOffsetBufferAddress();
        int at = 0;
        for (int i = 0; i < count; i++) {
            long slot = groups[i] + offset;
            int length = Extremes.isAbsent(slot) ? 0 : ByteSlots.length(slot);
            Memory.copy(ByteSlots.address(slot), data + at, length);
            at += length;
            Memory.putInt(offsets + 4L * i + 4, at);
        }
        return vector;
    }

    /** The byte strings of a state, none of them NULL. */
    FieldVector bytes(int offset, Field field, long[] groups, int count) {
        FieldVector vector = text(offset, field, groups, count);
        Vectors.setAllValid(vector, count);
        Vectors.finish(vector, count);
        return vector;
    }

    /** A sum of 128 bits as an integer. */
    static BigInteger wide(long sum) {
        return Wide.toBigInteger(Memory.getLong(sum), Memory.getLong(sum + 8));
    }

    /** Sums, averages and variances as numbers of any size, from the states of exact numbers. */
    private static final class BignumResults {
        private BignumResults() {}

        /** @param groups entries, or the pretended beginnings of entries whose states are a copy */
        static FieldVector vector(
                AggregateCall call,
                List<StateSlot> slots,
                Field field,
                long[] groups,
                int count,
                BufferAllocator allocator) {
            FieldVector vector = Vectors.allocate(field, count, 16L * count, allocator);
            try {
                int least = Variance.isSample(call.function()) ? 2 : 1;
                int end = 0;
                for (int i = 0; i < count; i++) {
                    long rows = Memory.getLong(groups[i] + slots.get(0).offset());
                    if (rows >= least) {
                        end += write((BaseVariableWidthVector) vector, end, call.function(), slots, groups[i], rows);
                        Memory.setBit(vector.getValidityBufferAddress(), i);
                    }
                    Memory.putInt(vector.getOffsetBufferAddress() + 4L * i + 4, end);
                }
                Vectors.finish(vector, count);
                return vector;
            } catch (RuntimeException | Error e) {
                vector.close();
                throw e;
            }
        }

        /** Writes a result behind those before it; an average of what fits 64 bits without an object. */
        private static int write(
                BaseVariableWidthVector vector,
                int end,
                Function function,
                List<StateSlot> slots,
                long group,
                long rows) {
            if (function == Function.AVG) {
                Vectors.growData(vector, end, end + (long) BignumBytes.MOST_FIXED_BYTES);
                StateSlot sum = slots.get(1);
                int scale = sum.argumentType().scale();
                int length = Quotient.write(vector.getDataBufferAddress() + end, fixed(sum, group), scale, rows, 0);
                if (length > 0) {
                    return length;
                }
            }
            Bignum result = result(function, slots, group, rows);
            Vectors.growData(vector, end, end + (long) result.mostBytes());
            return result.write(vector.getDataBufferAddress() + end);
        }

        /** A sum without its point, if it is kept as a number that fits 64 bits. */
        private static long fixed(StateSlot slot, long group) {
            long low = Memory.getLong(group + slot.offset());
            return switch (slot.state().kind()) {
                case SUM_LONG -> low;
                case SUM_WIDE -> low >> 63 == Memory.getLong(group + slot.offset() + 8) ? low : BignumBytes.UNFIT;
                default -> BignumBytes.UNFIT;
            };
        }

        private static Bignum result(Function function, List<StateSlot> slots, long group, long rows) {
            Bignum sum = sum(slots.get(1), group);
            return switch (function) {
                case SUM -> sum;
                case AVG -> sum.divide(Bignum.of(rows));
                case VAR_POP, VAR_SAMP, STDDEV_POP, STDDEV_SAMP ->
                    BignumFunctions.variance(
                            rows,
                            sum,
                            squares(slots.get(2), group),
                            Variance.isSample(function),
                            Variance.isDeviation(function));
                default -> throw new IllegalArgumentException(function + " is no number of any size");
            };
        }

        private static Bignum sum(StateSlot slot, long group) {
            long at = group + slot.offset();
            int scale = slot.argumentType().scale();
            return switch (slot.state().kind()) {
                case SUM_LONG -> Bignum.of(Memory.getLong(at));
                case SUM_WIDE -> Bignum.of(new BigDecimal(wide(at), scale));
                case SUM_CARRIED -> Bignum.of(new BigDecimal(Wide.carried(at), scale));
                case SUM_BIGNUM -> BignumSums.value(at);
                default -> throw new IllegalArgumentException("no sum of exact numbers: " + slot);
            };
        }

        private static Bignum squares(StateSlot slot, long group) {
            long at = group + slot.offset();
            return switch (slot.state().kind()) {
                case SQUARES_WIDE ->
                    Bignum.of(new BigDecimal(
                            Wide.squares(at), 2 * slot.argumentType().scale()));
                case SQUARES_BIGNUM -> BignumSums.value(at);
                default -> throw new IllegalArgumentException("no squares of exact numbers: " + slot);
            };
        }
    }
}

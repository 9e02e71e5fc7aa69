package dev.millrace.engine.aggregate;

import static dev.millrace.engine.aggregate.AggregateLayout.StateSlot;

import dev.millrace.batch.Vectors;
import dev.millrace.engine.aggregate.number.BignumSums;
import dev.millrace.engine.aggregate.number.Wide;
import dev.millrace.memory.Memory;
import dev.millrace.number.Bignum;
import dev.millrace.number.BignumFunctions;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.type.Field;
import java.math.BigDecimal;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BaseVariableWidthVector;
import org.apache.arrow.vector.FieldVector;

/** Sums, averages and variances as numbers of any size, from the states of exact numbers. */
final class BignumResults {
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
                    Bignum result = result(call.function(), slots, groups[i], rows);
                    Vectors.growData((BaseVariableWidthVector) vector, end, end + (long) result.mostBytes());
                    end += result.write(vector.getDataBufferAddress() + end);
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
            case SUM_WIDE -> Bignum.of(new BigDecimal(Results.wide(at), scale));
            case SUM_CARRIED -> Bignum.of(new BigDecimal(Wide.carried(at), scale));
            case SUM_BIGNUM -> BignumSums.value(at);
            default -> throw new IllegalArgumentException("no sum of exact numbers: " + slot);
        };
    }

    private static Bignum squares(StateSlot slot, long group) {
        long at = group + slot.offset();
        return switch (slot.state().kind()) {
            case SQUARES_WIDE ->
                Bignum.of(
                        new BigDecimal(Wide.squares(at), 2 * slot.argumentType().scale()));
            case SQUARES_BIGNUM -> BignumSums.value(at);
            default -> throw new IllegalArgumentException("no squares of exact numbers: " + slot);
        };
    }
}

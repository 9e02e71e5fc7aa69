package dev.millrace.expressions.kernel;

import dev.millrace.batch.NestedImages;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.expressions.function.Text;
import java.util.ArrayList;
import java.util.List;

/** What generated kernels and the parts of them have in common: constants, memory, the batch's time and images. */
public abstract class KernelCode {
    /** Kernel's time, for {@code proctime()}: one per batch. */
    protected long nowMicros;

    /** The arrays and rows of the batch as bytes. */
    protected final NestedImages images;

    private final KernelConstants literals;
    private final List<CalcPart> parts = new ArrayList<>(0);

    /**
     * @param literals in the order the source numbers them
     * @param images the kernel's
     */
    KernelCode(KernelConstants literals, NestedImages images) {
        this.literals = literals;
        this.images = images;
    }

    /** A part of this code that is a class of its own, by its number. */
    protected final CalcPart part(int number) {
        CalcPart part = literals.part(number, images);
        parts.add(part);
        return part;
    }

    /** A result for one call of a text function. */
    protected final Text text() {
        return literals.own(new Text(literals.allocator()));
    }

    /** Closes a thing with the kernel. */
    protected final AutoCloseable own(AutoCloseable resource) {
        return literals.own(resource);
    }

    /** The time of a batch, also for all parts. */
    final void setNow(long micros) {
        nowMicros = micros;
        for (int i = 0; i < parts.size(); i++) {
            ((KernelCode) parts.get(i)).setNow(micros);
        }
    }

    /** Returns where a failure says that a value cannot be another type's; fails with all else, such as want of memory. */
    protected static void passOnUnlessOfValue(RuntimeException failure) {
        boolean ofValue = explained(failure) instanceof MillraceException known
                && known.fault() == MillraceException.Fault.USER
                && known.sqlState() != SqlState.FEATURE_NOT_SUPPORTED;
        if (!ofValue) {
            throw failure;
        }
    }

    static RuntimeException explained(RuntimeException failure) {
        if (!(failure instanceof ArithmeticException)) {
            return failure;
        }
        // Math.addExact and its kin, and the machine's division: the only throwers of this exception in kernels. Where
        // a
        // division fails often, HotSpot throws an exception without a message (OmitStackTraceInFastThrow).
        String message = failure.getMessage();
        if (message == null || message.contains("zero")) {
            return MillraceException.user(SqlState.DIVISION_BY_ZERO, "division by zero");
        }
        String type = message.startsWith("long") ? "bigint" : "integer";
        return MillraceException.user(SqlState.NUMERIC_VALUE_OUT_OF_RANGE, type + " out of range");
    }
}

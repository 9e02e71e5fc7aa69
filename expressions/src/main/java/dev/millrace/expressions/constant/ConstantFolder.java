package dev.millrace.expressions.constant;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.expressions.code.CalcProgram;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.expressions.kernel.OutputColumn;
import dev.millrace.expressions.user.UserCode;
import dev.millrace.interrupt.Interrupt;
import dev.millrace.memory.Memory;
import dev.millrace.memory.PooledAllocation;
import dev.millrace.number.Bignum;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Call;
import dev.millrace.plan.expression.Expression.Case;
import dev.millrace.plan.expression.Expression.Cast;
import dev.millrace.plan.expression.Expression.Column;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.plan.expression.Expression.Null;
import dev.millrace.plan.expression.IntervalValue;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import dev.millrace.type.Schema;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.complex.StructVector;

/** Evaluates expressions without columns, by the same generated code that runs over rows. Safe on any thread. */
public final class ConstantFolder {
    private static final long MOST_BYTES = 256L << 20;
    private static final BufferAllocator ALLOCATOR = PooledAllocation.newRoot(MOST_BYTES);
    private static final Set<String> DIFFERENT_EACH_TIME =
            Set.of("proctime", "now", "clock_timestamp", "random", "random_uuid", "sleep_seconds");
    private static final Schema NO_COLUMNS = new Schema(List.of());

    private ConstantFolder() {}

    /**
     * The value of an expression over no columns, as a literal or NULL of the expression's type.
     *
     * @throws dev.millrace.error.MillraceException what evaluating it throws, such as a division by zero
     */
    public static Expression evaluate(Expression expression) {
        if (expression instanceof Literal || expression instanceof Null) {
            return expression;
        }
        if (expression instanceof Cast cast) {
            Expression input = evaluate(cast.input());
            if (input instanceof Null) {
                return new Null(cast.type());
            }
            Optional<Literal> converted = LiteralCasts.cast((Literal) input, cast.type(), ALLOCATOR);
            if (converted.isPresent()) {
                return converted.get();
            }
        }
        CalcProgram program = new CalcProgram(NO_COLUMNS, Optional.empty(), List.of(expression));
        Field field = new Field("constant", expression.type(), true);
        try (CalcKernel kernel = program.instantiate(false, ALLOCATOR);
                Batch row = Batch.of(NO_COLUMNS, new FieldVector[0], 1);
                OutputColumn column = new OutputColumn(field, 1, 0, ALLOCATOR)) {
            kernel.begin(1, 0);
            kernel.project(row, new int[] {0}, 1, new OutputColumn[] {column});
            try (FieldVector vector = column.finish(1)) {
                return vector.isNull(0)
                        ? new Null(expression.type())
                        : new Literal(valueOf(vector, expression.type(), 0), expression.type());
            }
        } catch (CalcKernel.RowFailure failure) {
            throw failure.failure();
        }
    }

    /**
     * The expression with its constant parts evaluated, but for those that fail: whether they are ever reached only the
     * rows can tell.
     */
    public static Expression fold(Expression expression) {
        Set<Expression> constants = Collections.newSetFromMap(new IdentityHashMap<>());
        findConstants(expression, constants);
        return fold(expression, constants);
    }

    private static Expression fold(Expression expression, Set<Expression> constants) {
        Interrupt.checkCurrent();
        if (expression instanceof Column || expression instanceof Literal || expression instanceof Null) {
            return expression;
        }
        if (constants.contains(expression)) {
            try {
                return evaluate(expression);
            } catch (MillraceException e) {
                Interrupt.checkCurrent(); // that is no failure of the expression's
                return expression;
            }
        }
        if (expression instanceof Cast cast) {
            return new Cast(fold(cast.input(), constants), cast.type());
        }
        if (expression instanceof Case branches) {
            List<Case.Branch> folded = new ArrayList<>();
            for (Case.Branch branch : branches.branches()) {
                folded.add(new Case.Branch(fold(branch.condition(), constants), fold(branch.result(), constants)));
            }
            return new Case(folded, fold(branches.otherwise(), constants), branches.type(), branches.nullable());
        }
        Call call = (Call) expression;
        List<Expression> arguments = new ArrayList<>(call.arguments().size());
        for (Expression argument : call.arguments()) {
            arguments.add(fold(argument, constants));
        }
        return new Call(call.function(), arguments, call.type(), call.nullable());
    }

    /** Adds the parts that read no column and no clock, and wait for nothing; whether this is one. Each part is met once. */
    private static boolean findConstants(Expression expression, Set<Expression> constants) {
        Interrupt.checkCurrent();
        boolean constant = true;
        if (expression instanceof Cast cast) {
            constant = findConstants(cast.input(), constants);
        } else if (expression instanceof Case branches) {
            for (Case.Branch branch : branches.branches()) {
                constant &= findConstants(branch.condition(), constants);
                constant &= findConstants(branch.result(), constants);
            }
            constant &= findConstants(branches.otherwise(), constants);
        } else if (expression instanceof Call call) {
            constant = !DIFFERENT_EACH_TIME.contains(call.function())
                    && !call.function()
                            .startsWith(UserCode.PREFIX) // which may never come back: workers call it, for rows
                    && !call.function().contains(Expression.EACH_TIME);
            for (Expression argument : call.arguments()) {
                constant &= findConstants(argument, constants);
            }
        } else {
            constant = !(expression instanceof Column);
        }
        if (constant) {
            constants.add(expression);
        }
        return constant;
    }

    private static Object valueOf(FieldVector vector, DataType type, int row) {
        boolean nested = type.isNested();
        long data = nested ? 0 : vector.getDataBufferAddress();
        return switch (type.kind()) {
            case BOOLEAN -> Memory.getBit(data, row);
            case SMALLINT -> (long) Memory.getShort(data + 2L * row);
            case INTEGER, DATE -> (long) Memory.getInt(data + 4L * row);
            case BIGINT, TIME, TIMESTAMP, TIMESTAMPTZ -> Memory.getLong(data + 8L * row);
            case REAL -> (double) Memory.getFloat(data + 4L * row);
            case DOUBLE -> Memory.getDouble(data + 8L * row);
            case NUMERIC -> new BigDecimal(new BigInteger(bigEndian(data + 16L * row)), type.scale());
            case BIGNUM -> {
                int start = Memory.getInt(vector.getOffsetBufferAddress() + 4L * row);
                yield Bignum.at(data + start, Memory.getInt(vector.getOffsetBufferAddress() + 4L * row + 4) - start);
            }
            case TEXT, VARCHAR, CHAR, JSONB -> new String(bytesOf(vector, row), StandardCharsets.UTF_8);
            case BYTEA -> {
                List<Byte> bytes = new ArrayList<>();
                for (byte b : bytesOf(vector, row)) {
                    bytes.add(b);
                }
                yield bytes;
            }
            case INTERVAL -> {
                long at = data + 16L * row;
                yield new IntervalValue(Memory.getInt(at), Memory.getInt(at + 4), Memory.getLong(at + 8) / 1000);
            }
            case UUID -> {
                long at = data + 16L * row;
                yield new UUID(Long.reverseBytes(Memory.getLong(at)), Long.reverseBytes(Memory.getLong(at + 8)));
            }
            case ARRAY -> {
                ListVector list = (ListVector) vector;
                List<Object> values = new ArrayList<>();
                Interrupt interrupt = Interrupt.current();
                for (int i = list.getElementStartIndex(row); i < list.getElementEndIndex(row); i++) {
                    if ((i & 1023) == 0) {
                        interrupt.check();
                    }
                    values.add(element(list.getDataVector(), type.element(), i));
                }
                yield values;
            }
            case ROW -> {
                List<Object> values = new ArrayList<>();
                for (int i = 0; i < type.fields().size(); i++) {
                    FieldVector field = (FieldVector) ((StructVector) vector).getChildByOrdinal(i);
                    values.add(element(field, type.fields().get(i).type(), row));
                }
                yield values;
            }
            case NULL -> throw new IllegalArgumentException("a constant of type " + type);
        };
    }

    /** An empty Optional for NULL. */
    private static Object element(FieldVector vector, DataType type, int row) {
        return vector.isNull(row) ? Optional.empty() : valueOf(vector, type, row);
    }

    private static byte[] bigEndian(long data) {
        byte[] bytes = new byte[16];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = Memory.getByte(data + 15 - i);
        }
        return bytes;
    }

    private static byte[] bytesOf(FieldVector vector, int row) {
        int start = Memory.getInt(vector.getOffsetBufferAddress() + 4L * row);
        byte[] bytes = new byte[Memory.getInt(vector.getOffsetBufferAddress() + 4L * row + 4) - start];
        Memory.copyOut(vector.getDataBufferAddress() + start, bytes, 0, bytes.length);
        return bytes;
    }
}

package dev.millrace.engine.code;

import dev.millrace.batch.Batch;
import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A filter and projections as code, in two variants: one for batches without NULLs in the columns it reads, without any
 * trace of NULL logic where the expressions do not make NULLs themselves, and one for all batches. Immutable but for
 * what it remembers of its work; safe on any thread.
 */
public final class CalcProgram {
    private static final String PACKAGE = CalcProgram.class.getPackageName() + ".generated";
    private static final String CLASS = "Calc";

    private final Schema input;
    private final Optional<Expression> condition;
    private final List<Expression> projections;
    private final int[] nullableColumns;

    /** @param projections what is to be computed; plain columns need no code and are better left out */
    public CalcProgram(Schema input, Optional<Expression> condition, List<Expression> projections) {
        this.input = input;
        this.condition = condition;
        this.projections = List.copyOf(projections);
        SortedSet<Integer> used = new TreeSet<>();
        condition.ifPresent(expression -> Expressions.columns(expression, used));
        projections.forEach(expression -> Expressions.columns(expression, used));
        this.nullableColumns = used.stream()
                .mapToInt(Integer::intValue)
                .filter(column -> input.field(column).nullable())
                .toArray();
    }

    /** Whether there is anything to run. */
    public boolean isEmpty() {
        return condition.isEmpty() && projections.isEmpty();
    }

    /** Whether something in it is computed of constants alone. What fails there fails for every row, so for none by name. */
    public boolean hasConstantCalls() {
        return condition.stream().anyMatch(Expressions::hasConstantCall)
                || projections.stream().anyMatch(Expressions::hasConstantCall);
    }

    /** Whether a batch needs the variant with NULLs. */
    public boolean hasNulls(Batch batch) {
        for (int column : nullableColumns) {
            if (batch.hasNulls(column)) {
                return true;
            }
        }
        return false;
    }

    /** The source of a variant. */
    public String source(boolean nulls) {
        return generate(nulls).source();
    }

    /** A kernel of a variant, which the caller closes. Its class is shared with all programs of the same source. */
    public CalcKernel instantiate(boolean nulls, BufferAllocator allocator) {
        Compiled compiled = compiled(nulls);
        Literals literals = new Literals(allocator, compiled.literals(), compiled.types());
        try {
            return compiled.type().getConstructor(Literals.class).newInstance(literals);
        } catch (InvocationTargetException e) {
            literals.close();
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure; // a constant pattern or format that is none
            }
            throw MillraceException.internal("a kernel could not be made", e.getCause());
        } catch (ReflectiveOperationException e) {
            literals.close();
            throw MillraceException.internal("a kernel could not be made", e);
        }
    }

    private record Compiled(Class<? extends CalcKernel> type, List<Literal> literals, List<DataType> types) {}

    private Compiled compiled(boolean nulls) {
        Generated generated = generate(nulls);
        return new Compiled(
                ClassCompiler.compile(PACKAGE + "." + CLASS, generated.source(), CalcKernel.class),
                generated.literals(),
                generated.types());
    }

    private record Generated(String source, List<Literal> literals, List<DataType> types) {}

    private Generated generate(boolean nulls) {
        KernelSource kernel = new KernelSource();
        new CalcCompiler(kernel, input, nulls).compile(condition, projections);
        return new Generated(kernel.toSource(PACKAGE, CLASS), kernel.literals(), kernel.types());
    }
}

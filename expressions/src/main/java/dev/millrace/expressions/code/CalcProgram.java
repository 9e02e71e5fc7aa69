package dev.millrace.expressions.code;

import dev.millrace.batch.Batch;
import dev.millrace.batch.Closing;
import dev.millrace.expressions.kernel.CalcKernel;
import dev.millrace.expressions.kernel.DividedKernel;
import dev.millrace.expressions.kernel.GeneratedCode;
import dev.millrace.expressions.kernel.KernelConstants;
import dev.millrace.plan.expression.Expression;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.arrow.memory.BufferAllocator;

/**
 * A filter and projections as code, in two variants: one for batches without NULLs in the columns it reads, without any
 * trace of NULL logic where the expressions do not make NULLs themselves, and one for all batches. Immutable but for
 * what it remembers of its work; safe on any thread.
 */
public final class CalcProgram {
    private final CodeSize size;
    private final boolean selected;
    private final Schema input;
    private final Optional<Expression> condition;
    private final List<Expression> projections;
    private final List<CalcProgram> pieces; // none if one class has room for all
    private final int[] nullableColumns;

    /** @param projections what is to be computed; plain columns need no code and are better left out */
    public CalcProgram(Schema input, Optional<Expression> condition, List<Expression> projections) {
        this(input, condition, projections, CodeSize.USUAL);
    }

    /** A program of methods and classes of some size. */
    public CalcProgram(Schema input, Optional<Expression> condition, List<Expression> projections, CodeSize size) {
        this(input, condition, projections, size, condition.isPresent());
    }

    /** @param selected whether the projections are of selected rows only */
    private CalcProgram(
            Schema input,
            Optional<Expression> condition,
            List<Expression> projections,
            CodeSize size,
            boolean selected) {
        this.size = size;
        this.selected = selected;
        this.input = input;
        this.condition = condition;
        this.projections = List.copyOf(projections);
        this.pieces = pieces();
        SortedSet<Integer> used = new TreeSet<>();
        condition.ifPresent(expression -> ExpressionWalk.columns(expression, used));
        projections.forEach(expression -> ExpressionWalk.columns(expression, used));
        this.nullableColumns = used.stream()
                .mapToInt(Integer::intValue)
                .filter(column -> input.field(column).nullable())
                .toArray();
    }

    /** Programs of some projections each, the first with the condition. */
    private List<CalcProgram> pieces() {
        List<CalcProgram> all = new ArrayList<>();
        int from = 0;
        int nodes = 0;
        for (int i = 0; i < projections.size(); i++) {
            int more = LongExpressions.nodes(projections.get(i), size.methodNodes());
            if (i > from && (nodes + more > size.classNodes() || i - from == size.classProjections())) {
                all.add(piece(from, i));
                from = i;
                nodes = 0;
            }
            nodes += more;
        }
        if (!all.isEmpty()) {
            all.add(piece(from, projections.size()));
        }
        return all;
    }

    private CalcProgram piece(int from, int to) {
        return new CalcProgram(
                input, from == 0 ? condition : Optional.empty(), projections.subList(from, to), size, selected);
    }

    /** Whether there is anything to run. */
    public boolean isEmpty() {
        return condition.isEmpty() && projections.isEmpty();
    }

    /** Whether something in it is computed of constants alone. What fails there fails for every row, so for none by name. */
    public boolean hasConstantCalls() {
        return condition.stream().anyMatch(ExpressionWalk::hasConstantCall)
                || projections.stream().anyMatch(ExpressionWalk::hasConstantCall);
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

    /** The source of a variant, with those of all classes it is divided into. */
    public String source(boolean nulls) {
        return pieces.isEmpty()
                ? generate(nulls).sources()
                : pieces.stream().map(piece -> piece.source(nulls)).collect(Collectors.joining("\n"));
    }

    /** A kernel of a variant, which the caller closes. Its class is shared with all programs of the same source. */
    public CalcKernel instantiate(boolean nulls, BufferAllocator allocator) {
        if (!pieces.isEmpty()) {
            return divided(nulls, allocator);
        }
        GeneratedCode code = generate(nulls);
        KernelConstants literals = code.constants(allocator);
        try {
            return code.instantiate(CalcKernel.class, new Class<?>[] {KernelConstants.class}, literals);
        } catch (RuntimeException | Error e) {
            literals.close();
            throw e;
        }
    }

    private CalcKernel divided(boolean nulls, BufferAllocator allocator) {
        List<CalcKernel> kernels = new ArrayList<>();
        try {
            for (CalcProgram piece : pieces) {
                kernels.add(piece.instantiate(nulls, allocator));
            }
            KernelConstants none = new KernelConstants(allocator, List.of(), List.of(), List.of());
            return new DividedKernel(
                    none,
                    kernels,
                    pieces.stream().mapToInt(piece -> piece.projections.size()).toArray());
        } catch (RuntimeException | Error e) {
            Closing.all(kernels);
            throw e;
        }
    }

    private GeneratedCode generate(boolean nulls) {
        KernelSource kernel = new KernelSource();
        new CalcCompiler(kernel, input, nulls, size).compile(condition, projections, selected);
        return kernel.toKernel();
    }
}

package dev.millrace.expressions.kernel;

import dev.millrace.error.MillraceException;
import dev.millrace.plan.expression.Expression.Literal;
import dev.millrace.type.DataType;
import java.lang.reflect.InvocationTargetException;
import java.util.List;
import org.apache.arrow.memory.BufferAllocator;

/** The source of a class, what its constructor reads, and the parts of it that are classes of their own. Immutable. */
public record GeneratedCode(
        String className, String source, List<Literal> literals, List<DataType> types, List<GeneratedCode> parts) {
    public GeneratedCode {
        literals = List.copyOf(literals);
        types = List.copyOf(types);
        parts = List.copyOf(parts);
    }

    /** What an instance's constructor takes, which owns all memory of the instance. */
    public KernelConstants constants(BufferAllocator allocator) {
        return new KernelConstants(allocator, literals, types, parts);
    }

    /** A new instance, of a class shared with all of the same source. What fails leaves {@code constants} open. */
    public <T> T instantiate(Class<T> superType, Class<?>[] parameters, Object... arguments) {
        try {
            return ClassCompiler.compile(className, source, superType)
                    .getConstructor(parameters)
                    .newInstance(arguments);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof RuntimeException failure) {
                throw failure; // a constant pattern or format that is none
            }
            throw MillraceException.internal("a kernel could not be made", e);
        } catch (ReflectiveOperationException e) {
            throw MillraceException.internal("a kernel could not be made", e);
        }
    }

    /** All sources, this one's first. */
    public String sources() {
        StringBuilder all = new StringBuilder(source);
        parts.forEach(part -> all.append('\n').append(part.sources()));
        return all.toString();
    }
}

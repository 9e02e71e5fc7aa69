package dev.millrace.plan.function;

import dev.millrace.type.DataType;
import dev.millrace.type.DataType.Kind;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * One overload of a function.
 *
 * @param variadic whether the last parameter may repeat
 * @param strict whether the result is NULL as soon as an argument is, without calling the function
 */
public record Signature(String name, List<Parameter> parameters, boolean variadic, ResultRule result, boolean strict) {

    /**
     * What a place takes.
     *
     * @param kind the kind of type, or empty for any
     * @param same whether all such places have one type, the common one of the arguments
     * @param optional whether the argument may be left out; only at the end
     */
    public record Parameter(Optional<Kind> kind, boolean same, boolean optional) {}

    public Signature {
        parameters = List.copyOf(parameters);
    }

    /** Whether so many arguments can be passed. */
    public boolean takes(int arguments) {
        long required =
                parameters.stream().filter(parameter -> !parameter.optional()).count();
        return arguments >= required && (variadic || arguments <= parameters.size());
    }

    /** The parameter that argument {@code index} is passed to. */
    public Parameter parameter(int index) {
        return parameters.get(Math.min(index, parameters.size() - 1));
    }

    /** The kind a parameter's type name stands for; empty for {@code any} and {@code T}. */
    static Optional<Kind> accepts(String type) {
        return type.equals("any") || type.equals("T")
                ? Optional.empty()
                : Optional.of(Kind.valueOf(type.toUpperCase(Locale.ROOT)));
    }

    /** The result's type for arguments that were already cast to the parameters' types. */
    public DataType resultType(List<DataType> arguments) {
        return result.apply(arguments);
    }
}
